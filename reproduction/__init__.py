"""The tables of He and Zhu's paper, computed again and set beside the paper's own figures.

A program of its own, not part of the library: ``python -m reproduction -o results``.

published.py   the figures that the paper prints
data.py, sms.py  the labelled rows, and the keyword features of text messages
models.py, peers.py  the estimators: ours, and those they are compared with
cells.py       one computation: a model on one data set
cache.py       finished computations on disk; running those that are missing
scope.py       how much to compute
tables/        the results of cells as tables of plain values
statistics.py  wins, ranks and significance tests
findings.py    where the tables agree with the paper, in sentences
running.py     table names and a results folder -> one summary (a dict)
page.py        that summary as text, JSON and Markdown
"""
