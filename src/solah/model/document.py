"""The model in memory: what people read and edit, and all that a prediction needs.

A model is a target, features described with words, and nodes from bottom to top. A node is either
*additive* (a baseline and terms, each a grid of weights over the words of one or two features) or a
*linguistic tree* (branches over focal sets, with a belief each). :func:`solah.model.compile_model`
defines what a model computes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

from solah.model.features import parted_feature, phrase
from solah.model.limits import MOST_NUMBER, MOST_SCORE
from solah.model.program import Link, Walk
from solah.model.structure import Hierarchy, HierarchyNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.features import Feature
    from solah.model.policy import Domain, Policy
    from solah.model.program import Program
    from solah.model.provenance import Edit, Intervals, Provenance, Uncertainty
    from solah.model.signals import Signals

# Shares below count as this where logarithms are taken: a class without rows is not impossible.
LEAST_BELIEF = 1e-30
# More categories than these and one are counted instead of named.
_MOST_CATEGORIES = 4


class Task(StrEnum):
    """What the target is: one of several classes, or a number."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"


@dataclass(frozen=True)
class Target:
    """The target.

    Attributes
    ----------
    name : the target's name
    classes : the classes, for classification
    words, peaks : the target's words and the peaks of its focal sets, for a regression tree
    centres : the mean target value of each focal set, for a regression tree
    thresholds : the probability at which each class is as good a decision as any other; they sum
        to 1, and none means equal ones
    shares : the overall shares, for additive nodes
    link : ``"log"`` if terms add up to the logarithm of a number, which is then above 0

    A target with neither classes nor centres is a number that terms add up to.
    """

    name: str
    classes: tuple[State, ...] = ()
    words: tuple[str, ...] = ()
    peaks: tuple[float, ...] = ()
    centres: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()
    link: Literal["identity", "log"] = "identity"

    def decide(self, beliefs: Float) -> NDArray[np.intp]:
        """Return the index of the class to predict, of probabilities ``(n_rows, n_classes)``."""
        by_threshold = beliefs / np.array(self.thresholds) if self.thresholds else beliefs
        return np.asarray(np.argmax(by_threshold, axis=1))

    @property
    def task(self) -> Task:
        """Classification or regression."""
        return Task.CLASSIFICATION if self.classes else Task.REGRESSION

    @property
    def size(self) -> int:
        """The number of outputs of a node: one per class, per focal set of a number, or one."""
        return len(self.classes) or len(self.centres) or 1

    @property
    def is_additive_number(self) -> bool:
        """Whether the target is a number that terms add up to, or its logarithm."""
        return not self.classes and not self.centres

    @property
    def additive_link(self) -> Link:
        """The step from the scores of additive nodes to their outputs."""
        if not self.is_additive_number:
            return Link.SOFTMAX
        return Link.EXP if self.link == "log" else Link.NUMBER

    @property
    def score_name(self) -> str:
        """The name of what terms of a number add up to."""
        return f"log {self.name}" if self.link == "log" else self.name

    @property
    def most_score(self) -> float:
        """The bound of weights and baselines, and of the largest of all terms together."""
        return MOST_NUMBER if self.additive_link is Link.NUMBER else MOST_SCORE

    @property
    def log_prior(self) -> Float:
        """The logarithms of the overall shares, 0 on average; none for a number."""
        logs = np.log(np.maximum(np.array(self.shares), LEAST_BELIEF))
        return np.asarray(logs - logs.mean()) if len(logs) else logs


# --- additive nodes ------------------------------------------------------------------------------


