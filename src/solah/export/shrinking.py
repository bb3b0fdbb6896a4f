"""Remove the rules that matter least until a model fits into the flash.

Branches with nearly the same scores are joined, the pair that loses least first; a node whose
branches are all joined is a leaf from then on. ``reassembly.py`` makes a model of what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError
from solah.export.costs import model_costs
from solah.export.reassembly import joined_means, reassemble
from solah.model.document import LEAST_BELIEF
from solah.model.joining import JoinedTree, count_cost, join_branches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.export.exporting import Numbers
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Tree
    from solah.model.joining import Branch


def shrink(model: Model, max_flash: int, numbers: Numbers = "float") -> Model:
    """Join or leave out the rules that matter least, until a model fits into a flash.

    Parameters
    ----------
    model : Model
        The model document.
    max_flash : int
        How many bytes its code and tables may take on a Cortex-M0+, as
        :func:`~solah.export.costs.model_costs` estimates them.
    numbers : {"float", "q15"}, default="float"
        What the device computes with.

    Returns
    -------
    model : Model
        The model itself where it fits, else one with fewer rules.

    Raises
    ------
    ParameterError
        Not even a model without rules fits.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export.shrinking import shrink
    >>> iris = datasets.load("iris")
    >>> model = LinguisticTreeClassifier().fit(iris.table, iris.goal).model_
    >>> small = shrink(model, 1_000, "q15")
    >>> small.n_rules < model.n_rules
    True
    """
    if max_flash < 1:
        raise ParameterError(f"'max_flash' must be at least 1 byte. Got {max_flash!r} instead.")
    if model_costs(model, numbers).flash <= max_flash:
        return model
    # Code that walks through trees takes as much as many rules. So both are tried: trees as deep as
    # they are, and trees that ask a single question, for which a broken line will do.
    ways = (_Left(model), _shallow(model))
    limits = _Limits(max_flash, model.n_rules, numbers)
    best = min((_most_that_fits(way, limits) for way in ways), key=lambda one: one.loss)
    least = model_costs(best.model, numbers).flash
    if least > max_flash:
        way_out = ", or compute in integers (--numbers q15)" if numbers == "float" else ""
        raise ParameterError(
            f"'max_flash' is {max_flash:,} bytes, but even without rules this model takes "
            f"{least:,}: allow as many{way_out}"
        )
    return best.model


@dataclass(frozen=True, eq=False)
class _Left:
    """What is left of a model, and the log-likelihood (nats) that it has lost."""

    model: Model
    loss: float = 0.0


@dataclass(frozen=True)
class _Limits:
    """What a model may take: bytes of flash, and rules.

    Branches that are alike count once, wherever they stand. So rules may become more when some of
    these are joined and others are not.
    """

    flash: int
    n_rules: int
    numbers: Numbers

    def allow(self, model: Model) -> bool:
        is_short = model.n_rules <= self.n_rules
        return is_short and model_costs(model, self.numbers).flash <= self.flash


def _most_that_fits(start: _Left, limits: _Limits) -> _Left:
    """Find by bisection with how many rules a model fits; none are left if it never does."""
    best, fitting, too_many = _cut(start, 0), 0, _count_rules(start.model) + 1
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        candidate = _cut(start, middle)
        if limits.allow(candidate.model):
            best, fitting = candidate, middle
        else:
            too_many = middle
    return best


def _count_rules(model: Model) -> int:
    """Count the leaves with weight, joined or not."""
    return sum(int((tree.support[tree.leaves] > 0).sum()) for tree in model.trees)


def _cut(start: _Left, n_rules: int) -> _Left:
    """Keep so many branches at the most, but one a tree at least."""
    trees = start.model.trees
    scores = [_scores(tree) for tree in trees]
    goal = start.model.goal
    cost = partial(_cost, n_goals=goal.size, is_number=goal.is_additive_number)
    return _rebuilt(start, join_branches(trees, scores, cost, max_rules=n_rules))


def _shallow(model: Model) -> _Left:
    """Let each tree ask its first question alone."""
    return _rebuilt(_Left(model), [_first_question(tree) for tree in model.trees])


def _first_question(tree: Tree) -> JoinedTree:
    if tree.split[0] < 0:
        return JoinedTree.unchanged(tree)
    kept = np.array([0, *tree.children(0)])
    places = np.arange(len(kept))
    homes = np.zeros(len(tree.split), dtype=np.intp)
    homes[kept] = places
    for node in np.flatnonzero(tree.split >= 0)[1:].tolist():
        homes[tree.children(node)] = homes[node]
    split = np.where(places == 0, tree.split[0], -1).astype(np.int32)
    first_child = np.where(places == 0, 1, 0).astype(np.int32)
    return JoinedTree(split, first_child, kept, places, homes)


def _rebuilt(start: _Left, joined: Sequence[JoinedTree]) -> _Left:
    """Make a model of joined trees, and add up what joining loses."""
    pairs = zip(start.model.trees, joined, strict=True)
    is_number = start.model.goal.is_additive_number
    loss = sum(_loss(tree, one, is_number=is_number) for tree, one in pairs)
    return _Left(reassemble(start.model, joined), start.loss + loss)


# --- what is lost ----------------------------------------------------------------------------


def _scores(tree: Tree) -> Float:
    """Return the scores of a tree's nodes: beliefs and, below a fusion, evidence."""
    return tree.belief if tree.scores is None else np.hstack([tree.belief, tree.scores])


def _cost(first: Branch, second: Branch, *, n_goals: int, is_number: bool) -> float:
    """Return about how much log-likelihood (nats) is lost when two branches become one.

    Of a number, it is the sum of squares that is lost.
    """
    assert first.total is not None
    assert second.total is not None
    if len(first.total) == n_goals:
        return count_cost(first, second)
    if not first.weight or not second.weight:
        return 0.0
    one, other = np.array(first.total), np.array(second.total)
    weight = first.weight + second.weight
    belief = (one + other)[:n_goals] / weight
    moved = (one / first.weight - other / second.weight)[n_goals:]
    each = float((moved**2).sum() if is_number else _loss_of_moves(belief, moved))
    return each * first.weight * second.weight / weight


def _loss(tree: Tree, joined: JoinedTree, *, is_number: bool) -> float:
    """Return about how much log-likelihood (nats) a tree loses by all its joins."""
    leaves = tree.leaves
    homes, belief = joined.homes[leaves], tree.belief[leaves]
    if tree.scores is None:
        means = joined_means(tree, joined, tree.belief)[homes]
        lost = _divergence(belief, means)
    else:
        means = joined_means(tree, joined, tree.scores)[homes]
        moved = tree.scores[leaves] - means
        lost = (moved**2).sum(axis=1) if is_number else _loss_of_moves(belief, moved)
    return float(tree.support[leaves] @ lost)


def _loss_of_moves(belief: Float, moved: Float) -> Float:
    """Return what a row loses when evidence moves: to second order, half the moves' variance."""
    mean = (belief * moved).sum(axis=-1, keepdims=True)
    return np.asarray((belief * (moved - mean) ** 2).sum(axis=-1) / 2)


def _divergence(belief: Float, instead: Float) -> Float:
    """Return Kullback and Leibler's divergence of other beliefs from those that were."""
    floor = LEAST_BELIEF
    ratio = np.maximum(belief, floor) / np.maximum(instead, floor)
    return np.asarray((belief * np.log(ratio)).sum(axis=-1))
