"""A penalised multinomial logistic model on the branches of trees.

Every branch B of every tree t has scores s_tB, one for each class: its evidence, in log-odds. A
row adds up the scores of the branches it takes, by its membership w in each::

    P(c|x) = softmax_c( bias(c) + sum_t sum_B w_tB(x) s_tB(c) )

All scores are fitted at once, with a penalty on their squares, so that trees with the same
information share it. In trees with several conditions per branch, the score of a branch is the sum
of one score for each condition and one of its own, which is penalised more: single words count
first, and combinations only where the data ask for them.

The sums over rows are of integers: neither their order nor the number of threads leaves a trace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from solah.kernels.arrays import (
    SLOPE_SCALE,
    WEIGHT_ONE,
    Described,
    Forest,
    Routes,
    TreeShape,
)
from solah.kernels.choose import kernel, map_slices
from solah.kernels.sums import exact_sum, whole_and_parts
from solah.learn.passes import BlockPass
from solah.model.attributes import flatten
from solah.model.joining import JoinedTree, join_branches, score_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64, Labels
    from solah.learn.blocks import RowBlock
    from solah.learn.rows import Rows
    from solah.model import Attribute, Tree
    from solah.scale.passes import Statistics

# How much more the score of a combination of words is penalised than that of a word.
_COMBINATION = 3.0
_MAX_STEPS = 300
_ROUGHLY, _EXACTLY = 1e-6, 1e-13
_JOINS_A_ROUND = 0.3
# Branches that were joined in an earlier round differ by rounding only.
_ALIKE = 1e-12
_LIMB = 32


@dataclass(frozen=True, eq=False)
class RoutedRows:
    """Rows and the branches of all trees that they take.

    Attributes
    ----------
    routes : the leaves that rows reach, for each slice of the rows; leaves are numbered through
        from tree to tree, and the number past the last stands for the bias, which all rows reach
    slices : the slices
    codes : (n_rows,) the classes
    weights : (n_rows,) what rows count for
    one_row : what a row without a weight of its own counts for
    """

    routes: tuple[Routes, ...]
    slices: tuple[slice, ...]
    codes: Int64
    weights: Int64
    one_row: float

    @classmethod
    def gather(
        cls,
        trees: Sequence[Tree],
        labels: Labels,
        places: Mapping[str, int],
        codes: Int64,
        weights: Int64,
        weight_unit: float,
        n_threads: int = 1,
    ) -> RoutedRows:
        """Walk rows, described in ``labels`` with columns at ``places``, through all trees."""
        whole = np.where(weights > 0, WEIGHT_ONE, 0)
        route = kernel().route

        def walk(part: slice) -> tuple[slice, Routes]:
            parts = []
            for tree in trees:
                columns = [places[attribute.name] for attribute in tree.inputs]
                rows = Described.plain(np.ascontiguousarray(labels[part][:, columns]))
                parts.append(route(rows, whole[part], tree.sets, tree.shape))
            return part, _side_by_side(parts, [len(tree.split) for tree in trees], whole[part])

        walked = map_slices(walk, len(labels), n_threads)
        return cls(
            routes=tuple(routes for _, routes in walked),
            slices=tuple(part for part, _ in walked),
            codes=np.ascontiguousarray(codes, dtype=np.int64),
            weights=weights,
            one_row=1 / weight_unit,
        )

    def through(self, places: NDArray[np.int32]) -> RoutedRows:
        """Return the same rows with other numbers for leaves: ``places[leaf]``."""
        routes = [replace(one, leaves=places[one.leaves]) for one in self.routes]
        return replace(self, routes=tuple(routes))

    def only(self, wanted: NDArray[np.bool_]) -> RoutedRows:
        """Return the same rows without the leaves that are not wanted."""
        routes = []
        for one in self.routes:
            kept = wanted[one.leaves]
            starts = np.concatenate([[0], np.cumsum(kept)])[one.starts]
            routes.append(Routes(starts, one.leaves[kept], one.weights[kept]))
        return replace(self, routes=tuple(routes))

    def loss(self, scores: Float) -> tuple[Int64, Int64]:
        """Return the sum of rows' losses, as ``exact_sum`` has it, and how it grows."""
        likelihood, slope = self.likelihood(scores)
        return loss_of(likelihood, self.weights), slope

    def likelihood(self, scores: Float) -> tuple[Float, Int64]:
        """Return how likely scores make each row's class, and how its loss grows with them."""
        use = kernel()
        likelihood = np.empty(len(self.codes))

        def of_slice(number: int) -> Int64:
            part = self.slices[number]
            slope = np.zeros(scores.shape, dtype=np.int64)
            use.score_routes(
                self.routes[number],
                self.codes[part],
                self.weights[part],
                scores,
                likelihood[part],
                slope,
            )
            return slope

        n_parts = len(self.slices)
        first, *others = map_slices(lambda some: of_slice(some.start), n_parts, n_parts)
        for slope in others:
            first += slope
        return likelihood, first