@dataclass(frozen=True)
class TermInput:
    """A feature as a term uses it.

    Attributes
    ----------
    feature : the feature; its words have cores, or are categories
    parts : the words of each line of the term's grid, by their indices. Words with an order are in
        runs, from low to high; others are in any groups, by the first of each
    """

    feature: Feature
    parts: tuple[tuple[int, ...], ...]

    @classmethod
    def whole(cls, feature: Feature) -> TermInput:
        """Use a feature with a line for each word."""
        return cls(feature, tuple((word,) for word in range(len(feature.words))))

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.feature.name

    @cached_property
    def asked(self) -> Feature:
        """The feature with its words in parts; categories stay as they are."""
        if not self.feature.is_continuous or len(self.parts) == len(self.feature.words):
            return self.feature
        return parted_feature(self.feature, [part[0] for part in self.parts[1:]])

    @cached_property
    def part_of_set(self) -> tuple[int, ...]:
        """The line of the grid for each focal set of ``asked``."""
        if self.feature.is_continuous:
            return self.asked.set_words
        part_of = {word: number for number, part in enumerate(self.parts) for word in part}
        return tuple(part_of[word] for word in range(len(self.feature.words)))

    def phrase(self, part: int) -> str:
        """Name the words of a line together: ``above 12.8``, ``at least 3``, ``a or b``.

        Many categories are cut short, or named by those that are not among them.
        """
        feature, places = self.feature, self.parts[part]
        if feature.cores and len(places) > 1:
            return feature.range_between(places[0], places[-1])
        if feature.is_ordered:
            return phrase(feature.shown_words, places)
        others = [place for place in range(len(feature.words)) if place not in places]
        is_rest = 0 < len(others) < len(places)
        words = [feature.words[place] for place in (others if is_rest else places)]
        if (more := len(words) - _MOST_CATEGORIES) > 1:
            words[_MOST_CATEGORIES:] = [f"{more} more"]
        return f"{'not ' * is_rest}{' or '.join(words)}"


@dataclass(frozen=True)
class MissingRule:
    """The figures of a rule of a term, such as that for a missing value.

    Attributes
    ----------
    support : the weight of its training rows
    belief : the share of each class among them; for a number, its mean
    scores : the weights that the rule adds
    is_pinned : whether a refit keeps the rule
    """

    support: float
    belief: tuple[float, ...]
    scores: tuple[float, ...]
    is_pinned: bool = False


@dataclass(frozen=True, eq=False)
class Term:
    """Rules on one feature or two: a grid of weights over their words. A rule is a cell.

    Attributes
    ----------
    inputs : one feature or two
    weights : (n_1[, n_2], n_outputs) what each rule adds to the score of each class (log-odds),
        0 on average over the classes; for a number, what it adds to that
    shares : (n_1[, n_2], n_outputs) the share of each class among the rule's training rows;
        for a number, its mean
    counts : (n_1[, n_2]) the weight of the rule's training rows
    variance : the variance of what the term adds over the training rows, the mean over the
        classes, or more: what is lost if a value is missing
    missing : the rule for a missing value, of a term on one feature; None if it adds nothing
    pinned : the rules, by their cells, that a refit keeps
    """

    inputs: tuple[TermInput, ...]
    weights: Float
    shares: Float
    counts: Float
    variance: float = 0.0
    missing: MissingRule | None = None
    pinned: frozenset[tuple[int, ...]] = frozenset()

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(one.name for one in self.inputs)

    @property
    def origins(self) -> tuple[str, ...]:
        """The names of the features and nodes that feed the term, each once."""
        return tuple(dict.fromkeys(one.feature.origin for one in self.inputs))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of lines of each input."""
        return self.counts.shape

    def cells(self) -> Iterator[tuple[int, ...]]:
        """Yield the cells of the grid, the last input changing fastest."""
        return product(*map(range, self.shape))

    def rules(self) -> Iterator[tuple[tuple[int, ...] | None, MissingRule]]:
        """Yield the rules with their cells, and the one for a missing value with None."""
        for cell in self.cells():
            shares, weights = self.shares[cell].tolist(), self.weights[cell].tolist()
            figures = float(self.counts[cell]), tuple(shares), tuple(weights)
            yield cell, MissingRule(*figures, cell in self.pinned)
        if self.missing is not None:
            yield None, self.missing

    @property
    def n_rules(self) -> int:
        """The number of rules, the one for a missing value included."""
        return self.counts.size + (self.missing is not None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return (
            self.inputs == other.inputs
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.shares, other.shares)
            and np.array_equal(self.counts, other.counts)
            and self.variance == other.variance
            and self.missing == other.missing
            and self.pinned == other.pinned
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class FeatureGroup:
    """Terms that are added up first.

    Attributes
    ----------
    name : the group's name
    terms : the indices of its terms in the node, ascending
    """

    name: str
    terms: tuple[int, ...]


@dataclass(frozen=True)
class AdditiveNode:
    """A sum: a baseline and the terms, group by group, then those in no group.

    Attributes
    ----------
    name : the node's name
    baseline : the scores before any term
    terms : in the order in which they are added up
    groups : no term is in two
    """

    name: str
    baseline: tuple[float, ...]
    terms: tuple[Term, ...] = ()
    groups: tuple[FeatureGroup, ...] = ()

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features, each once."""
        found = {one.name: one.feature for term in self.terms for one in term.inputs}
        return tuple(found.values())

    @property
    def origins(self) -> tuple[str, ...]:
        """The names of the features and nodes that feed the node, each once."""
        return tuple(dict.fromkeys(one for term in self.terms for one in term.origins))

    @property
    def ungrouped(self) -> tuple[int, ...]:
        """The indices of the terms that are in no group."""
        grouped = {number for group in self.groups for number in group.terms}
        return tuple(number for number in range(len(self.terms)) if number not in grouped)

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return sum(term.n_rules for term in self.terms)


