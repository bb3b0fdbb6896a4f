"""Random models of all shapes, and rows for them: for tests that hold for all of them."""

from dataclasses import replace

import numpy as np

from solah.data import Column, Kind, Table
from solah.learn.tree import Tree
from solah.model import (
    AdditiveNode,
    Feature,
    FeatureGroup,
    MissingRule,
    Model,
    Target,
    Term,
    TermInput,
)
from solah.model.features import belief_feature, belief_words, cored_feature

# Linguistic trees: one, trees above trees by masses and by words of belief, and one above a sum.
SHAPES = ("tree", "masses", "words", "over a sum")
# Terms on one feature and on two, in parts, with variances; the second has groups and rules for
# missing values besides.
ADDITIVE_SHAPES = ("words and pairs", "groups")
# Terms on what sums below believe.
STACKED_SHAPES = ("sums",)


def random_model(rng, shape, n_classes=2):
    """Make a model of one shape over six features of several kinds."""
    n_cored = {"tree": 0, "masses": 0, "words": 0, "over a sum": 4}.get(shape, len(KINDS))
    features = [
        (random_cored if i < n_cored else random_feature)(rng, f"x{i}", kind)
        for i, kind in enumerate(KINDS)
    ]
    states = tuple(f"c{i}" for i in range(n_classes))
    prior = tuple(rng.dirichlet(np.full(n_classes, 3.0))) if n_cored else ()
    target = Target("y", states, thresholds=random_thresholds(rng, n_classes), shares=prior)
    nodes = MAKERS[shape](rng, features, states)
    return Model(target, tuple(features), nodes)


def random_number_model(rng, shape="groups", link="identity"):
    """Make a model whose terms add up to a number, or to its logarithm."""
    features = [random_cored(rng, f"x{i}", kind) for i, kind in enumerate(KINDS)]
    return Model(
        Target("power", link=link), tuple(features), MAKERS[shape](rng, features, ("number",))
    )


KINDS = (
    Kind.CONTINUOUS,
    Kind.CONTINUOUS,
    Kind.CATEGORICAL,
    Kind.CONTINUOUS,
    Kind.ORDINAL,
    Kind.CONTINUOUS,
)


def random_cored(rng, name, kind):
    """Make a feature whose words have cores, if it is continuous."""
    if kind is not Kind.CONTINUOUS:
        return random_feature(rng, name, kind)
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
    bare = cored_feature(name, words, cores, (), float(low) - 0.5, float(high) + 0.5)
    mean_masses = rng.dirichlet(np.ones(bare.n_focal_sets))
    return replace(bare, mean_masses=tuple(mean_masses.tolist()))


def random_belief(rng, name):
    """Make words of belief with cores, at least 5% apart."""
    ends = 0.02 + np.cumsum(rng.uniform(0.05, 0.24, 4))
    cores = [(-np.inf, ends[0]), (ends[1], ends[2]), (ends[3], np.inf)]
    masses = tuple(rng.dirichlet(np.ones(4)).tolist())
    return cored_feature(name, ("unlikely", "open", "likely"), cores, masses, 0.0, 1.0)


def random_feature(rng, name, kind):
    if kind is Kind.CONTINUOUS:
        n_words = int(rng.integers(2, 4))
        peaks = np.cumsum(rng.uniform(0.2, 2.0, 2 * n_words - 1)) - 3.0
        low, high = peaks[0] - rng.uniform(0, 1), peaks[-1] + rng.uniform(0, 1)
        words = ("low", "medium", "high")[:n_words]
        mean_masses = rng.dirichlet(np.ones(len(peaks)))
        return Feature(
            name, kind, words, tuple(peaks), tuple(mean_masses), low=float(low), high=float(high)
        )
    states = ("a", "b", "c") if kind is Kind.CATEGORICAL else (1.0, 2.5, 7.0, 8.0)
    peaks = tuple(range(3)) if kind is Kind.CATEGORICAL else states
    mean_masses = rng.dirichlet(np.ones(len(states)))
    return Feature(
        name,
        kind,
        tuple(map(str, states)),
        tuple(map(float, peaks)),
        tuple(mean_masses),
        categories=states,
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
    ).node()


def with_features(node, features):
    """Let a node ask other features, by their names."""
    if isinstance(node, AdditiveNode):
        terms = []
        for term in node.terms:
            inputs = (replace(one, feature=features[one.name]) for one in term.inputs)
            terms.append(replace(term, inputs=tuple(inputs)))
        return replace(node, terms=tuple(terms))
    return replace(node, inputs=tuple(features.get(one.name, one) for one in node.inputs))


