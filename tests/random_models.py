"""Random models of all shapes, and rows for them: for tests that hold for all of them."""

from dataclasses import replace

import numpy as np

from solah.data import Column, Kind, Table
from solah.model import Attribute, Fusion, Goal, MissingRule, Model, Tree
from solah.model.attributes import belief_attribute, belief_words, cored_attribute, parted_attribute

SHAPES = ("tree", "flat fusion", "nested fusions", "masses", "words", "over a fusion")
# Words with cores, pairs that share attributes with single words, and variances; the second has
# groups and rules for missing readings besides.
ADDITIVE_SHAPES = ("words and pairs", "groups")


def random_model(rng, shape, n_classes=2):
    """Make a model of one shape over six attributes of several kinds."""
    make = random_cored if shape in ADDITIVE_SHAPES else random_attribute
    attributes = [make(rng, f"x{i}", kind) for i, kind in enumerate(KINDS)]
    states = tuple(f"c{i}" for i in range(n_classes))
    prior = tuple(rng.dirichlet(np.full(n_classes, 3.0))) if has_fusion(shape) else ()
    goal = Goal("y", states, thresholds=random_thresholds(rng, n_classes), prior=prior)
    nodes = MAKERS[shape](rng, attributes, states)
    return Model(goal, tuple(attributes), nodes)


def random_number_model(rng, shape="groups"):
    """Make a model whose trees add up to a number."""
    attributes = [random_cored(rng, f"x{i}", kind) for i, kind in enumerate(KINDS)]
    return Model(Goal("power"), tuple(attributes), MAKERS[shape](rng, attributes, ("number",)))


def has_fusion(shape):
    return shape not in ("tree", "masses", "words")


KINDS = (
    Kind.CONTINUOUS,
    Kind.CONTINUOUS,
    Kind.CATEGORICAL,
    Kind.CONTINUOUS,
    Kind.ORDINAL,
    Kind.CONTINUOUS,
)


def random_cored(rng, name, kind):
    """Make an attribute whose words have cores, if it is continuous."""
    if kind is not Kind.CONTINUOUS:
        return random_attribute(rng, name, kind)
    n_words = int(rng.integers(1, 6))
    ends = np.cumsum(rng.uniform(0.2, 2.0, 2 * n_words - 2)) - 3.0
    lows, highs = [-np.inf, *ends[1::2].tolist()], [*ends[::2].tolist(), np.inf]
    # Now and then, a word applies fully at a single point.
    cores = [
        (low, low if np.isfinite([low, high]).all() and rng.random() < 0.3 else high)
        for low, high in zip(lows, highs, strict=True)
    ]
    words = ("lowest", "low", "medium", "high", "highest")[:n_words]
    low, high = (ends[0], ends[-1]) if n_words > 1 else (-1.0, 1.0)
    bare = cored_attribute(name, words, cores, (), float(low) - 0.5, float(high) + 0.5)
    ignorance = rng.dirichlet(np.ones(bare.n_focal_sets))
    return replace(bare, ignorance=tuple(ignorance.tolist()))


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
    scores = None if tree.scores is None else tree.scores.copy()
    for node in np.flatnonzero(tree.split >= 0).tolist():
        leaves = [child for child in tree.children(node) if tree.split[child] < 0]
        likeness = rng.choice([0.0, 0.5, 1.0])
        for place in range(1, len(leaves)):
            if rng.random() < likeness:
                like = rng.choice(leaves[:place])
                belief[leaves[place]] = belief[like]
                if scores is not None:
                    scores[leaves[place]] = scores[like]
    return replace(tree, belief=belief, scores=scores)


def without_first_class(model):
    """Let leaves believe nothing of the first class, which then has what rounding leaves."""
    nodes = (_without_first(one) if isinstance(one, Tree) else one for one in model.nodes)
    return replace(model, nodes=tuple(nodes))


def _without_first(tree):
    belief = tree.belief.copy()
    belief[tree.leaves, 0] = 0.0
    without = replace(tree, belief=belief / belief.sum(axis=1, keepdims=True), scores=None)
    if tree.scores is None:
        return without
    scores = np.where(tree.split[:, None] < 0, without.evidence, 0.0)
    return replace(without, scores=scores)


