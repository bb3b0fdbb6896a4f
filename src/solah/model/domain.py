"""Compares rows with what the training rows held: ranges of readings, and cells seen together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.limits import MOST_NUMBER, are_apart
from solah.model.policy import MOST_CUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.model.attributes import Attribute
    from solah.model.document import Goal
    from solah.model.policy import Cells, Domain, Policy

MOST_PAIRS = 255


def cell_cuts(attribute: Attribute, cells: Cells) -> tuple[float, ...] | None:
    """Return the cuts that a reading is compared with; None if it is the number of its cell.

    States that are measured, as those of a numeric ordinal, are cut half way between neighbours.
    """
    if attribute.is_continuous:
        return cells.cuts
    if attribute.is_coded:
        return None
    return tuple((low + high) / 2 for low, high in pairwise(attribute.peaks))


def n_cells(attribute: Attribute, cells: Cells) -> int:
    """Count the cells of an attribute."""
    cuts = cell_cuts(attribute, cells)
    return attribute.n_focal_sets if cuts is None else len(cuts) + 1


def cells_of(attribute: Attribute, cells: Cells, readings: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the number of each reading's cell; -1 where it is unknown.

    Examples
    --------
    >>> from solah.model.attributes import cored_attribute
    >>> from solah.model.policy import Cells
    >>> words = cored_attribute("heat", ("any",), [(-np.inf, np.inf)], (1.0,), 0.0, 9.0)
    >>> cells_of(words, Cells("heat", 0.0, 9.0, (2.0, 5.0)), np.array([1.0, 2.0, 9.0, np.nan]))
    array([ 0,  1,  2, -1])
    """
    cuts = cell_cuts(attribute, cells)
    is_known = ~np.isnan(readings)
    known = readings[is_known]
    places = np.full(len(readings), -1, dtype=np.intp)
    places[is_known] = known if cuts is None else np.searchsorted(cuts, known, side="right")
    return places


def is_out_of_range(cells: Cells, readings: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which readings lie beyond those of the training rows; unknown ones and states do not."""
    if cells.low is None or cells.high is None:
        return np.zeros(len(readings), dtype=bool)
    return np.asarray((readings < cells.low) | (readings > cells.high))


def unseen_pairs(
    domain: Domain,
    attributes: Sequence[Attribute],
    readings: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.bool_]:
    """Tell which pairs of cells never occurred together: ``(n_rows, n_pairs)``.

    Parameters
    ----------
    domain : Domain
    attributes : sequence of Attribute
        The model's.
    readings : mapping of attribute name to ndarray of shape (n_rows,)
        As :func:`solah.model.encode.code` has them: NaN is unknown. Of a pair with an unknown
        reading nothing is told.
    """
    n_rows = len(next(iter(readings.values())))
    asked = {name for pair in domain.pairs for name in (pair.first, pair.second)}
    places = {
        one.name: cells_of(one, cells, readings[one.name])
        for one, cells in zip(attributes, domain.cells, strict=True)
        if one.name in asked
    }
    unseen = np.zeros((n_rows, len(domain.pairs)), dtype=bool)
    for number, pair in enumerate(domain.pairs):
        first, second = places[pair.first], places[pair.second]
        are_known = (first >= 0) & (second >= 0)
        unseen[:, number] = are_known & ~np.array(pair.seen)[first, second]
    return unseen


def check_domain(domain: Domain, attributes: Sequence[Attribute]) -> None:
    """Raise a ParameterError if a domain is not one of a model with these attributes."""
    by_name = {one.name: one for one in attributes}
    names = [cells.name for cells in domain.cells]
    if names != list(by_name):
        for strange in (name for name in names if name not in by_name):
            near = did_you_mean(strange, by_name)
            raise ParameterError(f"the model has no attribute {shorten(strange)}{near}")
        raise ParameterError(
            "there must be cells for each attribute of the model, in the same order"
        )
    for cells in domain.cells:
        _check_cells(cells, by_name[cells.name])
    sizes = {cells.name: n_cells(by_name[cells.name], cells) for cells in domain.cells}
    if len(domain.pairs) > MOST_PAIRS:
        raise ParameterError(f"there are {len(domain.pairs)} pairs, and may be {MOST_PAIRS}")
    paired: set[frozenset[str]] = set()
    for pair in domain.pairs:
        both = frozenset((pair.first, pair.second))
        for strange in sorted(both - sizes.keys()):
            near = did_you_mean(strange, sizes)
            raise ParameterError(f"the model has no attribute {shorten(strange)}{near}")
        told = f"the pair {shorten(pair.first)} and {shorten(pair.second)}"
        if len(both) < 2 or both in paired:
            raise ParameterError(f"{told} must be of two attributes, and stand there once")
        paired.add(both)
        if [len(row) for row in pair.seen] != [sizes[pair.second]] * sizes[pair.first]:
            raise ParameterError(
                f"{told} must have {sizes[pair.first]} rows of {sizes[pair.second]} flags"
            )


def _check_cells(cells: Cells, attribute: Attribute) -> None:
    told = f"the cells of {shorten(cells.name)}"
    if not attribute.is_continuous:
        if cells.low is not None or cells.high is not None or cells.cuts:
            raise ParameterError(f"{told} are its states, and have neither a range nor cuts")
        return
    if cells.low is None or cells.high is None:
        raise ParameterError(f"{told} need a range")
    if not -MOST_NUMBER <= cells.low <= cells.high <= MOST_NUMBER:
        raise ParameterError(
            f"{told} must have a range from low to high. Got {cells.low!r} to {cells.high!r}."
        )
    are_sound = all(abs(cut) <= MOST_NUMBER for cut in cells.cuts) and are_apart(cells.cuts)
    if len(cells.cuts) > MOST_CUTS or not are_sound:
        raise ParameterError(f"{told} must have at most {MOST_CUTS} cuts, which ascend")


def check_policy(policy: Policy, domain: Domain | None, goal: Goal) -> None:
    """Raise a ParameterError if a policy is not one of a model with this goal and domain."""
    if not goal.states:
        raise ParameterError(
            "a policy says when a class is decided for, and this model estimates a number"
        )
    if policy.min_belief and len(policy.min_belief) != len(goal.states):
        raise ParameterError(
            f"'min_belief' must have a number for each of {len(goal.states)} classes. Got "
            f"{len(policy.min_belief)}."
        )
    if domain is None and (policy.stays_in_range or policy.max_unseen is not None):
        asked = "stays_in_range" if policy.stays_in_range else "max_unseen"
        raise ParameterError(f"{asked!r} needs a domain: what the training rows held")
