"""Settles words, strengths, interactions and the number of rules of an additive model out of fold.

One thing after another is compared on the same folds: how strongly scores are held back, how many
products of attributes are worth it, and how few rules do. Every fold places its own words and ranks
its own products, so that nothing is judged by rows it has learnt from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.exceptions import DataError
from solah.learn.design import Design
from solah.learn.sample import mean_and_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.learn.cone import Cone
    from solah.learn.cuts import SplitGains
    from solah.learn.lost import FittedRows
    from solah.learn.objective import PathStep, Scores
    from solah.learn.recipe import AdditiveRecipe, InteractionSettings, Strength, WordKind
    from solah.learn.sample import Fold, Sample
    from solah.learn.terms import SingleTerm, Term

    Tell = Callable[[str], None]


@dataclass(frozen=True)
class Choice:
    """What was settled.

    Attributes
    ----------
    words : the kind of words
    strength : how strongly scores are held back
    n_products : how many products of two attributes there are
    max_rules : the most rules; None for any number
    path : the numbers of rules that were compared
    reason : why, in a sentence
    expected : the mean loss of held-out rows with that number of rules, and its standard error;
        None where nothing was held out
    allowance : by how much the mean loss may still rise before it is out of tolerance
    """

    words: WordKind
    strength: Strength
    n_products: int
    max_rules: int | None
    path: tuple[PathStep, ...] = ()
    reason: str = ""
    expected: tuple[float, float] | None = None
    allowance: float = 0.0

    @property
    def word_kind(self) -> str:
        """Where words stand, as users call it."""
        return self.words if self.words in ("quantile", "uniform") else "learnt"


@dataclass(frozen=True, eq=False)
class Structure:
    """Terms that were settled on a sample, with their scores there.

    Attributes
    ----------
    design : the terms over the sample
    reduced : the scores of the parameters that are left, term by term, and the bias
    shares : how first parameters are made of those that are left
    choice : what was settled, and why
    with_copies : the rows, beside copies of which something is lost; None where nothing may be lost
    """

    design: Design
    reduced: Scores
    shares: Float
    choice: Choice
    with_copies: FittedRows | None = None

    @property
    def n_outputs(self) -> int:
        """How many scores a rule has."""
        return int(self.reduced.weights.shape[1])

    @property
    def live(self) -> list[Term]:
        """The terms that are left."""
        return [term for term in self.design.terms if term.n_rules]

    @property
    def live_singles(self) -> list[SingleTerm]:
        """The terms of single attributes that are left."""
        return [term for term in self.design.singles if term.n_rules]

    @property
    def used(self) -> set[str]:
        """The names of the attributes that are left."""
        return {term.vocabulary.attribute.name for term in self.live_singles}

    @cached_property
    def reduced_columns(self) -> Float:
        """The columns of the parameters that are left."""
        return np.asarray(self.design.columns @ self.shares)

    @property
    def reduced_penalty(self) -> Float:
        """The price of the parameters that are left."""
        penalty = self.design.penalty(self.choice.strength)
        return np.asarray(self.shares.T @ penalty @ self.shares)

    @property
    def reduced_cone(self) -> Cone | None:
        """What scores of the parameters that are left are allowed."""
        cone = self.design.cone()
        return None if cone is None else cone.reduced(self.shares)

    @property
    def is_as_good_as_expected(self) -> bool:
        """Whether rows learnt from have no more loss than rows not learnt from, but for chance."""
        if self.choice.expected is None:
            return True
        expected, its_error = self.choice.expected
        sample = self.design.sample
        losses = sample.objective.losses(self.reduced.of(self.reduced_columns))
        mean, error = mean_and_error(losses, sample.weights, sample.pieces, sample.groups)
        return mean <= expected + 2 * math.hypot(error, its_error)

    def means_of(self, term: SingleTerm) -> Float:
        """Return the mean memberships of an attribute's first words, and of missing readings."""
        return self.design.means[self.design.singles.index(term)]

    def high_mean(self, term: SingleTerm, boundary: int) -> float:
        """Return the mean of the high part of an attribute."""
        return self.design.high_mean(term, boundary)

    def variances(self) -> dict[int, float]:
        """Return how the evidence of each term varies over the sample, by the term's id."""
        weights = self.design.sample.weights / self.design.sample.weights.sum()
        found, at = {}, 0
        for term in self.live:
            width = term.reduction().shape[1]
            part = slice(at, at + width)
            evidence = self.reduced_columns[:, part] @ self.reduced.weights[part]
            if self.n_outputs > 1:
                evidence = evidence - evidence.mean(axis=1, keepdims=True)
            evidence = evidence - weights @ evidence
            found[id(term)] = float((weights @ evidence**2).mean())
            at += width
        return found