def _side_by_side(parts: Sequence[Routes], sizes: Sequence[int], whole: Int64) -> Routes:
    """Put the routes through several trees into one, row by row, and the bias behind them."""
    n_rows = len(whole)
    is_used = whole > 0
    bias = Routes(
        np.concatenate([[0], np.cumsum(is_used)]),
        np.zeros(int(is_used.sum()), dtype=np.int32),
        whole[is_used],
    )
    every = [*parts, bias]
    counts = [np.diff(routes.starts) for routes in every]
    starts = np.concatenate([[0], np.cumsum(np.sum(counts, axis=0))]).astype(np.int64)
    leaves = np.empty(starts[-1], dtype=np.int32)
    weights = np.empty(starts[-1], dtype=np.int64)
    ahead = starts[:-1].copy()
    offset = 0
    for routes, of_rows, size in zip(every, counts, [*sizes, 1], strict=True):
        row = np.repeat(np.arange(n_rows), of_rows)
        target = ahead[row] + np.arange(len(row)) - routes.starts[row]
        leaves[target] = routes.leaves + offset
        weights[target] = routes.weights
        ahead += of_rows
        offset += size
    return Routes(starts, leaves, weights)


@dataclass(frozen=True, eq=False)
class EvidenceModel:
    """Trees, which of their leaves are one branch, and how the scores of branches are made up.

    Attributes
    ----------
    trees : the trees as they were grown
    joined : what is left of each
    """

    trees: tuple[Tree, ...]
    joined: tuple[JoinedTree, ...]

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> EvidenceModel:
        """Let every leaf of every tree be a branch."""
        return cls(tuple(trees), tuple(map(JoinedTree.unchanged, trees)))

    @cached_property
    def numbers(self) -> list[NDArray[np.intp]]:
        """For each tree the numbers of its branches, at their first leaves; 0 elsewhere."""
        branches, n_branches = [], 1  # the first is that of trees without branches
        for joined in self.joined:
            heads = np.unique(joined.heads[joined.split < 0])
            numbers = np.zeros(len(joined.split), dtype=np.intp)
            if len(heads) > 1:
                numbers[heads] = n_branches + np.arange(len(heads))
                n_branches += len(heads)
            branches.append(numbers)
        return branches

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """The number of each leaf's branch, leaves numbered as in ``RoutedRows``."""
        homes = [numbers[j.homes] for numbers, j in zip(self.numbers, self.joined, strict=True)]
        return np.concatenate([*homes, [self.n_branches]]).astype(np.int32)

    @property
    def n_branches(self) -> int:
        """How many branches there are; number 0 stands for trees that have one only."""
        return 1 + max((int(numbers.max()) for numbers in self.numbers), default=0)

    @property
    def n_rules(self) -> int:
        """The branches with weight, of trees that have several."""
        n_rules = 0
        for tree, joined in zip(self.trees, self.joined, strict=True):
            leaf = (joined.split < 0) & (tree.support[joined.kept] > 0)
            of_tree = len(set(joined.heads[leaf].tolist()))
            n_rules += of_tree if of_tree > 1 else 0
        return n_rules

    @cached_property
    def design(self) -> tuple[csr_array, Float]:
        """How scores are made of parameters, ``(n_branches + 1, n_parameters)``, and penalties.

        The last row is the bias, which has no penalty.
        """
        rows: list[int] = []
        columns: list[int] = []
        shares: list[float] = []
        penalties: list[float] = []

        def parameter(penalty: float) -> int:
            penalties.append(penalty)
            return len(penalties) - 1

        for tree, joined, numbers in zip(self.trees, self.joined, self.numbers, strict=True):
            conditions = leaf_conditions(tree)
            is_single = all(len(each) < 2 for each in conditions.values())
            members: dict[int, list[int]] = {}
            for leaf in conditions:
                members.setdefault(int(numbers[joined.homes[leaf]]), []).append(leaf)
            words: dict[tuple[int, int], int] = {}
            for branch, leaves in members.items():
                if branch == 0:
                    continue
                own = parameter(1.0 if is_single else _COMBINATION)
                made_of = {own: 1.0}
                for leaf, share in zip(leaves, _shares(tree.support[leaves]), strict=True):
                    for word in () if is_single else conditions[leaf]:
                        if word not in words:
                            words[word] = parameter(1.0)
                        place = words[word]
                        made_of[place] = made_of.get(place, 0.0) + share
                rows += [branch] * len(made_of)
                columns += made_of
                shares += made_of.values()
        rows.append(self.n_branches)
        columns.append(parameter(0.0))
        shares.append(1.0)
        shape = (self.n_branches + 1, len(penalties))
        return csr_array((shares, (rows, columns)), shape=shape), np.array(penalties)

    def fit(
        self,
        rows: RoutedRows,
        n_classes: int,
        penalty: float,
        start: Float | None = None,
        *,
        is_rough: bool = False,
    ) -> Float:
        """Return the parameters ``(n_parameters, n_classes)`` that make rows' classes most likely.

        Parameters
        ----------
        rows : RoutedRows
        n_classes : int
        penalty : float
            What a score of 1 costs, in rows.
        start : ndarray, default=None
            Where to begin, such as the parameters for another penalty.
        is_rough : bool, default=False
            Whether it is only to compare with others.
        """
        design, ridge = self.design
        back = design.T.tocsr()
        routed = rows.through(self.places)
        whole = float(rows.weights.sum())
        per_row = penalty * rows.one_row / whole
        shape = (len(ridge), n_classes)

        def objective(flat: Float) -> tuple[float, Float]:
            parameters = flat.reshape(shape)
            summed, slope = routed.loss(design @ parameters)
            loss = whole_and_parts(summed) / whole
            pull = per_row * ridge[:, None] * parameters
            gradient = (back @ slope.astype(np.float64)) / (whole * SLOPE_SCALE) + pull
            return loss + 0.5 * float((pull * parameters).sum()), gradient.ravel()

        found = minimize(
            objective,
            np.zeros(shape).ravel() if start is None else start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": _MAX_STEPS,
                "ftol": _ROUGHLY if is_rough else _EXACTLY,
                "gtol": 1e-9,
                "maxcor": 10,
            },
        )
        return np.asarray(found.x).reshape(shape)

    def scores(self, parameters: Float) -> Float:
        """Return the scores of branches, ``(n_branches + 1, n_classes)``; the bias is last."""
        return np.asarray(self.design[0] @ parameters)

    def leaf_scores(self, scores: Float) -> list[Float]:
        """Return the scores of each tree's nodes, as it was grown; inner nodes have 0."""
        return [
            np.where((tree.split < 0)[:, None], scores[numbers[joined.homes]], 0.0)
            for tree, joined, numbers in zip(self.trees, self.joined, self.numbers, strict=True)
        ]

    def forest(self, attributes: Sequence[Attribute]) -> Forest:
        """Put the nodes of all trees into one table, over attributes that are labelled."""
        place_of = {attribute.name: j for j, attribute in enumerate(attributes)}
        roots = np.cumsum([0, *(len(tree.split) for tree in self.trees)]).astype(np.int32)
        splits, children = [], []
        for tree, root in zip(self.trees, roots, strict=False):
            columns = np.array([place_of[one.name] for one in tree.inputs], dtype=np.int32)
            inner = tree.split >= 0
            splits.append(np.where(inner, columns[np.where(inner, tree.split, 0)], -1))
            children.append(tree.first_child + root)
        shape = TreeShape(
            np.concatenate(splits).astype(np.int32),
            np.concatenate(children).astype(np.int32),
            max(tree.shape.depth for tree in self.trees),
        )
        places = self.places
        return Forest(flatten(attributes), shape, roots[:-1], places[:-1], int(places[-1]))

    def fit_joined(
        self,
        rows: RoutedRows,
        n_classes: int,
        penalty: float,
        *,
        max_rules: int | None = None,
        rule_cost: float = 0.0,
        start: Float | None = None,
        is_rough: bool = False,
    ) -> tuple[EvidenceModel, Float]:
        """Fit scores, join branches with nearly the same ones, and fit what is left."""
        return self.joined_by(
            lambda model: model.fit(
                rows, n_classes, penalty, start if model is self else None, is_rough=is_rough
            ),
            max_rules,
            rule_cost,
        )

    def joined_by(
        self, fit: Callable[[EvidenceModel], Float], max_rules: int | None, rule_cost: float
    ) -> tuple[EvidenceModel, Float]:
        """Join branches with nearly the same scores, given what fits the scores of a model.

        Where many are to go, they go in rounds, for joining changes the scores of the others.
        """
        model, parameters = self, fit(self)
        is_joining = max_rules is not None or rule_cost > 0
        while is_joining:
            limit = max(max_rules or 0, int(model.n_rules * (1 - _JOINS_A_ROUND)))
            joined = join_branches(
                model.trees,
                model.leaf_scores(model.scores(parameters)),
                score_cost,
                max_rules=None if max_rules is None else limit,
                rule_cost=max(rule_cost, _ALIKE),
                is_additive=True,
            )
            fewer = EvidenceModel(model.trees, tuple(joined))
            if np.array_equal(fewer.places, model.places):
                break
            is_joining = fewer.n_rules < model.n_rules
            parameters = fit(fewer)
            model = fewer
        return model, parameters


