"""Choose words, strength, interactions and the number of rules of an additive model on folds.

One choice after another is made on the same folds. Every fold places its own words and ranks its
own products, so that no figure comes from rows that were trained on. The best of several
candidates looks better than it is, though. Each choice is therefore made again without each fold
in turn, and the loss of that fold with the choice of the others shows how much better.

Where there are more rows than it takes to choose words and pairs, the number of rules is chosen
with a model of three quarters of them, tested on the others, which no choice before has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.learn.design import Design, combined
from solah.learn.objective import PathStep
from solah.learn.sample import Fold, mean_and_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64
    from solah.learn.objective import Scores
    from solah.learn.recipe import (
        AdditiveRecipe,
        BudgetSettings,
        Strength,
        WordKind,
    )
    from solah.learn.sample import Sample
    from solah.learn.vocabulary import SplitGains

    Tell = Callable[[str], None]

_N_PARTS = 5
"""The parts of tested rows without folds; each in turn is held out from a choice."""


@dataclass(frozen=True)
class Choice:
    """The chosen settings.

    Attributes
    ----------
    words : the kind of words
    n_words : the number of words of a feature that are placed blindly, before any are joined
    strength : how strongly weights are penalised
    n_pairs : the number of pairs of features with rules
    max_rules : the most rules; None for any number
    path : the numbers of rules that were compared
    measured : how the figures of the path were measured
    within : the tolerance that let fewer rules count as good
    expected : the mean loss of held-out rows with that number of rules, and its standard error;
        None where nothing was held out
    allowance : by how much the mean loss may still rise before it is out of tolerance
    """

    words: WordKind
    n_words: int
    strength: Strength
    n_pairs: int
    max_rules: int | None
    path: tuple[PathStep, ...] = ()
    measured: str = ""
    within: str = ""
    expected: tuple[float, float] | None = None
    allowance: float = 0.0

    @property
    def chosen(self) -> PathStep:
        """The number of rules that was chosen from the path."""
        return next(step for step in self.path if step.is_chosen)

    @property
    def reason(self) -> str:
        """Why it is this number of rules, in a sentence; empty if none were compared."""
        if not self.path:
            return ""
        best = min(self.path, key=lambda step: step.loss)
        return (
            f"at most {self.chosen.max_rules} rules: the fewest whose {self.measured} "
            f"{best.metrics[1]} ({self.chosen.loss:.4g}) is within {self.within} of the best "
            f"({best.loss:.4g}, {best.max_rules} rules)"
        )

    @property
    def word_kind(self) -> str:
        """The placement of words, as users call it."""
        return self.words if self.words in ("quantile", "uniform") else "supervised"


def choose(sample: Sample, recipe: AdditiveRecipe, tell: Tell) -> Choice:
    """Compare what is open on folds of a sample."""
    budget, interactions = recipe.budget, recipe.interactions
    middle = recipe.strengths[len(recipe.strengths) // 2]
    is_open = len(recipe.strengths) > 1 or interactions.tried or budget.max_rules is None
    compared = sample.first(recipe.compared_rows)
    is_many = min(compared.n_rows, compared.weights.sum()) >= recipe.many_rows
    n_folds = recipe.n_folds_of_many if is_many and sample.groups is None else recipe.n_folds
    folds = compared.folds(n_folds) if is_open else []
    choice = Choice(
        recipe.words.kind, recipe.words.n_knots, middle, interactions.least, budget.max_rules
    )
    if len(folds) < 2:
        return choice
    comparison = _Comparison(folds, recipe, tell)
    choice = comparison.strength_and_pairs(replace(choice, words=comparison.words(middle)))
    can_be_few = choice.words in ("quantile", "uniform") and recipe.words.few_knots < choice.n_words
    if not is_many and can_be_few and comparison.are_few_enough(choice):
        choice = replace(choice, n_words=recipe.words.few_knots)
        choice = comparison.strength_and_pairs(choice)
    if budget.max_rules is not None:
        return choice
    n_tested = min(sample.n_rows // 4, sample.n_rows - compared.n_rows)
    # Of rare classes, more rows than their share are compared, and too few are left to test on.
    has_rare = compared.n_rows > recipe.compared_rows
    if n_tested >= recipe.least_tested and not has_rare and sample.groups is None:
        unseen = Fold(*sample.split(sample.n_rows - n_tested))
        comparison = _Comparison([unseen], recipe.with_words(choice.words, choice.n_words), tell)
    return comparison.rules(choice)


class Result(NamedTuple):
    """The losses and hits of held-out rows: ``(n_rows,)`` each."""

    losses: Float
    hits: Float

    @classmethod
    def together(cls, parts: Iterable[Result]) -> Result:
        """Join the results of folds."""
        losses, hits = zip(*parts, strict=True)
        return cls(np.concatenate(losses), np.concatenate(hits))

    def take(self, rows: NDArray[np.bool_]) -> Result:
        """Return the results of some rows."""
        return Result(self.losses[rows], self.hits[rows])


@dataclass(eq=False)
class HeldOut:
    """The tested rows of all folds.

    Attributes
    ----------
    weights, pieces, groups : (n_rows,) as :class:`~solah.learn.sample.Sample` has them
    folds : (n_rows,) the fold that each is tested in; with a single one, parts of its rows
    optimism : by how much losses are too low, and hits too high, because the best was chosen
    """

    weights: Float
    pieces: Int64
    groups: UInt64 | None
    folds: Int64
    optimism: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, tested: Sequence[Sample]) -> HeldOut:
        """Join the tested rows of folds."""
        groups = [one.groups for one in tested if one.groups is not None]
        if len(tested) > 1:
            folds = np.repeat(np.arange(len(tested)), [one.n_rows for one in tested])
        else:  # a choice is made again without each part of the rows
            folds = np.arange(tested[0].n_rows) % _N_PARTS
        return cls(
            np.concatenate([one.weights for one in tested]),
            np.concatenate([one.pieces for one in tested]),
            np.concatenate(groups) if groups else None,
            folds,
        )

    def take(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        return HeldOut(self.weights[rows], self.pieces[rows], groups, self.folds[rows])

    def mean(self, values: Float) -> tuple[float, float]:
        """Return the mean of a value per row, and its standard error."""
        return mean_and_error(values, self.weights, self.pieces, self.groups)

    def choose(self, select: Select, results: Sequence[Result]) -> int:
        """Select one of several results, and note how much better than it is that makes it look."""
        best = select([one.losses for one in results], self)
        losses, hits = np.zeros((2, len(self.weights)))
        for fold in np.unique(self.folds):
            is_other = self.folds != fold
            others = [one.losses[is_other] for one in results]
            chosen = results[select(others, self.take(is_other))]
            losses[~is_other] = (chosen.losses - results[best].losses)[~is_other]
            hits[~is_other] = (results[best].hits - chosen.hits)[~is_other]
        of_losses, of_hits = self.optimism
        self.optimism = of_losses + self.mean(losses)[0], of_hits + self.mean(hits)[0]
        return best


Select = Callable[[Sequence["Float"], HeldOut], int]
"""Selects one of several candidates by the losses of held-out rows."""


class _Step(NamedTuple):
    """A number of rules in one fold."""

    result: Result
    n_rules: int
    n_features: int


class _Trial:
    """One fold: what is learned from its training rows, and how good it is on the others."""

    def __init__(self, fold: Fold, recipe: AdditiveRecipe, gains: SplitGains | None = None) -> None:
        self.fold, self.recipe = fold, recipe
        self.design = Design.begin(fold.learned, recipe, gains)
        self.tested = self.design.columns_of(fold.tested)
        self._fitted: dict[tuple[Strength, int], Scores] = {}
        self._n_pairs = 0

    def test(self, strength: Strength, n_pairs: int = 0) -> Result:
        """Test the terms with this number of pairs."""
        scores = self._fit(strength, n_pairs)
        return self._result(scores.of(self.tested[:, : len(scores.weights)]))

    def _fit(self, strength: Strength, n_pairs: int) -> Scores:
        """Fit the single terms and pairs, which are added in stages."""
        if (strength, n_pairs) in self._fitted:
            return self._fitted[strength, n_pairs]
        design, added = self.design, 0
        for number in self.recipe.interactions.stages(n_pairs):
            if number > self._n_pairs:
                design.scores = self._fit(strength, added)
                before, self._n_pairs = len(design.terms), number
                design.add_pairs(number)
                more = design.columns_of(self.fold.tested, design.terms[before:])
                self.tested = np.hstack([self.tested, more])
            added = number
        if n_pairs < self._n_pairs:
            design = design.again(n_pairs)
        known = [one for (_, number), one in self._fitted.items() if number == n_pairs]
        if known:
            design.scores = known[-1]
        self._fitted[strength, n_pairs] = design.fit(strength, is_rough=True)
        return self._fitted[strength, n_pairs]

    def walk(self, choice: Choice, n_rules: Sequence[int]) -> list[_Step]:
        """Test fewer and fewer rules."""
        strength = choice.strength
        scores, of_singles = self._fit(strength, choice.n_pairs), self._fit(strength, 0)
        design = self.design.again(choice.n_pairs)
        tested = self.tested[:, : len(scores.weights)]
        design.scores = scores
        if design.add_missing(of_singles.of(design.columns[:, : len(of_singles.weights)])):
            design.fit(strength, is_rough=True)
            tested = design.columns_of(self.fold.tested)
        path = design.path(strength)
        found: list[_Step] = []
        for max_rules in n_rules:
            before = path.n_rules
            path.walk(max_rules)
            if self.recipe.budget.max_features is not None:
                path.drop_features(self.recipe.budget.max_features)
            if found and path.n_rules == before:
                found.append(found[-1])
                continue
            scores = design.refit(path, strength, is_rough=True)
            totals = scores.of(combined(tested, path.reduction()))
            found.append(_Step(self._result(totals), path.n_rules, len(path.features)))
        return found

    def loss_of_nothing(self) -> Float:
        """Return the losses of the tested rows where nothing is read."""
        begin = self.fold.learned.objective.begin(self.fold.learned.weights)
        totals = np.tile(begin, (self.fold.tested.n_rows, 1))
        return self.fold.tested.objective.losses(totals)

    def _result(self, totals: Float) -> Result:
        objective = self.fold.tested.objective
        return Result(objective.losses(totals), objective.hits(totals))


@dataclass(frozen=True, eq=False)
class _Tolerance:
    """How far above the lowest loss numbers of rules may be.

    Attributes
    ----------
    means : (n_steps,) the mean losses, from many rules to few
    errors : (n_steps,) the standard errors of how much higher they are than the lowest
    explained, remaining : the tolerances that do not depend on errors; the smaller counts
    budget : how much of each is allowed
    """

    means: Float
    errors: Float
    explained: float
    remaining: float
    budget: BudgetSettings

    @classmethod
    def of(cls, losses: Sequence[Float], rows: HeldOut, budget: BudgetSettings) -> _Tolerance:
        """Measure losses of numbers of rules; the last ones are those of no rule at all."""
        *losses, nothing = losses
        means = np.array([rows.mean(one)[0] for one in losses])
        best = losses[int(np.argmin(means))]
        errors = np.array([rows.mean(one - best)[1] for one in losses])
        lowest = float(means.min())
        explained = budget.tolerance * max(rows.mean(nothing)[0] - lowest, 0.0)
        return cls(means, errors, explained, budget.tolerance_of_loss * lowest, budget)

    @property
    def limits(self) -> Float:
        """The highest mean loss that each number of rules may have."""
        fixed = min(self.explained, self.remaining)
        limits = self.means.min() + np.maximum(self.budget.errors * self.errors, fixed)
        if self.budget.steps[-1] == 0:  # rules must prove that they are better than none
            limits[-1] = self.means.min() + self.budget.errors_of_any * self.errors[-1]
        return np.asarray(limits)

    def select(self) -> int:
        """Return the place of the fewest rules within tolerance."""
        return int(np.flatnonzero(self.means <= self.limits).max())

    def criterion(self, place: int) -> str:
        """Name the tolerance that lets a number of rules count as good."""
        is_none = self.budget.steps[place] == 0
        errors = self.budget.errors_of_any if is_none else self.budget.errors
        if is_none or self.means[place] <= self.means.min() + errors * self.errors[place]:
            return f"{errors:g} standard errors"
        if self.explained <= self.remaining:
            return f"{100 * self.budget.tolerance:g}% of the explained loss"
        return f"{100 * self.budget.tolerance_of_loss:g}% of the lowest loss"


def _lowest(losses: Sequence[Float], rows: HeldOut) -> int:
    return int(np.argmin([rows.mean(one)[0] for one in losses]))


class _Comparison:
    """Folds on which one choice after another is made."""

    def __init__(self, folds: Sequence[Fold], recipe: AdditiveRecipe, tell: Tell) -> None:
        self.folds, self.recipe, self.tell = folds, recipe, tell
        self.held_out = HeldOut.of([fold.tested for fold in folds])
        self.trials: list[_Trial] = []

    def words(self, strength: Strength) -> WordKind:
        """Take learned words only where they are clearly better than blind ones."""
        recipe, kind = self.recipe, self.recipe.words.kind
        if kind != "auto":
            self.trials = [_Trial(fold, recipe) for fold in self.folds]
            return kind
        self.tell("comparing words")
        n_words = recipe.words.n_knots
        blind = [_Trial(fold, recipe.with_words("quantile", n_words)) for fold in self.folds]
        learned = [
            _Trial(one.fold, recipe.with_words("both", n_words), one.design.gains) for one in blind
        ]
        results = [
            Result.together(trial.test(strength) for trial in trials) for trials in (blind, learned)
        ]

        def select(losses: Sequence[Float], rows: HeldOut) -> int:
            gain, error = rows.mean(losses[1] - losses[0])
            return int(gain < -recipe.words.errors * error)

        is_learned = self.held_out.choose(select, results)
        self.trials = learned if is_learned else blind
        return "both" if is_learned else "quantile"

    def are_few_enough(self, choice: Choice) -> bool:
        """Compare few words with many, as models of few rules; keep few if they are as good."""
        self.tell("comparing few words")
        settings = self.recipe.words
        recipe = self.recipe.with_words(choice.words, settings.few_knots)
        few = [_Trial(one.fold, recipe, one.design.gains) for one in self.trials]
        n_rules, results = settings.compared_rules, list[Result]()
        for trials in (few, self.trials):
            walked = [trial.walk(choice, n_rules) for trial in trials]
            results += [
                Result.together(one[k].result for one in walked) for k in range(len(n_rules))
            ]
        best = self.held_out.choose(_lowest, results)
        is_few = best < len(n_rules)
        self.trials = few if is_few else self.trials
        return is_few

    def strength_and_pairs(self, choice: Choice) -> Choice:
        """Choose what is open of the strength and of the number of pairs."""
        if len(self.recipe.strengths) > 1:
            choice = replace(choice, strength=self.strength(choice.strength, 0))
        if self.recipe.interactions.tried:
            choice = replace(choice, n_pairs=self.pairs(choice.strength))
        if choice.n_pairs and len(self.recipe.strengths) > 1:
            choice = replace(choice, strength=self.strength(choice.strength, choice.n_pairs))
        return choice

    def strength(self, start: Strength, n_pairs: int) -> Strength:
        """Go from a strength on in the direction in which the loss falls."""
        strengths, results = self.recipe.strengths, dict[int, Result]()

        def loss(place: int) -> float:
            if place not in results:
                one = strengths[place]
                self.tell(f"comparing strengths: {one.ridge:g}, {one.smooth:g}")
                results[place] = Result.together(trial.test(one, n_pairs) for trial in self.trials)
            return self.held_out.mean(results[place].losses)[0]

        best = strengths.index(start)
        for step in (1, -1):
            while 0 <= best + step < len(strengths) and loss(best + step) < loss(best):
                best += step
        places = sorted(results)
        chosen = self.held_out.choose(_lowest, [results[place] for place in places])
        return strengths[places[chosen]]

    def pairs(self, strength: Strength) -> int:
        """Choose the number of pairs with the lowest loss, if that is clearly lower."""
        settings, held_out, trials = self.recipe.interactions, self.held_out, self.trials
        numbers, results, misses = [settings.least, *settings.tried], list[Result](), 0
        for n_pairs in numbers:
            if results:
                self.tell(f"comparing interactions: {n_pairs}")
            found = Result.together(trial.test(strength, n_pairs) for trial in trials)
            results.append(found)
            if len(results) == 1:
                lowest = found.losses
                continue
            gain, error = held_out.mean(found.losses - lowest)
            misses += gain > error
            if gain < 0:
                lowest = found.losses
            elif misses > 1:
                break

        def select(losses: Sequence[Float], rows: HeldOut) -> int:
            best = _lowest(losses, rows)
            gain, error = rows.mean(losses[best] - losses[0])
            return best if gain < -settings.errors * error else 0

        return numbers[held_out.choose(select, results)]

    def rules(self, choice: Choice) -> Choice:
        """Select the fewest rules within tolerance of the best."""
        self.tell("comparing numbers of rules")
        held_out, budget = self.held_out, self.recipe.budget
        self.trials = self.trials or [_Trial(fold, self.recipe) for fold in self.folds]
        steps = budget.steps
        walked = [trial.walk(choice, steps) for trial in self.trials]
        results = [Result.together(one[k].result for one in walked) for k in range(len(steps))]
        nothing = np.concatenate([trial.loss_of_nothing() for trial in self.trials])
        found = _Tolerance.of([*(one.losses for one in results), nothing], held_out, budget)

        def select(losses: Sequence[Float], rows: HeldOut) -> int:
            return _Tolerance.of(losses, rows, budget).select()

        chosen = held_out.choose(select, [*results, Result(nothing, np.zeros_like(nothing))])
        too_low, too_high = np.zeros((2, len(steps)))
        # A model without rules has nothing that was chosen, so that only rules look too good.
        too_low[np.array(steps) > 0], too_high[np.array(steps) > 0] = held_out.optimism
        if steps[-1] == 0 and (found.means + too_low)[chosen] >= found.means[-1]:
            chosen = len(steps) - 1
        losses, objective = found.means + too_low, self.folds[0].tested.objective
        path = []
        for k, max_rules in enumerate(steps):
            hits, of_hits = held_out.mean(results[k].hits)
            loss, hits = float(losses[k]), hits - float(too_high[k])
            of_loss = held_out.mean(results[k].losses)[1]
            step = PathStep(
                max_rules=max_rules,
                n_rules=float(np.mean([one[k].n_rules for one in walked])),
                n_features=float(np.mean([one[k].n_features for one in walked])),
                is_chosen=k == chosen,
                quality_error=of_hits,
                loss_error=objective.metrics(loss, hits, of_loss)["error"],
                **objective.metrics(loss, hits, float(found.errors[k])),
            )
            path.append(step)
        return replace(
            choice,
            max_rules=steps[chosen],
            path=tuple(path),
            measured="cross-validated" if held_out.groups is None else "group cross-validated",
            within=found.criterion(chosen),
            expected=(float(losses[chosen]), held_out.mean(results[chosen].losses)[1]),
            allowance=float(max(found.limits[chosen] - found.means[chosen], 0.0)),
        )