def settle(
    sample: Sample,
    recipe: AdditiveRecipe,
    tell: Tell = lambda _: None,
    choice: Choice | None = None,
) -> Structure:
    """Settle an additive model on a sample; what was chosen before need not be compared."""
    choice = choose(sample, recipe, tell) if choice is None else replace(choice, path=(), expected=None, allowance=0.0)
    recipe = recipe.with_words(choice.words)
    design = Design.begin(sample, recipe)
    _check_required(design, recipe)
    tell("fitting the rules")
    _fit(design, recipe, choice.strength, choice.n_products)
    for max_rules in _allowed(choice):
        structure = _reduced(design.again_fitted(), recipe, choice, max_rules)
        if max_rules is None or structure.is_as_good_as_expected:
            break
    return structure


def _check_required(design: Design, recipe: AdditiveRecipe) -> None:
    """Refuse an attribute that must stay and tells nothing, as it never changes."""
    there = {term.vocabulary.attribute.name for term in design.singles}
    for name in sorted(recipe.budget.required - there):
        raise DataError(f"column {name!r} is required, and its known readings never change")


def _allowed(choice: Choice) -> list[int | None]:
    """List the numbers of rules to try: that chosen, then larger ones.

    Fewer rules may suffice on all rows but one fold, and not on all rows.
    """
    larger = [step.max_rules for step in choice.path if step.max_rules > (choice.max_rules or 0)]
    return [choice.max_rules, *sorted(larger)]


def _reduced(
    design: Design, recipe: AdditiveRecipe, choice: Choice, max_rules: int | None
) -> Structure:
    """Go to so many rules, and fit what is left."""
    path = design.path(choice.strength, _prices(design.sample, recipe))
    if max_rules is not None:
        path.walk(max_rules)
    if recipe.budget.max_attributes is not None:
        path.drop_attributes(recipe.budget.max_attributes)
    path.drop_idle(choice.allowance * float(design.sample.weights.sum()))
    reduced = design.refit(path, choice.strength)
    return Structure(design, reduced, path.reduction(), choice)