class EvidenceLoss(BlockPass):
    """Sums up how likely scores make rows' classes, and the gradient."""

    name = "weighing evidence"

    def __init__(
        self, model: EvidenceModel, scores: Float, attributes: Sequence[Attribute]
    ) -> None:
        asked = {one.name for tree in model.trees for one in tree.inputs}
        self.attributes = tuple(one for one in attributes if one.name in asked)
        self.inputs = [self.attributes]
        self.forest, self.scores = model.forest(self.attributes), scores

    def begin(self) -> Statistics:
        """Return the sums of no rows; slopes are parted in two, so that they never overflow."""
        shape = (2, *self.scores.shape)
        return {"loss": np.zeros(2, dtype=np.int64), "slope": np.zeros(shape, dtype=np.int64)}

    def add(self, sums: Statistics, block: RowBlock) -> None:
        """Add the losses of a block of rows."""
        labels = block.inputs(self.attributes).labels
        likelihood = np.empty(len(labels))
        slope = np.zeros(self.scores.shape, dtype=np.int64)
        kernel().score_labels(
            self.forest, labels, block.codes, block.weights, self.scores, likelihood, slope
        )
        sums["loss"] += loss_of(likelihood, block.weights)
        sums["slope"] += np.array([slope >> _LIMB, slope & ((1 << _LIMB) - 1)])