def map_trees(model, change):
    """Return a model with changed branches of its trees."""
    nodes = (
        replace(node, branches=tuple(change(branch) for branch in node.branches))
        if node in model.trees
        else node
        for node in model.nodes
    )
    return replace(model, nodes=tuple(nodes))


def without_first_class(model):
    """Let branches believe nothing of the first class, which then has what rounding leaves."""

    def change(branch):
        rest = np.array([0.0, *branch.belief[1:]])
        return replace(branch, belief=tuple((rest / rest.sum()).tolist()))

    return map_trees(model, change)


def random_parts(rng, feature):
    """Part the words of a feature: into runs, or into any groups where they have no order."""
    n_words = len(feature.words)
    if feature.is_ordered:
        starts = [0, *sorted({int(one) for one in rng.integers(1, n_words + 1, 2)} - {n_words})]
        ends = [*starts[1:], n_words]
        return tuple(tuple(range(a, b)) for a, b in zip(starts, ends, strict=True))
    numbers = rng.integers(0, 2, n_words).tolist()
    return tuple(
        tuple(word for word in range(n_words) if numbers[word] == number)
        for number in dict.fromkeys(numbers)
    )


def random_term(rng, features, n_classes, *, missing=False, parted=False):
    """Make a term with a variance; a missing value adds nothing, unless there is a rule for it."""
    inputs = tuple(
        TermInput(one, random_parts(rng, one)) if parted else TermInput.whole(one)
        for one in features
    )
    shape = tuple(len(one.parts) for one in inputs)
    weights = _centred(rng.normal(0, 1, (*shape, n_classes)))
    shares = (
        rng.dirichlet(np.ones(n_classes), shape) if n_classes > 1 else rng.normal(0, 9, (*shape, 1))
    )
    term = Term(
        inputs, weights, shares, rng.uniform(0.1, 5.0, shape), float(rng.uniform(0.05, 2.0))
    )
    mean = weights[np.ix_(*(one.part_of_set for one in inputs))]
    for one in inputs:
        # Not by BLAS, whose last bit depends on the processor: golden files have the model's hash.
        mean = sum(
            share * of_set for share, of_set in zip(one.asked.mean_masses, mean, strict=True)
        )
    term = replace(term, weights=weights - mean)
    if not missing:
        return term
    scores = _centred(rng.normal(0, 1, n_classes))
    belief = shares.reshape(-1, n_classes)[0]
    rule = MissingRule(float(rng.uniform(1, 9)), tuple(belief.tolist()), tuple(scores.tolist()))
    return replace(term, missing=rule)


def _centred(weights):
    return weights - weights.mean(axis=-1, keepdims=True) if weights.shape[-1] > 1 else weights


def random_sum(rng, name, terms, n_classes, groups=()):
    baseline = _centred(rng.normal(0, 1, n_classes))
    return AdditiveNode(name, tuple(baseline.tolist()), tuple(terms), tuple(groups))


def _tree(rng, features, states):
    return (random_tree(rng, "y", features, len(states), max_nodes=60),)


def _below(rng, features, states):
    n = len(states)
    return [random_tree(rng, f"z{i}", features[2 * i : 2 * i + 2], n) for i in range(2)]


def _masses(rng, features, states):
    below = _below(rng, features, states)
    heard = [belief_feature(tree.name, states, tree.start) for tree in below]
    inputs = [*heard, *features[4:]]
    return (*below, random_tree(rng, "y", inputs, len(states), max_nodes=60))


def _words(rng, features, states):
    below = _below(rng, features, states)
    heard = [word for tree in below for word in belief_words(tree.name, states, 3)]
    inputs = [*heard, *features[4:]]
    return (*below, random_tree(rng, "y", inputs, len(states), max_nodes=60))


def _over_sum(rng, features, states):
    n = len(states)
    terms = [random_term(rng, [one], n) for one in features[:4]]
    terms.append(random_term(rng, features[:2], n, parted=True))
    below = random_sum(rng, "s", terms, n)
    inputs = [*belief_words("s", states, 3), *features[4:]]
    return (below, random_tree(rng, "y", inputs, n, max_nodes=60))


def _pairs(rng, features, states):
    n = len(states)
    terms = [random_term(rng, [one], n) for one in features]
    for i, j in ((0, 1), (1, 2), (3, 4)):
        parted = bool(rng.random() < 0.5)
        terms.append(random_term(rng, [features[i], features[j]], n, parted=parted))
    return (random_sum(rng, "y", terms, n),)


