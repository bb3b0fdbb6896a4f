"""LID3 written down as the formulas stand, in floats and by recursion: the oracle for growth."""

import numpy as np


def masses(x, peaks):
    """Return the hat masses of one value on one feature's focal sets."""
    return np.array([np.interp(x, peaks, row) for row in np.eye(len(peaks))])


def entropy(distribution):
    p = distribution[distribution > 0]
    return -(p * np.log2(p)).sum()


def distribution(weights, y, n_classes):
    total = np.bincount(y, weights, n_classes)
    return total / total.sum()


def information_gain(branch, described, y, n_classes):
    """IG(B, x) = E(B) - EE(B, x)."""
    below = [branch * mass for mass in described.T]
    expected = sum(
        w.sum() / branch.sum() * entropy(distribution(w, y, n_classes))
        for w in below
        if w.sum() > 0
    )
    return entropy(distribution(branch, y, n_classes)) - expected


def lid3(branch, features, described, y, n_classes, max_depth):
    """Return a nested dict: a leaf's distribution and weight, or a split and its children."""
    if branch.sum() == 0:
        return {"weight": 0.0}
    belief = distribution(branch, y, n_classes)
    leaf = {"weight": branch.sum(), "belief": belief}
    if belief.max() >= 1 or not features or max_depth == 0:
        return leaf
    gains = {a: information_gain(branch, described[a], y, n_classes) for a in features}
    best = max(gains, key=lambda a: (round(gains[a], 9), -a))
    rest = [a for a in features if a != best]
    children = [
        lid3(branch * mass, rest, described, y, n_classes, max_depth - 1)
        for mass in described[best].T
    ]
    return leaf | {"split": best, "children": children}
