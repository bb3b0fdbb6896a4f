"""Learning: rows in, a model out; no scikit-learn.

rows.py          what learning asks of rows: memory.py, passed.py (files, frames, clusters)
blocks.py        some rows as trees see them, described with words
passes.py        sums over blocks of rows

The additive model, in the order of its data:

recipe.py        every setting
sample.py        the rows that select words and rules, and their folds
vocabulary.py    the first words of features, at quantiles and where the target changes
terms.py         words of single features, and pairs
objective.py     the penalised logistic model, and its counterpart for numbers; cone.py its limits
design.py        terms over the rows of a sample, and pairs ranked by what is left unexplained
budget.py        the path from many rules to few
selection.py     what is compared on held-out rows, and selected
assembly.py      rules with weights, groups, a model; all_rows.py from passes
learning.py      learn(rows, recipe): all of it

Trees, and trees on trees:

tree.py          a tree, and how its branches are joined
growth.py        LID3: trees grown side by side from counts, their leaves shrunk or refitted
levels.py        hierarchies: nodes trained level by level
organisation.py  clusters of features (Algorithm 1), wired into levels (Algorithm 2)
fitness.py       hierarchies compared; evolution.py searches for them

domain.py        what the rows held: ranges, and cells that occurred together
online.py        one row more: a model moves towards labelled rows, as a device does
"""
