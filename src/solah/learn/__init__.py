"""Training: rows in, a model out; without scikit-learn.

rows.py          the interface of training rows, and blocks of rows; memory.py has rows in memory

The additive model, in the order of its data:

recipe.py        every setting
sample.py        the rows that select words and rules, and their folds
vocabulary.py    the first words of features, at quantiles and where the target changes
terms.py         words of single features, and grids for pairs
objective.py     the penalised logistic model and its counterpart for numbers; cone.py: constraints
design.py        terms over the rows of a sample, and the ranking of pairs
budget.py        the path from many rules to few
selection.py     choices that are compared on held-out rows
assembly.py      rules with weights, groups, a model; all_rows.py: from passes over all rows
lost.py          variances for missing values, and fits to missing devices
learning.py      learn(rows, recipe): all of it

Trees, and hierarchies of nodes:

tree.py          a tree, and how its branches are joined
growth.py        LID3: trees grown side by side from counts, their leaves shrunk or refitted
levels.py        hierarchies: nodes trained level by level
organisation.py  clusters of features (Algorithm 1), wired into levels (Algorithm 2)
fitness.py       the fitness of hierarchies; evolution.py searches for the best

domain.py        the training domain: ranges, and pairs of cells that occurred together
"""