# --- linguistic trees ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Branch:
    """A branch of a linguistic tree, or neighbouring ones with the same belief.

    Attributes
    ----------
    conditions : from the root on: the index of the input, and the focal sets one of which describes
        it, by their indices, ascending. Only the last condition may have several
    belief : the belief in each class, or in each focal set of a number
    support : the weight of the training rows
    is_pinned : whether a refit keeps the branch
    """

    conditions: tuple[tuple[int, tuple[int, ...]], ...]
    belief: tuple[float, ...]
    support: float
    is_pinned: bool = False


@dataclass(frozen=True)
class TreeNode:
    """A linguistic decision tree as its branches, which ask their inputs in the tree's order.

    Attributes
    ----------
    name : the node's name
    inputs : features, and what nodes below believe
    branches : depth first, in the order of the focal sets
    start : the belief before anything is known
    """

    name: str
    inputs: tuple[Feature, ...]
    branches: tuple[Branch, ...]
    start: tuple[float, ...]

    @property
    def origins(self) -> tuple[str, ...]:
        """The names of the features and nodes that feed the tree, each once."""
        return tuple(dict.fromkeys(feature.origin for feature in self.inputs))

    @cached_property
    def walk(self) -> Walk:
        """The branches put together to the tree that asks in their order."""
        sizes = [feature.n_focal_sets for feature in self.inputs]
        return Walk.of([branch.conditions for branch in self.branches], sizes)

    @property
    def n_branches(self) -> int:
        """The paper's branch number (beta): all edges counted, empty ones included."""
        walk = self.walk
        splits = Counter(walk.split[walk.split >= 0].tolist())
        unseen = sum(
            count * (self.inputs[place].n_paper_edges - self.inputs[place].n_focal_sets)
            for place, count in splits.items()
        )
        return int((walk.split < 0).sum()) + unseen

    @property
    def n_rules(self) -> int:
        """The branches that carry weight."""
        return sum(branch.support > 0 for branch in self.branches)


Node = AdditiveNode | TreeNode


