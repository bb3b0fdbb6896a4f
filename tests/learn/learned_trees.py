"""Trees as learning grows them, which models have as branches."""

from unittest.mock import patch

from solah.learn.tree import Tree


def learned_trees(estimator, X, y):
    """Fit an estimator, and return its trees as tables of nodes."""
    trees, make = [], Tree.node

    def node(tree):
        trees.append(tree)
        return make(tree)

    with patch.object(Tree, "node", node):
        estimator.fit(X, y)
    return trees
