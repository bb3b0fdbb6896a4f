"""Learn an additive model from rows: select on a sample, fit to all rows, group, assemble."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError
from solah.learn.all_rows import assemble
from solah.learn.assembly import name_groups
from solah.learn.design import Design
from solah.learn.lost import fitted_to_losses, parts_of, with_raised_variances
from solah.learn.organisation import group_features
from solah.learn.sample import Sample, mean_and_error
from solah.learn.selection import choose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solah.dependence import Dependence
    from solah.kernels.arrays import Float
    from solah.learn.cone import Cone
    from solah.learn.lost import FittedRows
    from solah.learn.objective import Scores
    from solah.learn.recipe import AdditiveRecipe, GroupSettings
    from solah.learn.rows import Rows
    from solah.learn.selection import Choice
    from solah.learn.terms import SingleTerm, Term
    from solah.model import Model, Monotonic

    Tell = Callable[[str], None]


Clusters = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, and how it came about.

    Attributes
    ----------
    model : the model file
    choice : the settings chosen by cross-validation, and why
    clusters : the features that are used, in groups
    used : the features that rules use
    dependence : that of the columns; of those that are used where columns are many, or where the
        choice was given
    relevance : how far columns depend on the target, by name; with a choice, of those that are used
    """

    model: Model
    choice: Choice
    clusters: Clusters
    used: frozenset[str]
    dependence: Dependence
    relevance: Mapping[str, float]


def learn(
    rows: Rows,
    recipe: AdditiveRecipe,
    tell: Callable[[str], None] = lambda _: None,
    choice: Choice | None = None,
) -> Learned:
    """Learn an additive model of classes.

    Parameters
    ----------
    rows : Rows
        In memory, in files or on a cluster; columns in an order that is always the same.
    recipe : AdditiveRecipe
    tell : callable
        Called with every step.
    choice : Choice, default=None
        Earlier choices, to be taken as they are; None chooses by cross-validation.
    """
    most_rows = min(recipe.most_rows(len(rows.names)), rows.limits.many_rows)
    sample = Sample.draw(rows, most_rows)
    structure = settle(sample, recipe, tell, choice)
    drawn = rows.draw(recipe.groups.max_rows)
    asked = drawn
    is_wide = len(rows.names) > recipe.groups.max_columns
    if structure.used and (choice is not None or is_wide):  # all pairs would take longest
        asked = drawn.only([name for name in rows.names if name in structure.used])
    dependence = asked.dependence()
    relevance = dict(zip(dependence.names, dependence.relevance.tolist(), strict=True))
    if choice is None and asked is not drawn:
        relevance = dict(zip(rows.names, drawn.relevance().tolist(), strict=True))
    groups, clusters = find_groups(structure, rows, recipe.groups, dependence)
    if recipe.robust_to is not None:
        tell("fitting rows of which something is lost")
        together = clusters if recipe.robust_to == "groups" else ()
        structure = fitted_to_losses(structure, parts_of(structure.used, together))
    model = with_raised_variances(assemble(structure, rows, groups), sample, clusters)
    model = with_promises(model, recipe.monotonic)
    used = frozenset(structure.used)
    return Learned(model, structure.choice, clusters, used, dependence, relevance)


def with_promises(model: Model, promises: Sequence[Monotonic]) -> Model:
    """Let a model state the directions that it keeps: those of the features that it uses."""
    used = {feature.name for feature in model.features} if model.terms else set()
    return replace(model, monotonic=tuple(one for one in promises if one.feature in used))


def find_groups(
    structure: Structure,
    rows: Rows,
    settings: GroupSettings,
    dependence: Dependence | None = None,
) -> tuple[dict[str, tuple[str, ...]], Clusters]:
    """Return the groups by name, and the clusters of all features that are used.

    The dependence of the rows' columns is measured if it is None.
    """
    used = structure.used
    if settings.by_hand is not None:
        kept = [
            (name, tuple(member for member in members if member in used))
            for name, members in settings.by_hand
        ]
        groups: dict[str, tuple[str, ...]] = {}
        for name, members in kept:
            groups |= dict(name_groups([members])) if name is None else {name: members}
        return groups, tuple(members for _, members in kept if members)
    ordered = [name for name in rows.names if name in used]
    if settings.n_clusters is None or len(ordered) < 2:
        return {}, tuple((name,) for name in ordered)
    if dependence is None:
        dependence = rows.draw(settings.max_rows).only(ordered).dependence()
    known = [dependence.names.index(name) for name in ordered]
    places = group_features(dependence.matrix[np.ix_(known, known)], settings.n_clusters)
    clusters = tuple(tuple(ordered[place] for place in one) for one in places)
    return dict(name_groups(clusters)), clusters


@dataclass(frozen=True, eq=False)
class Structure:
    """Terms that were selected on a sample, with their weights there.

    Attributes
    ----------
    design : the terms over the sample
    reduced : the scores of the parameters that are left, term by term, and the bias
    shares : how first parameters are made of those that are left
    choice : the chosen settings, and why
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
        """The terms of single features that are left."""
        return [term for term in self.design.singles if term.n_rules]

    @property
    def used(self) -> set[str]:
        """The names of the features that are left."""
        return {term.vocabulary.feature.name for term in self.live_singles}

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
        """Whether training rows have no more loss than held-out rows, but for chance."""
        if self.choice.expected is None:
            return True
        expected, its_error = self.choice.expected
        sample = self.design.sample
        losses = sample.objective.losses(self.reduced.of(self.reduced_columns))
        mean, error = mean_and_error(losses, sample.weights, sample.pieces, sample.groups)
        return mean <= expected + 2 * math.hypot(error, its_error)

    def means_of(self, term: SingleTerm) -> Float:
        """Return the mean memberships of a feature's first words, and of missing readings."""
        return self.design.means[self.design.singles.index(term)]

    def high_mean(self, term: SingleTerm, boundary: int) -> float:
        """Return the mean of the high part of a feature."""
        return self.design.high_mean(term, boundary)

    def variances(self) -> dict[int, float]:
        """Return the variance of each term over the sample, by the term's id."""
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
    """Select and fit terms on a sample; what was chosen before need not be compared."""
    choice = (
        choose(sample, recipe, tell)
        if choice is None
        else replace(choice, path=(), expected=None, allowance=0.0)
    )
    design = Design.begin(sample, recipe.with_words(choice.words, choice.n_words))
    there = {term.vocabulary.feature.name for term in design.singles}
    for name in sorted(recipe.budget.required - there):
        raise DataError(
            f"required column {name!r} has only one value; drop it from 'required_features'"
        )
    tell("fitting the rules")
    design.fit_all(choice.strength, choice.n_pairs)
    # Fewer rules may suffice on all rows but one fold, and not on all rows: then more are tried.
    larger = [step.max_rules for step in choice.path if step.max_rules > (choice.max_rules or 0)]
    for max_rules in (choice.max_rules, *sorted(larger)):
        own = design.copied()
        reduced, path = own.reduced(choice.strength, max_rules, choice.allowance)
        structure = Structure(own, reduced, path.reduction(), choice)
        if max_rules is None or structure.is_as_good_as_expected:
            break
    return structure
