"""Random models of all shapes, and rows for them: for tests that hold for all of them."""

from dataclasses import replace

import numpy as np

from solah.data import Kind
from solah.model import Attribute, Fusion, Goal, Model, Tree
from solah.model.attributes import belief_attribute, belief_words

SHAPES = ("tree", "flat fusion", "nested fusions", "masses", "words", "over a fusion")


def random_model(rng, shape, n_classes=2):
    """Make a model of one shape over six attributes of several kinds."""
    attributes = [random_attribute(rng, f"x{i}", kind) for i, kind in enumerate(KINDS)]
    states = tuple(f"c{i}" for i in range(n_classes))
    goal = Goal("y", states, thresholds=random_thresholds(rng, n_classes))
    nodes = MAKERS[shape](rng, attributes, states)
    return Model(goal, tuple(attributes), nodes)


KINDS = (
    Kind.CONTINUOUS,
    Kind.CONTINUOUS,
    Kind.CATEGORICAL,
    Kind.CONTINUOUS,
    Kind.ORDINAL,
    Kind.CONTINUOUS,
)


def random_attribute(rng, name, kind):
    if kind is Kind.CONTINUOUS:
        n_words = int(rng.integers(2, 4))
        peaks = np.cumsum(rng.uniform(0.2, 2.0, 2 * n_words - 1)) - 3.0
        low, high = peaks[0] - rng.uniform(0, 1), peaks[-1] + rng.uniform(0, 1)
        words = ("low", "medium", "high")[:n_words]
        ignorance = rng.dirichlet(np.ones(len(peaks)))
        return Attribute(
            name, kind, words, tuple(peaks), tuple(ignorance), low=float(low), high=float(high)
        )
    states = ("a", "b", "c") if kind is Kind.CATEGORICAL else (1.0, 2.5, 7.0, 8.0)
    peaks = tuple(range(3)) if kind is Kind.CATEGORICAL else states
    ignorance = rng.dirichlet(np.ones(len(states)))
    return Attribute(
        name,
        kind,
        tuple(map(str, states)),
        tuple(map(float, peaks)),
        tuple(ignorance),
        states=states,
    )


def random_thresholds(rng, n_classes):
    return tuple(rng.dirichlet(np.full(n_classes, 8.0))) if rng.random() < 0.5 else ()


def random_tree(rng, name, inputs, n_classes, max_nodes=25):
    """Grow a random tree that asks an input at most once on a branch."""
    split, first_child, asked = [-1], [0], [frozenset()]
    for node in range(max_nodes):
        if node >= len(split):
            break
        free = [a for a in range(len(inputs)) if a not in asked[node]]
        if not free or (node and rng.random() < 0.3):
            continue
        split[node] = a = int(rng.choice(free))
        first_child[node] = len(split)
        for _ in range(inputs[a].n_focal_sets):
            split.append(-1)
            first_child.append(0)
            asked.append(asked[node] | {a})
    n_nodes = len(split)
    return Tree(
        name,
        tuple(inputs),
        np.array(split, np.int32),
        np.array(first_child, np.int32),
        rng.uniform(0.1, 5.0, n_nodes),
        rng.dirichlet(np.ones(n_classes), n_nodes),
    )


def join_leaves(rng, model):
    """Let leaves of one node believe the same, now and then all of them: one rule, then."""
    nodes = (_with_joined(rng, one) if isinstance(one, Tree) else one for one in model.nodes)
    return replace(model, nodes=tuple(nodes))


def _with_joined(rng, tree):
    belief = tree.belief.copy()
    for node in np.flatnonzero(tree.split >= 0).tolist():
        leaves = [child for child in tree.children(node) if tree.split[child] < 0]
        likeness = rng.choice([0.0, 0.5, 1.0])
        for place in range(1, len(leaves)):
            if rng.random() < likeness:
                belief[leaves[place]] = belief[rng.choice(leaves[:place])]
    return replace(tree, belief=belief)