def evidence_loss(model: EvidenceModel, scores: Float, rows: Rows) -> tuple[Int64, Float]:
    """Return the sum of all rows' losses, as ``exact_sum`` has it, and how it grows."""
    found = rows.run(EvidenceLoss(model, scores, rows.attributes))
    high, low = found["slope"].astype(np.float64)
    return found["loss"], high * 2.0**_LIMB + low


def loss_of(likelihood: Float, weights: Int64) -> Int64:
    """Sum the losses of rows whose classes are so likely, as ``exact_sum`` does."""
    return exact_sum(-np.log(np.maximum(likelihood, 1e-300)) * weights.astype(np.float64))


def leaf_conditions(tree: Tree) -> dict[int, tuple[tuple[int, int], ...]]:
    """Map each leaf to its conditions: the input's number and the focal set's."""
    conditions: dict[int, tuple[tuple[int, int], ...]] = {}
    stack: list[tuple[int, tuple[tuple[int, int], ...]]] = [(0, ())]
    while stack:
        node, so_far = stack.pop()
        split = int(tree.split[node])
        if split < 0:
            conditions[node] = so_far
            continue
        stack += [
            (child, (*so_far, (split, place))) for place, child in enumerate(tree.children(node))
        ]
    return conditions


def _shares(weights: Float) -> list[float]:
    """Return what each weight is of their sum; equal shares where there is none."""
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
    shown: list[float] = shares.tolist()
    return shown
