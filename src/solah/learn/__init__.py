"""Learning: rows in, a model out; no scikit-learn.

rows.py          what learning asks of rows: memory.py, passed.py (files, frames, clusters)
blocks.py        some rows as trees see them, described with words
passes.py        sums over blocks of rows

The additive model, in the order of its data:

recipe.py        every setting
sample.py        the rows that settle words and rules, and their folds
cuts.py          where the goal changes
vocabulary.py    the first words of attributes
terms.py         words of single attributes, and pairs
objective.py     the penalised logistic model, and its counterpart for numbers
interactions.py  pairs ranked by what is left unexplained
budget.py        the path from many rules to few
design.py        terms over the rows of a sample
additive.py      what is compared out of fold, and settled
assembly.py      rules with evidence, groups, a model; all_rows.py from passes, numbers.py in memory
learning.py      learn(rows, recipe): all of it

Trees, and trees on trees:

growth.py        LID3: how a tree grows from counts
trees.py         trees: grown side by side, joined, their leaves shrunk or refitted
levels.py        hierarchies: nodes trained level by level
grouping.py      attributes that depend on each other (Algorithm 1)
wiring.py        levels of clusters (Algorithm 2), and organising.py for both
fitness.py       hierarchies compared, genetic/ searched

domain.py        what the rows held: ranges, and cells that occurred together
online.py        one row more: a model moves towards labelled rows, as a device does
"""
