"""Learns an additive model: rows and a recipe in, a model out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.learn.additive import settle
from solah.learn.all_rows import assemble
from solah.learn.assembly import name_groups
from solah.learn.grouping import group_attributes
from solah.learn.lost import fitted_to_losses, parts_of, with_raised_variances
from solah.learn.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solah.dependence import Dependence
    from solah.learn.additive import Structure
    from solah.learn.recipe import AdditiveRecipe, GroupSettings
    from solah.learn.rows import Rows
    from solah.learn.selection import Choice
    from solah.model import Model, Monotonic

Clusters = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Learnt:
    """A model, and how it came about.

    Attributes
    ----------
    model : the model document
    choice : what was settled out of fold, and why
    clusters : the attributes that are used, in groups
    used : the attributes that rules use
    dependence : that of the columns; of those that are used where columns are many, or where the
        choice was given
    relevance : how far columns depend on the goal, by name; with a choice, of those that are used
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
) -> Learnt:
    """Learn an additive model of classes.

    Parameters
    ----------
    rows : Rows
        In memory, in files or on a cluster; columns in an order that is always the same.
    recipe : AdditiveRecipe
    tell : callable
        Told of every step.
    choice : Choice, default=None
        What was settled before, to be taken as it is; None compares out of fold.
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
    return Learnt(model, structure.choice, clusters, used, dependence, relevance)


def with_promises(model: Model, promises: Sequence[Monotonic]) -> Model:
    """Let a model state the directions that it keeps: those of the attributes that it uses."""
    used = {attribute.name for attribute in model.attributes} if model.terms else set()
    return replace(model, monotonic=tuple(one for one in promises if one.attribute in used))


def find_groups(
    structure: Structure,
    rows: Rows,
    settings: GroupSettings,
    dependence: Dependence | None = None,
) -> tuple[dict[str, tuple[str, ...]], Clusters]:
    """Return the groups by name, and the clusters of all attributes that are used.

    The dependence of the rows' columns is measured if it is not known.
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
    places = group_attributes(dependence.matrix[np.ix_(known, known)], settings.n_clusters)
    clusters = _named(places, ordered)
    return dict(name_groups(clusters)), clusters


def _named(places: Sequence[Sequence[int]], names: Sequence[str]) -> Clusters:
    return tuple(tuple(names[place] for place in one) for one in places)