# --- the model -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A part of a model with an output of its own, which a network node may run.

    Attributes
    ----------
    name : the part's name, as in the program
    kind : a term, a group of terms, a sum of both (an additive node), or a tree
    origins : the names of its features, and of the parts that feed it
    node : the name of the node that it is of
    """

    name: str
    kind: Literal["term", "group", "sum", "tree"]
    origins: tuple[str, ...]
    node: str


@dataclass(frozen=True)
class Monotonic:
    """A constraint: at equal other values, a rising value moves the target one way only.

    Attributes
    ----------
    feature : the feature's name
    direction : 1 if the score of the class, or the number, never falls; -1 if it never rises
    state : the index of the class; 0 for a number
    """

    feature: str
    direction: int
    state: int = 0


@dataclass(frozen=True)
class Model:
    """A target, the features it is predicted from, and the nodes, from bottom to top.

    Models are equal if they predict alike, whatever wrote the file, the training data and later
    edits.

    Each term keeps the constraints of ``monotonic`` by itself.

    Where the features are computed from samples, ``signals`` has the computation.

    ``intervals`` has the residuals of held-out rows, for prediction intervals of a number.

    ``domain`` has the ranges of the training rows, and ``policy`` when the model abstains and when
    a stable decision changes; without it, each row is decided by itself.
    """

    target: Target
    features: tuple[Feature, ...]
    nodes: tuple[Node, ...]
    generator: str = field(default="", compare=False)
    provenance: Provenance | None = field(default=None, compare=False)
    edits: tuple[Edit, ...] = field(default=(), compare=False)
    uncertainty: Uncertainty | None = field(default=None, compare=False)
    intervals: Intervals | None = field(default=None, compare=False)
    monotonic: tuple[Monotonic, ...] = ()
    signals: Signals | None = None
    domain: Domain | None = None
    policy: Policy | None = None

    @property
    def root(self) -> Node:
        """The node whose output is the prediction."""
        return self.nodes[-1]

    @property
    def is_additive(self) -> bool:
        """Whether the prediction is a sum of rules."""
        return isinstance(self.root, AdditiveNode)

    @cached_property
    def trees(self) -> tuple[TreeNode, ...]:
        """The linguistic trees."""
        return tuple(node for node in self.nodes if isinstance(node, TreeNode))

    @cached_property
    def sums(self) -> tuple[AdditiveNode, ...]:
        """The additive nodes."""
        return tuple(node for node in self.nodes if isinstance(node, AdditiveNode))

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of all additive nodes."""
        return tuple(term for node in self.sums for term in node.terms)

    def with_terms(self, terms: Iterable[Term]) -> Model:
        """Return the model with other terms, in the order of ``terms``."""
        left = iter(terms)
        nodes = tuple(
            replace(node, terms=tuple(next(left) for _ in node.terms))
            if isinstance(node, AdditiveNode)
            else node
            for node in self.nodes
        )
        return replace(self, nodes=nodes)

    @cached_property
    def program(self) -> Program:
        """The program that machines run."""
        from solah.model.compile import compile_model  # compiles documents, and so imports this

        return compile_model(self)

    def compiled(self) -> Model:
        """Return the model itself with its program, so that no prediction has to compile it."""
        program = self.program
        _ = program.flat.addresses, program.n_outputs, program.read_features
        return self

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts that a prediction passes, from bottom to top."""
        parts: list[Part] = []
        for node, stage in zip(self.nodes, self.program.stages, strict=True):
            if isinstance(node, TreeNode):
                parts.append(Part(node.name, "tree", node.origins, node.name))
                continue
            names = stage.part_names
            for name, term in zip(names, node.terms, strict=False):
                parts.append(Part(name, "term", term.origins, node.name))
            for group in stage.groups:
                kind: Literal["group", "sum"] = "sum" if group is stage.groups[-1] else "group"
                origins = tuple(names[part] for part in group.parts)
                if not origins:  # a constant, of which a row at least has to be there
                    origins = tuple(one.name for one in self.features[:1])
                parts.append(Part(group.name, kind, origins, node.name))
        return tuple(parts)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The wiring of the parts."""
        return Hierarchy(tuple(HierarchyNode(part.name, part.origins) for part in self.parts))

    @property
    def n_branches(self) -> int:
        """The paper's branch number (beta) of the trees, and the rules of additive nodes."""
        counts = [tree.n_branches for tree in self.trees]
        return sum(counts) + sum(node.n_rules for node in self.sums)

    @property
    def n_rules(self) -> int:
        """The number of rules: the branches of trees that carry weight, and the cells of terms."""
        return sum(node.n_rules for node in self.nodes)