def random_fusion(rng, name, origins, n_classes):
    bias = rng.normal(0, 1, n_classes)
    if n_classes > 1:
        bias -= bias.mean()
    return Fusion(name, tuple(origins), tuple(bias.tolist()))


def with_scores(rng, tree):
    """Give a tree scores: its evidence, more or less of it."""
    weight = rng.uniform(0.2, 2.0)
    return replace(tree, scores=np.where(tree.split[:, None] < 0, weight * tree.evidence, 0.0))


def additive_tree(rng, name, inputs, n_classes, *, missing=False):
    """Make a tree of all words of its inputs, with a variance; unknown readings add nothing."""
    split, first_child, words = [-1], [0], [()]
    for depth, attribute in enumerate(inputs):
        for node in [n for n in range(len(split)) if len(words[n]) == depth]:
            split[node], first_child[node] = depth, len(split)
            for place in range(attribute.n_focal_sets):
                split.append(-1)
                first_child.append(0)
                word = attribute.set_words[place] if attribute.cores else place
                words.append((*words[node], word))
    n_nodes = len(split)
    scores, belief = np.zeros((n_nodes, n_classes)), np.empty((n_nodes, n_classes))
    of_words = {}
    for node in range(n_nodes):
        if words[node] not in of_words:
            drawn = rng.normal(0, 1, n_classes)
            drawn -= drawn.mean() if n_classes > 1 else 0.0
            share = rng.dirichlet(np.ones(n_classes)) if n_classes > 1 else rng.normal(0, 9, 1)
            of_words[words[node]] = drawn, share
        drawn, belief[node] = of_words[words[node]]
        scores[node] = drawn if split[node] < 0 else 0.0
    mean = _unknown_mean(inputs, split, first_child, scores)
    leaf = np.array(split) < 0
    scores[leaf] -= mean
    rule = None
    if missing and len(inputs) == 1:
        drawn = rng.normal(0, 1, n_classes)
        drawn -= drawn.mean() if n_classes > 1 else 0.0
        rule = MissingRule(
            float(rng.uniform(1, 9)), tuple(belief[0].tolist()), tuple(drawn.tolist())
        )
    return Tree(
        name,
        tuple(inputs),
        np.array(split, np.int32),
        np.array(first_child, np.int32),
        rng.uniform(0.1, 5.0, n_nodes),
        belief,
        scores,
        float(rng.uniform(0.05, 2.0)),
        rule,
    )


def _unknown_mean(inputs, split, first_child, scores):
    mean = scores.copy()
    for node in reversed(range(len(split))):
        if split[node] >= 0:
            first, masses = first_child[node], np.array(inputs[split[node]].ignorance)
            mean[node] = masses @ mean[first : first + len(masses)]
    return mean[0]


def _tree(rng, attributes, states):
    return (random_tree(rng, "y", attributes, len(states), max_nodes=60),)


def _flat(rng, attributes, states):
    n = len(states)
    grown = [random_tree(rng, f"z{i}", attributes[2 * i : 2 * i + 2], n) for i in range(3)]
    below = [with_scores(rng, tree) for tree in grown]
    return (*below, random_fusion(rng, "y", [tree.name for tree in below], n))