def choose(sample: Sample, recipe: AdditiveRecipe, tell: Tell) -> Choice:
    """Compare what is open on folds of a sample."""
    budget, interactions = recipe.budget, recipe.interactions
    middle = recipe.strengths[len(recipe.strengths) // 2]
    n_products = interactions.least
    is_open = len(recipe.strengths) > 1 or interactions.tried or budget.max_rules is None
    compared = sample.first(recipe.compared_rows)
    is_many = compared.n_rows >= recipe.many_rows
    n_folds = recipe.n_folds_of_many if is_many and sample.groups is None else recipe.n_folds
    folds = compared.folds(n_folds) if is_open else []
    if len(folds) < 2:
        reason = "there are too few rows to compare numbers of rules" if is_open else ""
        return Choice(recipe.words.kind, middle, n_products, budget.max_rules, (), reason)
    words, trials = _choose_words(folds, recipe, middle, tell)
    strength, base = middle, None
    if len(recipe.strengths) > 1:
        strength, base = _choose_strength(trials, recipe.strengths, tell)
    if interactions.tried:
        n_products = _choose_products(trials, strength, base, interactions, tell)
    if budget.max_rules is not None:
        return Choice(words, strength, n_products, budget.max_rules)
    tell("comparing numbers of rules")
    return _choose_rules(trials, words, strength, n_products, recipe)


class _Step(NamedTuple):
    """The losses and hits of the rows tested, and how many rules and attributes there are."""

    losses: Float
    hits: Float
    n_rules: int
    n_attributes: int


class _Trial:
    """One fold: what is learnt from its rows, and how it does on the others."""

    def __init__(self, fold: Fold, recipe: AdditiveRecipe, gains: SplitGains | None = None) -> None:
        self.fold, self.recipe = fold, recipe
        self.design = Design.begin(fold.learnt, recipe, gains)
        self.tested = self.design.columns_of(fold.tested)
        self.fitted: dict[Strength, Scores] = {}
        self.weights = fold.tested.weights

    def try_strength(self, strength: Strength) -> Float:
        """Return the losses of the tested rows."""
        if strength not in self.fitted:
            self.fitted[strength] = self.design.fit(strength, is_rough=True)
        return self._losses(self.fitted[strength], self.tested)

    def begin_products(self, strength: Strength) -> None:
        """Go on from what the single terms leave."""
        self.design.scores = self.fitted.get(strength)
        if self.design.scores is None:
            self.design.fit(strength, is_rough=True)

    def try_products(self, strength: Strength, n_products: int) -> Float:
        """Return the losses of the tested rows with so many products."""
        self.design.add_products(n_products, self.recipe.interactions)
        scores = self.design.fit(strength, is_rough=True)
        return self._losses(scores, self.design.columns_of(self.fold.tested))

    def walk(self, strength: Strength, n_products: int) -> list[_Step]:
        """Go the way to few rules; return what each step is worth."""
        design = self.design.again()
        design.scores = self.fitted.get(strength) or design.fit(strength, is_rough=True)
        design.add_missing(self.recipe.missing_statistic)
        design.take_products(self.design, n_products)
        design.fit(strength, is_rough=True)
        tested = design.columns_of(self.fold.tested)
        path = design.path(strength, _prices(self.fold.learnt, self.recipe))
        found: list[_Step] = []
        for max_rules in self.recipe.budget.steps:
            before = path.n_rules
            path.walk(max_rules)
            if self.recipe.budget.max_attributes is not None:
                path.drop_attributes(self.recipe.budget.max_attributes)
            if found and path.n_rules == before:
                found.append(found[-1])
                continue
            totals = design.refit(path, strength, is_rough=True).of(tested @ path.reduction())
            objective = self.fold.tested.objective
            worth = objective.losses(totals), objective.hits(totals)
            found.append(_Step(*worth, path.n_rules, len(path.attributes)))
        return found

    def loss_of_nothing(self) -> Float:
        """Return the losses of the tested rows where nothing is read."""
        begin = self.fold.learnt.objective.begin(self.fold.learnt.weights)
        totals = np.tile(begin, (self.fold.tested.n_rows, 1))
        return self.fold.tested.objective.losses(totals)

    def _losses(self, scores: Scores, columns: Float) -> Float:
        return self.fold.tested.objective.losses(scores.of(columns))


def _fit(design: Design, recipe: AdditiveRecipe, strength: Strength, n_products: int) -> None:
    """Fit the single terms, then those of missing readings and of pairs; few rules come later."""
    design.fit(strength, is_rough=True)
    design.add_missing(recipe.missing_statistic)
    if design.scores is None:
        design.fit(strength, is_rough=True)
    for number in recipe.interactions.stages(n_products):
        design.add_products(number, recipe.interactions)
        design.fit(strength, is_rough=True)


def _choose_words(
    folds: Sequence[Fold], recipe: AdditiveRecipe, strength: Strength, tell: Tell
) -> tuple[WordKind, list[_Trial]]:
    """Take learnt words only where they are clearly better than blind ones, which vary less."""
    kind = recipe.words.kind
    if kind != "auto":
        return kind, [_Trial(fold, recipe) for fold in folds]
    tell("comparing words")
    blind = [_Trial(fold, recipe.with_words("quantile")) for fold in folds]
    learnt = [_Trial(one.fold, recipe.with_words("both"), one.design.gains) for one in blind]
    gain, error = _difference(
        _together(trial.try_strength(strength) for trial in learnt),
        _together(trial.try_strength(strength) for trial in blind),
        blind,
    )
    is_better = gain < -recipe.words.errors * error
    return ("both", learnt) if is_better else ("quantile", blind)


def _choose_strength(
    trials: Sequence[_Trial], strengths: Sequence[Strength], tell: Tell
) -> tuple[Strength, Float]:
    """Go from the middle on in the direction in which the loss falls."""
    losses: dict[int, Float] = {}

    def loss(place: int) -> float:
        if place not in losses:
            one = strengths[place]
            tell(f"comparing strengths: {one.ridge:g}, {one.smooth:g}")
            losses[place] = _together(trial.try_strength(one) for trial in trials)
        return _mean(losses[place], trials)

    best = len(strengths) // 2
    for step in (1, -1):
        while 0 <= best + step < len(strengths) and loss(best + step) < loss(best):
            best += step
    return strengths[best], losses[best]


def _choose_products(
    trials: Sequence[_Trial],
    strength: Strength,
    base: Float | None,
    settings: InteractionSettings,
    tell: Tell,
) -> int:
    """Choose the number of products with the least loss; the fewest, if it is not clearly less."""
    for trial in trials:
        trial.begin_products(strength)
    if base is None or settings.least:
        base = _together(trial.try_products(strength, settings.least) for trial in trials)
    best, least = settings.least, base
    for n_products in settings.tried:
        tell(f"comparing interactions: {n_products}")
        losses = _together(trial.try_products(strength, n_products) for trial in trials)
        gain, error = _difference(losses, least, trials)
        if gain < 0:
            best, least = n_products, losses
        elif gain > error:
            break
    gain, error = _difference(least, base, trials)
    return best if gain < -settings.errors * error else settings.least


def _choose_rules(
    trials: Sequence[_Trial],
    words: WordKind,
    strength: Strength,
    n_products: int,
    recipe: AdditiveRecipe,
) -> Choice:
    """Take the fewest rules that rows cannot tell from the best."""
    walked = [trial.walk(strength, n_products) for trial in trials]
    steps = recipe.budget.steps
    losses = [_together(found[k].losses for found in walked) for k in range(len(steps))]
    hits = [_together(found[k].hits for found in walked) for k in range(len(steps))]
    means = [_mean(one, trials) for one in losses]
    best = int(np.argmin(means))
    objective = trials[0].fold.tested.objective
    errors = [_difference(one, losses[best], trials)[1] for one in losses]
    path = [
        objective.step(
            means[k],
            _mean(hits[k], trials),
            errors[k],
            max_rules=max_rules,
            n_rules=float(np.mean([found[k].n_rules for found in walked])),
            n_attributes=float(np.mean([found[k].n_attributes for found in walked])),
        )
        for k, max_rules in enumerate(steps)
    ]
    nothing = _mean(_together(trial.loss_of_nothing() for trial in trials), trials)
    budget = recipe.budget
    explained = budget.tolerance * max(nothing - means[best], 0.0)
    slack = min(explained, budget.tolerance_of_loss * means[best])
    tolerances = [max(budget.errors * error, slack) for error in errors]
    as_good = [k for k, mean in enumerate(means) if mean <= means[best] + tolerances[k]]
    chosen = max(as_good)  # the steps go from many rules to few
    last = len(steps) - 1
    if steps[last] == 0 and means[last] <= means[best] + budget.errors_of_any * errors[last]:
        chosen = last
    path[chosen] = replace(path[chosen], is_chosen=True)
    if chosen == last and chosen not in as_good:
        within = f"{budget.errors_of_any:g} standard errors"
    elif means[chosen] <= means[best] + budget.errors * errors[chosen]:
        within = f"{budget.errors:g} standard errors"
    elif slack == explained:
        within = f"{budget.tolerance:.0%} of the explained loss"
    else:
        within = f"{budget.tolerance_of_loss:.0%} of the loss"
    expected = _difference(losses[chosen], np.zeros_like(losses[chosen]), trials)
    allowance = max(means[best] + tolerances[chosen] - means[chosen], 0.0)
    how = "cross-validated" if trials[0].fold.tested.groups is None else "group cross-validated"
    reason = (
        f"{steps[chosen]} rules: the fewest whose {how} {path[best].metrics[1]} "
        f"({path[chosen].loss:.4g}) is within {within} of the best "
        f"({path[best].loss:.4g}, {steps[best]} rules)"
    )
    return Choice(words, strength, n_products, steps[chosen], tuple(path), reason, expected, allowance)


def _prices(sample: Sample, recipe: AdditiveRecipe) -> Mapping[int, float]:
    """Return what attributes cost, by their places."""
    costs = recipe.budget.costs
    return {
        place: costs[attribute.name]
        for place, attribute in enumerate(sample.attributes)
        if attribute.name in costs
    }


def _together(parts: object) -> Float:
    return np.concatenate(list(parts))  # type: ignore[call-overload]


def _weights(trials: Sequence[_Trial]) -> Float:
    return np.concatenate([trial.weights for trial in trials])


def _mean(values: Float, trials: Sequence[_Trial]) -> float:
    weights = _weights(trials)
    return float(weights @ values / weights.sum())


def _difference(first: Float, second: Float, trials: Sequence[_Trial]) -> tuple[float, float]:
    """Return the mean of a difference over all tested rows, and its standard error."""
    tested = [trial.fold.tested for trial in trials]
    groups = [one.groups for one in tested if one.groups is not None]
    return mean_and_error(
        first - second,
        _weights(trials),
        np.concatenate([one.pieces for one in tested]),
        np.concatenate(groups) if groups else None,
    )
