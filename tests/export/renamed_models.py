"""Small models whose names and categories a test chooses."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from random_models import random_cored
from small_models import room_model
from solah.data import Kind
from solah.model import Fusion, Goal, Model, Tree
from solah.model.attributes import discrete_attribute

DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMES = st.text(
    st.characters(exclude_characters=f"\0{DIRECTION_MARKS}", exclude_categories=["Cs"]), min_size=1
)
"""Names that every exit takes."""


def model_of_states(states, classes=("no", "yes")):
    """Make a tree over one attribute with these states, and one that is measured."""
    rng = np.random.default_rng(len(states))
    colour = discrete_attribute(
        "colour", Kind.CATEGORICAL, states, tuple(rng.dirichlet(np.ones(len(states))))
    )
    size = random_cored(np.random.default_rng(5), "size", Kind.CONTINUOUS)
    n_sets, n_leaves = size.n_focal_sets, len(states) * size.n_focal_sets
    n_nodes = 1 + len(states) + n_leaves
    split = [0] + [1] * len(states) + [-1] * n_leaves
    first = [1] + [1 + len(states) + i * n_sets for i in range(len(states))] + [0] * n_leaves
    tree = Tree(
        "y",
        (colour, size),
        np.array(split, np.int32),
        np.array(first, np.int32),
        np.ones(n_nodes),
        rng.dirichlet(np.ones(len(classes)), n_nodes),
    )
    return Model(Goal("y", classes), (colour, size), (tree,))


def renamed_room(names):
    """Give all texts of a small model other names."""
    goal, co2, door, opened, shut, no, yes = names
    plain = room_model()
    air = replace(plain.attributes[0], name=co2)
    gate = discrete_attribute(door, Kind.BINARY, (opened, shut), (0.25, 0.75))
    trees = [
        replace(tree, name=f"of {i}", inputs=(one,))
        for i, (tree, one) in enumerate(zip(plain.trees, (air, gate), strict=True))
    ]
    root = Fusion(f"{goal} of all", ("of 0", "of 1"), plain.root.bias)
    return Model(replace(plain.goal, name=goal, states=(no, yes)), (air, gate), (*trees, root))
