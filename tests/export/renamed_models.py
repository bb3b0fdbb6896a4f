"""Small models whose names and categories a test chooses."""

from dataclasses import replace

import numpy as np
from hostile_models import is_category
from hypothesis import strategies as st

from random_models import random_cored
from small_models import room_model
from solah.data import Kind
from solah.model import AdditiveNode, Branch, Model, Target, TermInput, TreeNode
from solah.model.features import discrete_feature

DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMES = st.text(
    st.characters(exclude_characters=f"\0{DIRECTION_MARKS}", exclude_categories=["Cs"]), min_size=1
)
"""Names that every exit takes."""
ROOM_NAMES = st.lists(NAMES, min_size=7, max_size=7, unique_by=str.casefold).filter(
    lambda names: all(map(is_category, names[3:5]))
)
"""The names of :func:`renamed_room`."""


def model_of_states(states, classes=("no", "yes")):
    """Make a tree over one feature with these states, and one that is measured."""
    rng = np.random.default_rng(len(states))
    colour = discrete_feature(
        "colour", Kind.CATEGORICAL, states, tuple(rng.dirichlet(np.ones(len(states))))
    )
    size = random_cored(np.random.default_rng(5), "size", Kind.CONTINUOUS)
    branches = [
        Branch(((0, (i,)), (1, (j,))), tuple(rng.dirichlet(np.ones(len(classes))).tolist()), 1.0)
        for i in range(len(states))
        for j in range(size.n_focal_sets)
    ]
    start = (1 / len(classes),) * len(classes)
    tree = TreeNode("y", (colour, size), tuple(branches), start)
    return Model(Target("y", classes), (colour, size), (tree,))


def renamed_room(names):
    """Give all texts of a small model other names."""
    target, co2, door, opened, shut, no, yes = names
    plain = room_model()
    air = replace(plain.features[0], name=co2)
    gate = discrete_feature(door, Kind.BINARY, (opened, shut), (0.25, 0.75))
    terms = tuple(
        replace(term, inputs=(TermInput.whole(one),))
        for term, one in zip(plain.terms, (air, gate), strict=True)
    )
    root = AdditiveNode(f"{target} of all", plain.root.baseline, terms)
    return Model(replace(plain.target, name=target, classes=(no, yes)), (air, gate), (root,))
