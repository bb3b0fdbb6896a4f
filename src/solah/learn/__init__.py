"""Learning: rows in, a model out; no scikit-learn.

rows.py       what learning asks of rows: memory.py, passed.py (files, frames, clusters)
blocks.py     some rows as trees see them, described with words
passes.py     sums over blocks of rows
growth.py     LID3: how a tree grows from counts
trees.py      trees: grown side by side, joined, their leaves shrunk or refitted
levels.py     hierarchies: nodes trained level by level
evidence.py   the penalised logistic model on the branches of trees, and surrogate.py for many rows
fusion.py     trees whose evidence is added up
grouping.py   attributes that depend on each other (Algorithm 1)
wiring.py     levels of clusters (Algorithm 2), and organising.py for both
selection.py  settings chosen out of fold, fitness.py hierarchies compared, genetic/ searched
"""