def without_first_class(model):
    """Let leaves believe nothing of the first class, which then has what rounding leaves."""
    nodes = (_without_first(one) if isinstance(one, Tree) else one for one in model.nodes)
    return replace(model, nodes=tuple(nodes))


def _without_first(tree):
    belief = tree.belief.copy()
    belief[tree.leaves, 0] = 0.0
    return replace(tree, belief=belief / belief.sum(axis=1, keepdims=True))


def random_fusion(rng, name, origins, n_classes):
    weights = rng.uniform(0.2, 2.0, len(origins))
    return Fusion(name, tuple(origins), tuple(weights), tuple(rng.normal(0, 1, n_classes)))


def _tree(rng, attributes, states):
    return (random_tree(rng, "y", attributes, len(states), max_nodes=60),)


def _flat(rng, attributes, states):
    n = len(states)
    below = [random_tree(rng, f"z{i}", attributes[2 * i : 2 * i + 2], n) for i in range(3)]
    return (*below, random_fusion(rng, "y", [tree.name for tree in below], n))


def _nested(rng, attributes, states):
    n = len(states)
    a, b, c, _ = _flat(rng, attributes, states)
    return (
        a,
        b,
        c,
        random_fusion(rng, "f", ["z0", "z1"], n),
        random_fusion(rng, "y", ["f", "z2"], n),
    )


def _masses(rng, attributes, states):
    n = len(states)
    below = [random_tree(rng, f"z{i}", attributes[2 * i : 2 * i + 2], n) for i in range(2)]
    heard = [belief_attribute(tree.name, states, tuple(tree.belief[0])) for tree in below]
    return (*below, random_tree(rng, "y", [*heard, *attributes[4:]], n, max_nodes=60))


def _words(rng, attributes, states):
    n = len(states)
    below = [random_tree(rng, f"z{i}", attributes[2 * i : 2 * i + 2], n) for i in range(2)]
    heard = [word for tree in below for word in belief_words(tree.name, states, 3)]
    return (*below, random_tree(rng, "y", [*heard, *attributes[4:]], n, max_nodes=60))


def _over_fusion(rng, attributes, states):
    n = len(states)
    below = [random_tree(rng, f"z{i}", attributes[2 * i : 2 * i + 2], n) for i in range(2)]
    fusion = random_fusion(rng, "f", ["z0", "z1"], n)
    heard = belief_words("f", states, 3)
    return (*below, fusion, random_tree(rng, "y", [*heard, *attributes[4:]], n, max_nodes=60))


MAKERS = dict(zip(SHAPES, (_tree, _flat, _nested, _masses, _words, _over_fusion), strict=True))


def random_rows(rng, model, n_rows, missing=0.1):
    """Draw rows as numbers: inside the ranges, on peaks, beyond them, and unknown."""
    columns = []
    for attribute in model.attributes:
        if attribute.is_continuous:
            span = attribute.high - attribute.low
            column = rng.uniform(attribute.low - 0.1 * span, attribute.high + 0.1 * span, n_rows)
            on_peak = rng.random(n_rows) < 0.1
            column[on_peak] = rng.choice(attribute.peaks, on_peak.sum())
        else:
            column = rng.choice(attribute.peaks, n_rows)
        column[rng.random(n_rows) < missing] = np.nan
        columns.append(column)
    return np.column_stack(columns)


def odd_rows(rng, model, n_rows):
    """Draw rows with unknown readings, extremes, infinities, and codes that are none."""
    rows = random_rows(rng, model, n_rows, missing=0.15)
    strange = rng.choice([np.inf, -np.inf, 1e30, -1e30, 1e-30, -0.0, 0.5, 7.0], rows.shape)
    return np.where(rng.random(rows.shape) < 0.05, strange, rows)


def coded(model, rows):
    """Put rows as numbers the way that models take them."""
    from solah.model.encode import Coded

    names = [attribute.name for attribute in model.attributes]
    return Coded(dict(zip(names, rows.T, strict=True)), len(rows))
