"""Computes what each reading added to a decision: exact Shapley values that sum up.

A tree's output is linear in the masses of each of its inputs. Along the straight line from what
it assumes of unknown readings to the readings' own masses, the slope towards an input is therefore
a polynomial, and its mean is the input's Shapley value; a few points of Gauss-Legendre quadrature
give it exactly. Fusions add up. A word over a belief passes on what it made of the belief in
proportion to what moved the belief; a softmax does so by logarithmic means. Where unknown readings
make the others less sure, what a tree adds is damped like the belief, and a tree that is known adds
its share of the way from the shares of the classes to the bias. Nothing is sampled, and what the
readings added always sums to the way from knowing nothing to the belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from solah.explain.walking import averages, in_blocks, shares, walk, weighted_sum
from solah.model.beliefs import (
    deciding_fusions,
    evidence_shares,
    fusion_inputs,
    measured_by,
    unknown_of,
)
from solah.model.document import Fusion
from solah.model.encode import Coded, code
from solah.model.evaluate import damping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.data import Table
    from solah.explain.walking import Walk
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Tree

    Effects = dict[str, Float]

# A belief that moved less counts as one that did not move: it is rounding.
_STILL = 1e-12


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each reading added, from knowing nothing to the belief.

    Attributes
    ----------
    start : (n_goals,) what the model believes when no reading is known
    belief : (n_rows, n_goals) what it believes of each row
    effects : (n_rows, n_attributes, n_goals) what each reading added; summed over the attributes
        they are ``belief - start``
    evidence : (n_rows, n_attributes, n_goals) what each reading added as evidence (log-odds,
        centred over the goal's states), where the model weighs evidence; else None
    """

    start: Float
    belief: Float
    effects: Float
    evidence: Float | None


def attribute_rows(model: Model, table: Table) -> Attribution:
    """Share out decisions among the readings that they were made on.

    Parameters
    ----------
    model : Model
    table : Table

    Returns
    -------
    attribution : Attribution
        Its attributes stand in the order of ``model.attributes``; an unknown reading adds 0.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.explain.attribution import attribute_rows
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_depth=2).fit(iris.table, iris.goal)
    >>> added = attribute_rows(tree.model_, iris.table)
    >>> bool(abs(added.start + added.effects.sum(axis=1) - added.belief).max() < 1e-12)
    True
    """
    attributor = Attributor(model)
    rows = code(table, measured_by(model.nodes))
    parts = [attributor.of_rows(walk(model, block)) for block in in_blocks(rows, model)]
    evidence = [part.evidence for part in parts if part.evidence is not None]
    return Attribution(
        start=parts[0].start,
        belief=np.concatenate([part.belief for part in parts]),
        effects=np.concatenate([part.effects for part in parts]),
        evidence=np.concatenate(evidence) if evidence else None,
    )


