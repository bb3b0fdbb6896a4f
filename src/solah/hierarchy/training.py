"""A wiring and described rows in, trained nodes out: bottom-up, level by level.

Every node has the goal as its target. What goes up is the whole distribution: the node above takes
it as masses on the goal's states, or describes it with words of belief. With cross-fitting, the
node above learns from what nodes believe of rows that they have not learnt from, as it will be in
use.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from solah.exceptions import ParameterError, TooManyCombinationsError, did_you_mean
from solah.hierarchy.dependence import dependence_of, relevance_of
from solah.hierarchy.folds import content_folds
from solah.hierarchy.nodes import EstimatorNode, TreeNode, estimator_features, reading_means
from solah.kernels.arrays import MASS_BITS, MASS_ONE, SPREAD, Described
from solah.kernels.choose import kernel
from solah.labels.describe import Description, describe_table
from solah.labels.drawing import (
    MANY_ROWS,
    digest_rows,
    draw_rows,
    keep_smallest,
    sample_bound,
)
from solah.labels.rows import LabelledRows, split_weights
from solah.model.attributes import belief_attribute, belief_words, flatten
from solah.model.structure import fresh_name
from solah.tree.growth import TreeSettings
from solah.tree.learn import learn_tree
from solah.tree.leaves import LeafSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.hierarchy.dependence import Dependence
    from solah.hierarchy.nodes import NodeModel
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.describe import LabelSettings
    from solah.model import Attribute, Goal, Tree
    from solah.model.structure import Hierarchy, HierarchyNode
    from solah.tree.goals import ClassFacts, ClassGoal

NODE_KINDS = ("tree", "cmac")
MAX_CMAC_CELLS = 400_000
_LARGE = 100_000

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What all nodes learn from: rows described with words, with their classes and weights.

    Where there are folds, what goes up of a row comes from a node that has not learnt its fold.
    Rows are drawn by their digests, which speak of columns that were left out, too.
    """

    described: Description
    goal: ClassGoal
    folds: Int64 | None = None
    digests: UInt64 | None = None

    @classmethod
    def prepare(
        cls, described: Description, goal: ClassGoal, cross_fit: int | None = None
    ) -> TrainingSet:
        """Put rows together; with ``cross_fit``, in so many folds."""
        if cross_fit is None:
            return cls(described, goal)
        return cls(described, goal, content_folds(described.labels, goal.codes, cross_fit))

    def draw(self, n_rows: int | None = None) -> TrainingSet:
        """Draw different rows by what they say; each has the weight of all that say the same.

        Without a number, about ``SAMPLE_ROWS`` are drawn.
        """
        digests = self._digests()
        weights = self.goal.weights
        if n_rows is None:
            bound = sample_bound(keep_smallest(digests[weights > 0]))
            weights = np.where(digests <= np.uint64(bound), weights, 0)
            n_rows = len(weights)
        rows, weights, drawn = draw_rows(digests, weights, n_rows)
        described = replace(
            self.described, table=self.table.take(rows), labels=self.described.labels[rows]
        )
        return TrainingSet(described, self.goal.take(rows, weights), digests=drawn)

    def _digests(self) -> UInt64:
        if self.digests is not None:
            return self.digests
        return digest_rows(self.table, self.goal.digests)

    def only(self, names: Sequence[str]) -> TrainingSet:
        """Return the same rows with some of their columns."""
        places = [self.described.places[name] for name in names]
        described = Description(
            self.table.select(names),
            tuple(self.attributes[j] for j in places),
            np.ascontiguousarray(self.described.labels[:, places]),
        )
        return TrainingSet(described, self.goal, digests=self._digests() if self.is_many else None)

    def relevance(self, *, bias_corrected: bool = False, n_jobs: int | None = None) -> Float:
        """Measure how far attributes depend on the goal."""
        return self._measured(relevance_of, bias_corrected, n_jobs)

    def _measured(self, measure: Callable[..., _T], bias_corrected: bool, n_jobs: int | None) -> _T:
        """Measure dependence, with weights where rows have some."""
        weights = self.goal.weights.astype(np.float64) * self.goal.weight_unit
        return measure(
            self.table,
            [attribute.kind for attribute in self.attributes],
            self.goal.codes,
            nominal_goal=True,
            bias_corrected=bias_corrected,
            sample_weight=None if (weights == 1.0).all() else weights,
            n_jobs=n_jobs,
        )

    @property
    def facts(self) -> ClassFacts:
        """What all rows weigh together."""
        return self.goal.facts

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.table.names

    @property
    def is_many(self) -> bool:
        """Whether a sample stands in for the rows where they would be walked through often."""
        return len(self.goal.codes) > MANY_ROWS

    def described_as(self, settings: LabelSettings, n_threads: int = 1) -> TrainingSet:
        """Describe the same rows otherwise."""
        described = describe_table(self.table, settings, self.goal.weights, n_threads)
        return replace(self, described=described)

    def dependence(self, *, bias_corrected: bool = False, n_jobs: int | None = None) -> Dependence:
        """Measure how attributes depend on each other and on the goal."""
        return self._measured(dependence_of, bias_corrected, n_jobs)

    def train_nodes(
        self,
        hierarchy: Hierarchy,
        kinds: Mapping[str, Any],
        growth: TreeSettings,
        cross_fit: int | None = None,
        n_threads: int = 1,
    ) -> tuple[NodeModel, ...]:
        """Train the nodes of a hierarchy whose trees hear what others believe."""
        data = TrainingSet.prepare(self.described, self.goal, cross_fit)
        return train_nodes(hierarchy, data, kinds, growth, n_threads)

    @property
    def table(self) -> Table:
        """The rows as numbers and states."""
        return self.described.table

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The described columns."""
        return self.described.attributes


def train_nodes(
    hierarchy: Hierarchy,
    data: TrainingSet,
    kinds: Mapping[str, Any],
    growth: TreeSettings,
    n_threads: int,
) -> tuple[NodeModel, ...]:
    """Train the nodes of a hierarchy; the nodes of a level in parallel.

    Parameters
    ----------
    hierarchy : Hierarchy
    data : TrainingSet
    kinds : mapping of node name to its kind
        ``"tree"``, ``"cmac"``, or a scikit-learn classifier.
    growth : TreeSettings
        How the trees grow.
    n_threads : int

    Returns
    -------
    nodes : tuple of NodeModel
        In the order of ``hierarchy.nodes``.
    """
    growth = share_rules(growth, hierarchy)
    outputs: dict[str, Float] = {}
    trained: dict[str, NodeModel] = {}
    for level in hierarchy.levels:
        n_workers = min(n_threads, len(level))

        def train(name: str, n_threads: int = n_threads // n_workers) -> tuple[NodeModel, Float]:
            node = hierarchy.node(name)
            model = train_node(node, data, outputs, kinds[name], growth, n_threads)
            if name == hierarchy.root:
                return model, np.empty((0, 0))
            return model, what_goes_up(model, node, data, outputs, kinds[name], growth, n_threads)

        with ThreadPoolExecutor(n_workers) as pool:
            results = list(pool.map(train, level))
        for name, (model, beliefs) in zip(level, results, strict=True):
            trained[name], outputs[name] = model, beliefs
    return tuple(trained[node.name] for node in hierarchy.nodes)


def train_node(
    node: HierarchyNode,
    data: TrainingSet,
    outputs: Mapping[str, Float],
    kind: Any,
    growth: TreeSettings,
    n_threads: int = 1,
) -> NodeModel:
    """Train one node, given what the nodes below it believe of each row."""
    is_linguistic = kind in NODE_KINDS if isinstance(kind, str) else False
    rows = _NodeRows.gather(node, data, outputs, growth.belief_labels if is_linguistic else None)
    if not is_linguistic:
        return _train_estimator(rows, kind)
    settings = cell_settings(node.name, rows.attributes) if kind == "cmac" else growth
    return TreeNode(_grow_tree(rows, settings, n_threads))


def what_goes_up(
    model: NodeModel,
    node: HierarchyNode,
    data: TrainingSet,
    outputs: Mapping[str, Float],
    kind: Any,
    growth: TreeSettings,
    n_threads: int = 1,
) -> Float:
    """Return what a trained node believes of each row, for the node above to learn from.

    Where there are folds, the rows of a fold are judged by a node trained on the others; rows
    without weight are judged by the node itself, as in use.
    """
    beliefs = model.beliefs(data.table, outputs, n_threads)
    if data.folds is None:
        return beliefs
    goal = data.goal
    for fold in np.unique(data.folds):
        rows = np.flatnonzero((data.folds == fold) & (goal.weights > 0))
        weights = goal.weights.copy()
        weights[rows] = 0
        if len(rows) and weights.any():
            others = replace(data, goal=replace(goal, weights=weights))
            stranger = train_node(node, others, outputs, kind, growth, n_threads)
            below = {name: outputs[name][rows] for name in node.inputs if name in outputs}
            beliefs[rows] = stranger.beliefs(data.table.take(rows), below, n_threads)
    return beliefs


def node_kinds(node: Any, hierarchy: Hierarchy) -> dict[str, Any]:
    """Settle the kind of every node: one for all, or a mapping of node name to kind."""
    names = [one.name for one in hierarchy.nodes]
    if not isinstance(node, dict):
        return dict.fromkeys(names, _checked_kind(node))
    for name in node:
        if name not in names:
            raise ParameterError(
                f"'node' names {name!r}, which is no node{did_you_mean(name, names)}"
            )
    return {name: _checked_kind(node.get(name, "tree")) for name in names}


def is_large(n_rows: int, n_attributes: int) -> bool:
    """Whether there is enough to do for threads to pay."""
    return n_rows * n_attributes >= _LARGE


def linguistic_kinds(node: Any, hierarchy: Hierarchy) -> dict[str, str]:
    """Settle the kind of every node, where only linguistic ones can speak."""
    kinds = node_kinds(node, hierarchy)
    for name, kind in kinds.items():
        if not isinstance(kind, str):
            raise ParameterError(
                f"fusion='weigh' hears what the branches of trees say, and node {name!r} is a "
                f"{type(kind).__name__}; use fusion='tree' with it"
            )
    return kinds


def share_rules(growth: TreeSettings, hierarchy: Hierarchy) -> TreeSettings:
    """Divide the rules that a model may have among its trees, one each at the least."""
    if growth.max_rules is None:
        return growth
    return replace(growth, max_rules=max(1, growth.max_rules // len(hierarchy.nodes)))


def _checked_kind(kind: Any) -> Any:
    methods = ("fit", "predict_proba", "get_params")
    is_estimator = not isinstance(kind, type) and all(hasattr(kind, name) for name in methods)
    if kind in NODE_KINDS if isinstance(kind, str) else is_estimator:
        return kind
    raise ParameterError(
        "'node' must be 'tree', 'cmac', or a scikit-learn classifier with predict_proba. "
        f"Got {kind!r}."
    )


def input_attributes(
    node: HierarchyNode,
    attributes: Mapping[str, Attribute],
    goal: Goal,
    prior: tuple[float, ...],
    heard: Collection[str],
    belief_labels: int | None,
) -> tuple[Attribute, ...]:
    """Describe what feeds a node; what unknown beliefs in words are like is left open.

    Parameters
    ----------
    node : HierarchyNode
    attributes : all columns, described, by their names
    goal : Goal
    prior : the share of each class
    heard : the names of the nodes below
    belief_labels : how many words describe a belief; None takes it as masses
    """
    inputs: list[Attribute] = []
    for name in node.inputs:
        if name not in heard:
            inputs.append(attributes[name])
        elif belief_labels is None:
            inputs.append(belief_attribute(name, goal.states, prior))
        else:
            for words in belief_words(name, goal.states, belief_labels):
                inputs.append(replace(words, name=fresh_name(words.name, attributes)))
    return tuple(inputs)


def describe_inputs(
    inputs: Sequence[Attribute],
    described: Description,
    outputs: Mapping[str, Float],
) -> Described:
    """Describe rows by the inputs of a node, given what the nodes below believe of each."""
    columns = _Columns(len(described.labels))
    for one in inputs:
        if one.origin not in outputs:
            columns.add(described.labels[:, described.places[one.name]])
        elif one.tree is None:
            columns.add_masses(outputs[one.name])
        else:
            columns.add(_label(outputs[one.tree][:, one.place], one))
    return columns.described()


@dataclass(frozen=True, eq=False)
class _NodeRows:
    """The rows as one node sees them."""

    name: str
    attributes: tuple[Attribute, ...]
    inputs: Described
    data: TrainingSet
    outputs: Mapping[str, Float]

    @classmethod
    def gather(
        cls,
        node: HierarchyNode,
        data: TrainingSet,
        outputs: Mapping[str, Float],
        belief_labels: int | None,
    ) -> _NodeRows:
        goal = data.goal
        attributes = input_attributes(
            node, data.described.by_name, goal.goal, goal.prior, outputs, belief_labels
        )
        inputs = describe_inputs(attributes, data.described, outputs)
        settled = tuple(
            attribute
            if attribute.tree is None
            else _with_mean_masses(attribute, inputs.labels[:, j], goal.weights)
            for j, attribute in enumerate(attributes)
        )
        return cls(node.name, settled, inputs, data, outputs)


class _Columns:
    """Inputs in the making, one described column after another."""

    def __init__(self, n_rows: int) -> None:
        self._labels: list[Labels] = []
        self._spread = [np.empty((n_rows, 0), dtype=np.uint32)]
        self._offsets: list[int] = []

    def add(self, labels: Labels, offset: int = -1) -> None:
        """Add an input that has labels."""
        self._labels.append(labels)
        self._offsets.append(offset)

    def add_masses(self, beliefs: Float) -> None:
        """Add an input whose masses on its focal sets are given."""
        if beliefs.shape[1] == 2:
            # Two states are neighbours: the label of a reading holds their masses.
            self.add(np.rint(beliefs[:, 1] * MASS_ONE).astype(np.uint32))
            return
        offset = sum(part.shape[1] for part in self._spread)
        self.add(np.full(len(beliefs), SPREAD << MASS_BITS, dtype=np.uint32), offset)
        self._spread.append(_summed_up(beliefs))

    def described(self) -> Described:
        """Return the columns side by side."""
        return Described(
            np.column_stack(self._labels).astype(np.uint32, copy=False),
            np.ascontiguousarray(np.hstack(self._spread)),
            np.array(self._offsets, dtype=np.int32),
        )


def _label(values: Float, attribute: Attribute) -> Labels:
    """Describe readings of one attribute by its words."""
    labels = np.empty((len(values), 1), dtype=np.uint32)
    kernel().label(np.ascontiguousarray(values[:, None]), flatten([attribute]), labels)
    return labels[:, 0]


def _with_mean_masses(attribute: Attribute, labels: Labels, weights: Int64) -> Attribute:
    """Let an unknown belief be what the training rows believed on average."""
    lower, shares = split_weights(labels, weights)
    sums = np.zeros(attribute.n_focal_sets + 1, dtype=np.int64)
    for place, share in enumerate(shares):
        np.add.at(sums, lower + place, share)
    known = sums[:-1].astype(np.float64)
    return replace(attribute, ignorance=tuple((known / known.sum()).tolist()))


def _summed_up(beliefs: Float) -> Labels:
    sums = np.zeros((len(beliefs), beliefs.shape[1] + 1))
    np.cumsum(beliefs, axis=1, out=sums[:, 1:])
    sums[:, -1] = 1.0
    return np.asarray(np.rint(np.minimum(sums, 1.0) * MASS_ONE), dtype=np.uint32)


def _grow_tree(rows: _NodeRows, growth: TreeSettings, n_threads: int) -> Tree:
    goal, sets = rows.data.goal, flatten(rows.attributes)
    labelled = LabelledRows(rows.inputs, goal.labels, goal.weights, sets, goal.goal.size, n_threads)
    return learn_tree(rows.name, rows.attributes, labelled, goal.weight_unit, growth)


def cell_settings(name: str, inputs: Sequence[Attribute]) -> TreeSettings:
    """Return how a node tabulates all combinations of words, and learns each cell's belief.

    The table is a tree that takes its inputs in their order, whatever they gain.
    """
    n_cells = prod(attribute.n_focal_sets for attribute in inputs)
    if n_cells > MAX_CMAC_CELLS:
        raise TooManyCombinationsError(
            f"node {name!r} has {len(inputs)} inputs whose words make {n_cells:,} "
            f"combinations, and a CMAC tabulates at most {MAX_CMAC_CELLS:,}; make the clusters "
            "smaller, use fewer words, or use node='tree' there"
        )
    return TreeSettings(
        criterion="in_order",
        purity=np.inf,
        min_gain=None,
        leaves=LeafSettings("refitted"),
    )


def _train_estimator(rows: _NodeRows, kind: Any) -> EstimatorNode:
    data = rows.data
    means = reading_means(rows.attributes, data.table, data.goal.weights)
    features = estimator_features(rows.attributes, data.table, rows.outputs, means)
    used = data.goal.weights > 0
    weights = {}
    if has_fit_parameter(kind, "sample_weight"):
        weights["sample_weight"] = data.goal.weights[used] * data.goal.weight_unit
    estimator = clone(kind).fit(features[used], data.goal.codes[used], **weights)
    return EstimatorNode(rows.name, rows.attributes, estimator, means, data.goal.goal.size)