def _groups(rng, features, states):
    n = len(states)
    terms = [
        random_term(rng, [one], n, missing=place % 2 == 1, parted=place == 2)
        for place, one in enumerate(features)
    ]
    terms.append(random_term(rng, features[:2], n))
    groups = FeatureGroup("first", (0, 1, 6)), FeatureGroup("second", (2, 3))
    return (random_sum(rng, "y", terms, n, groups),)


def _sums(rng, features, states):
    n = len(states)
    below, believed = [], []
    for name, own in (("s", features[:2]), ("t", features[2:4])):
        terms = [random_term(rng, [one], n) for one in own]
        below.append(random_sum(rng, name, [*terms, random_term(rng, own, n)], n))
        for place in [n - 1] if n < 3 else range(n):
            words = random_belief(rng, f"{name}({states[place]})")
            believed.append(replace(words, tree=name, place=place))
    terms = [random_term(rng, [one], n) for one in (*believed, *features[4:])]
    terms += [random_term(rng, [believed[0], one], n) for one in (believed[-1], features[4])]
    return (*below, random_sum(rng, "y", terms, n))


def _three_groups(rng, features, states):
    n = len(states)
    terms = [random_term(rng, [one], n) for one in features]
    groups = [FeatureGroup(f"z{i}", (2 * i, 2 * i + 1)) for i in range(3)]
    return (random_sum(rng, "y", terms, n, groups),)


MAKERS = {
    "tree": _tree,
    "masses": _masses,
    "words": _words,
    "over a sum": _over_sum,
    "words and pairs": _pairs,
    "groups": _groups,
    "sums": _sums,
    "three groups": _three_groups,  # all that networks need
}


def random_rows(rng, model, n_rows, missing=0.1):
    """Draw rows as numbers: inside the ranges, on peaks, beyond them, and unknown."""
    columns = []
    for feature in model.features:
        if feature.is_continuous:
            span = feature.high - feature.low
            column = rng.uniform(feature.low - 0.1 * span, feature.high + 0.1 * span, n_rows)
            on_peak = rng.random(n_rows) < 0.1
            column[on_peak] = rng.choice(feature.peaks, on_peak.sum())
        else:
            column = rng.choice(feature.peaks, n_rows)
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

    names = [feature.name for feature in model.features]
    return Coded(dict(zip(names, rows.T, strict=True)), len(rows))


def as_table(model, rows):
    """Make a table of rows as numbers, with the states of features by name."""
    columns = []
    for feature, values in zip(model.features, rows.T, strict=True):
        if feature.is_coded:
            texts = [None if np.isnan(v) else feature.categories[int(v)] for v in values]
            columns.append(Column(feature.name, np.array(texts, dtype=object)))
        else:
            columns.append(Column(feature.name, values))
    return Table(tuple(columns), len(rows))


def csv_lines(model, rows, target=None):
    """Write rows as lines of CSV, with a last column for the target if it is given."""
    table = as_table(model, rows)
    columns = [*(column.values.tolist() for column in table.columns), *([target] if target else [])]
    names = [*table.names, *([model.target.name] if target else [])]
    lines = zip(*columns, strict=True)
    return [
        ",".join(names),
        *(",".join("" if c is None or c != c else str(c) for c in line) for line in lines),
    ]


def any_model(seed):
    """Make a model of any shape that the library makes, by the number that it is drawn with."""
    rng = np.random.default_rng(seed)
    shapes = (*SHAPES, *ADDITIVE_SHAPES, "number", "pinned", *STACKED_SHAPES)
    shape, n_classes = shapes[seed % len(shapes)], 2 + seed // len(shapes) % 3
    if shape == "number":
        return random_number_model(rng)
    if shape == "pinned":
        shape = str(rng.choice((*SHAPES, *ADDITIVE_SHAPES)))
        return with_pins(rng, random_model(rng, shape, n_classes))
    return random_model(rng, shape, n_classes)


def with_pins(rng, model):
    """Pin some rules."""
    pinned = map_trees(model, lambda branch: replace(branch, is_pinned=bool(rng.random() < 0.3)))
    return pinned.with_terms(
        replace(
            term,
            pinned=frozenset(cell for cell in term.cells() if rng.random() < 0.3),
            missing=term.missing and replace(term.missing, is_pinned=bool(rng.random() < 0.5)),
        )
        for term in pinned.terms
    )