class Attributor:
    """Shares out the decisions of a model; its belief without readings is computed once.

    Parameters
    ----------
    model : what decides
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        names = (attribute.name for attribute in measured_by(model.nodes))
        self._unknown = walk(model, Coded(dict.fromkeys(names, np.array([np.nan])), 1))
        self._fusion_inputs = fusion_inputs(model.nodes)
        self._fusions = deciding_fusions(model.nodes)
        self._shares = evidence_shares(model.nodes)
        self._is_linear = not any(tree.variance or tree.missing for tree in model.trees)

    def of_rows(self, way: Walk) -> Attribution:
        """Share out the decisions on rows that went through the model."""
        root = self._model.root
        effects, evidence = self._all_effects(way)
        return Attribution(
            start=self._unknown.signals[root.name][0],
            belief=way.signals[root.name],
            effects=self._stacked(effects[root.name], way),
            evidence=self._stacked(evidence, way)
            if isinstance(root, Fusion) and self._model.goal.states
            else None,
        )

    def _all_effects(self, way: Walk) -> tuple[dict[str, Effects], Effects]:
        """Share out what goes up from each node; beside it the evidence of the last fusion."""
        effects: dict[str, Effects] = {}
        evidence: Effects = {}
        for node in self._model.nodes:
            if not isinstance(node, Fusion):
                effects[node.name] = self._added_in_tree(node, effects, way)
                continue
            if node.name in self._fusion_inputs:
                effects[node.name] = _added_up(node.origins, effects)
                continue
            evidence = (
                _added_up(node.origins, effects)
                if self._is_linear
                else self._damped(node, effects, way)
            )
            effects[node.name] = (
                self._believed(node.name, evidence, way) if self._model.goal.states else evidence
            )
        return effects, evidence

    def _damped(self, fusion: Fusion, effects: Mapping[str, Effects], way: Walk) -> Effects:
        """Share out the scores of a fusion whose trees may be unknown."""
        trees = [t for t in self._model.trees if self._fusions.get(t.name) is fusion]
        start, end = (unknown_of(self._model, one.rows) for one in (self._unknown, way))
        is_number = self._model.goal.is_additive_number
        bias = np.zeros(1) if is_number else np.array(fusion.bias) - self._model.goal.log_prior
        before, here = (
            np.ones((1, 1)) if is_number else damping(one[fusion.name].variance)[:, None]
            for one in (start, end)
        )
        scaled: dict[str, Effects] = {}
        for name in (tree.name for tree in trees):
            first, last = (
                way_of.signals[name] + bias * (self._shares[name] - one[name].share)[:, None]
                for way_of, one in ((self._unknown, start), (way, end))
            )
            scaled[name] = {one: here * added for one, added in effects[name].items()}
            rest = here * last - before * first - sum(scaled[name].values())
            known = np.column_stack([~np.isnan(way.rows.columns[one]) for one in scaled[name]])
            known |= ~known.any(axis=1, keepdims=True)
            parts = known / known.sum(axis=1, keepdims=True)
            for one, part in zip(scaled[name], parts.T, strict=True):
                scaled[name][one] = scaled[name][one] + rest * part[:, None]
        return _added_up([tree.name for tree in trees], scaled)

    def _added_in_tree(self, tree: Tree, effects: Mapping[str, Effects], way: Walk) -> Effects:
        leaves = tree.evidence if tree.name in self._fusion_inputs else tree.belief
        before, here = self._unknown.described[tree.name], way.described[tree.name]
        slopes = _mean_slopes(tree, leaves, before, here)
        added: Effects = {}
        for attribute, slope, old, new in zip(tree.inputs, slopes, before, here, strict=True):
            moved = weighted_sum(slope, new - old)
            if attribute.origin not in effects:
                added[attribute.name] = moved
                continue
            below = effects[attribute.origin]
            if attribute.tree is None:
                parts = {name: weighted_sum(slope, one) for name, one in below.items()}
            else:
                parts = self._passed_on(moved, attribute, below, way)
            for name, part in parts.items():
                added[name] = added.get(name, 0.0) + part
        return added

    def _passed_on(self, moved: Float, word: Attribute, below: Effects, way: Walk) -> Effects:
        """Share what the words of a belief moved in proportion to what moved the belief."""
        distance = (way.signals[word.origin] - self._unknown.signals[word.origin])[:, word.place]
        moving = np.abs(distance) > _STILL
        per_unit = np.divide(1.0, distance, out=np.zeros_like(distance), where=moving)
        return {
            name: moved * (added[:, word.place] * per_unit)[:, None]
            for name, added in below.items()
        }

    def _believed(self, node: str, evidence: Effects, way: Walk) -> Effects:
        """Turn what was added as evidence into what was added to the belief."""
        means = _logarithmic_means(self._unknown.signals[node], way.signals[node])
        shares_of_means = means / means.sum(axis=1, keepdims=True)
        return {
            name: means * (added - (shares_of_means * added).sum(axis=1, keepdims=True))
            for name, added in evidence.items()
        }

    def _stacked(self, effects: Effects, way: Walk) -> Float:
        nothing = np.zeros((way.rows.n_rows, self._model.goal.size))
        names = [attribute.name for attribute in self._model.attributes]
        return np.stack([effects.get(name, nothing) for name in names], axis=1)


def _added_up(names: Iterable[str], effects: Mapping[str, Effects]) -> Effects:
    total: Effects = {}
    for child in names:
        for name, added in effects[child].items():
            total[name] = total[name] + added if name in total else added
    return total


def _mean_slopes(
    tree: Tree, leaves: Float, before: Sequence[Float], here: Sequence[Float]
) -> list[Float]:
    """Average the slopes of a tree's output on the way from some masses to others.

    Returns
    -------
    slopes : list of ndarray of shape (n_rows, n_focal_sets, n_goals)
        One per input: how the tree's output grows with each of the input's masses.
    """
    n_rows, n_goals = len(here[0]), leaves.shape[1]
    slopes = [np.zeros((n_rows, masses.shape[1], n_goals)) for masses in here]
    for point, weight in _quadrature(tree.shape.depth):
        between = [old + point * (new - old) for old, new in zip(before, here, strict=True)]
        reached, scores = shares(tree, between), averages(tree, leaves, between)
        for node in np.flatnonzero(tree.split >= 0).tolist():
            below = tree.children(node)
            slope = reached[node][None, :, None] * scores[below.start : below.stop]
            slopes[tree.split[node]] += weight * slope.transpose(1, 0, 2)
    return slopes


@cache
def _quadrature(depth: int) -> tuple[tuple[float, float], ...]:
    """Return points between 0 and 1 and their weights: exact for slopes of a tree so deep."""
    points, weights = np.polynomial.legendre.leggauss(max(1, -(-depth // 2)))
    return tuple(zip(((points + 1) / 2).tolist(), (weights / 2).tolist(), strict=True))


def _logarithmic_means(first: Float, second: Float) -> Float:
    """Return (b - a) / (log b - log a), which is a where both are equal."""
    first, second = np.broadcast_arrays(np.maximum(first, 1e-300), np.maximum(second, 1e-300))
    apart = np.log(second / first)
    close = np.abs(apart) < 1e-6
    exact = np.divide(second - first, apart, out=np.zeros_like(second), where=~close)
    # Close to each other the quotient loses its digits; the mean's series does not.
    return np.where(close, (first + second) / 2 * (1 - apart**2 / 12), exact)