def _nested(rng, attributes, states):
    n = len(states)
    a, b, c, _ = _flat(rng, attributes, states)
    return (
        a,
        b,
        c,
        Fusion("f", ("z0", "z1")),
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
    grown = [random_tree(rng, f"z{i}", attributes[2 * i : 2 * i + 2], n) for i in range(2)]
    below = [with_scores(rng, tree) for tree in grown]
    fusion = random_fusion(rng, "f", ["z0", "z1"], n)
    heard = belief_words("f", states, 3)
    return (*below, fusion, random_tree(rng, "y", [*heard, *attributes[4:]], n, max_nodes=60))


def _pairs(rng, attributes, states):
    n = len(states)
    below = [additive_tree(rng, f"of {one.name}", [one], n) for one in attributes]
    for i, j in ((0, 1), (1, 2), (3, 4)):
        pair = [attributes[i], attributes[j]]
        below.append(additive_tree(rng, f"{pair[0].name} and {pair[1].name}", pair, n))
    return (*below, random_fusion(rng, "y", [tree.name for tree in below], n))


def _groups(rng, attributes, states):
    n = len(states)
    below = [
        additive_tree(rng, f"of {one.name}", [one], n, missing=place % 2 == 1)
        for place, one in enumerate(attributes)
    ]
    below.append(additive_tree(rng, "x0 and x1", attributes[:2], n))
    first = Fusion("first", ("of x0", "of x1", "x0 and x1"))
    second = Fusion("second", ("of x2", "of x3"))
    both = Fusion("both", ("first", "second"))
    return (
        *below,
        first,
        second,
        both,
        random_fusion(rng, "y", ["both", "of x4", "of x5"], n),
    )


MAKERS = dict(
    zip(
        (*SHAPES, *ADDITIVE_SHAPES),
        (_tree, _flat, _nested, _masses, _words, _over_fusion, _pairs, _groups),
        strict=True,
    )
)


def random_starts(rng, attribute):
    """Choose where an attribute is parted."""
    places = np.arange(1, len(attribute.words))
    return sorted(rng.choice(places, int(rng.integers(1, len(places) + 1)), replace=False).tolist())


def with_parted_pairs(rng, model):
    """Let trees of two inputs ask of measured ones only in which part they are."""
    n_goals = model.goal.size
    nodes = []
    for node in model.nodes:
        if isinstance(node, Fusion) or len(node.inputs) == 1:
            nodes.append(node)
            continue
        inputs = [
            parted_attribute(one, random_starts(rng, one)) if len(one.cores) > 1 else one
            for one in node.inputs
        ]
        nodes.append(additive_tree(rng, node.name, inputs, n_goals))
    return replace(model, nodes=tuple(nodes))


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


def as_table(model, rows):
    """Make a table of rows as numbers, with the states of attributes by name."""
    columns = []
    for attribute, values in zip(model.attributes, rows.T, strict=True):
        if attribute.is_coded:
            texts = [None if np.isnan(v) else attribute.states[int(v)] for v in values]
            columns.append(Column(attribute.name, np.array(texts, dtype=object)))
        else:
            columns.append(Column(attribute.name, values))
    return Table(tuple(columns), len(rows))


def csv_lines(model, rows, goal=None):
    """Write rows as lines of CSV, with a last column for the goal if it is given."""
    table = as_table(model, rows)
    columns = [*(column.values.tolist() for column in table.columns), *([goal] if goal else [])]
    names = [*table.names, *([model.goal.name] if goal else [])]
    lines = zip(*columns, strict=True)
    return [
        ",".join(names),
        *(",".join("" if c is None or c != c else str(c) for c in line) for line in lines),
    ]


def any_model(seed):
    """Make a model of any shape that the library makes, by the number that it is drawn with."""
    rng = np.random.default_rng(seed)
    shapes = (*SHAPES, *ADDITIVE_SHAPES, "number", "parted", "joined", "pinned")
    shape, n_classes = shapes[seed % len(shapes)], 2 + seed // len(shapes) % 3
    if shape == "number":
        return random_number_model(rng)
    if shape == "parted":
        return with_parted_pairs(rng, random_model(rng, "groups", n_classes))
    if shape in ("joined", "pinned"):
        model = random_model(rng, str(rng.choice((*SHAPES, *ADDITIVE_SHAPES))), n_classes)
        return join_leaves(rng, model) if shape == "joined" else with_pins(rng, model)
    return random_model(rng, shape, n_classes)


def with_pins(rng, model):
    """Pin some rules: all their leaves."""
    return replace(
        model,
        nodes=tuple(
            replace(
                node,
                pinned=frozenset(
                    leaf for leaf in node.leaves.tolist() if node.heads[leaf] % rng.integers(2, 4)
                ),
            )
            if isinstance(node, Tree)
            else node
            for node in model.nodes
        ),
    )
