"""Makes an additive model of a number from rows in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import masses
from solah.learn.assembly import Draft, Tally, constant_model, describe
from solah.model.attributes import flatten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.learn.additive import Structure
    from solah.learn.sample import Sample
    from solah.learn.terms import SingleTerm
    from solah.model import Attribute, Goal, Model


def assemble_numbers(
    structure: Structure,
    goal: Goal,
    numbers: Float,
    unit: float,
    groups: Mapping[str, Sequence[str]],
    sample: Sample,
) -> Model:
    """Make a model of what was settled.

    Parameters
    ----------
    structure : Structure
        Settled on numbers in the unit below, from their mean on.
    goal : Goal
    numbers : (n_rows,) the numbers of the rows below as they came
    unit : what 1 is worth in the goal's unit
    groups : the names of the attributes of each group
    sample : the rows that rules are counted on: all of them
    """
    weights = sample.weights
    mean = np.array([weights @ numbers / weights.sum()])
    if not structure.live_singles:
        return constant_model(goal, sample.attributes[0], mean)
    described = {}
    memberships = {}
    for term in structure.live_singles:
        attribute, found = _described(term, sample)
        described[attribute.name], memberships[attribute.name] = attribute, found
    draft = Draft(structure, described)
    draft.take(structure.reduced.weights * unit, structure.reduced.bias * unit)
    draft.centre()
    # What is added is 0 on average, but for rules by hand, so the rows begin at their mean.
    given = (rules for rules in draft.singles if rules.term.given is not None)
    draft.bias = mean - sum(rules.shares @ rules.scores for rules in given)
    tallies = [_tally([memberships[rules.name]], weights, numbers) for rules in draft.singles] + [
        _tally([memberships[side.name] for side in pair.sides], weights, numbers)
        for pair in draft.pairs
    ]
    model = draft.model(goal, mean, tallies, groups)
    return model.with_terms(replace(term, variance=term.variance * unit**2) for term in model.terms)


def _described(term: SingleTerm, sample: Sample) -> tuple[Attribute, Float]:
    """Describe an attribute and the sample's readings of it; unknown ones are NaN."""
    attribute = describe(term)
    readings = sample.readings[:, term.vocabulary.place]
    found = masses(readings, flatten([attribute]), 0)
    known = ~np.isnan(readings)
    mean = sample.weights[known] @ found[known] / sample.weights[known].sum()
    found[~known] = np.nan
    return replace(attribute, ignorance=tuple((mean / mean.sum()).tolist())), found


def _tally(memberships: Sequence[Float], weights: Float, numbers: Float) -> Tally:
    known = ~np.any([np.isnan(one[:, 0]) for one in memberships], axis=0)
    shares = memberships[0][known] * weights[known, None]
    told = numbers[known]
    missing = weights[~known]
    if len(memberships) == 1:
        lost = np.array([missing @ numbers[~known]])
        summed = (shares * told[:, None]).sum(axis=0)
        return Tally(shares.sum(axis=0), summed[:, None], float(missing.sum()), lost)
    other = memberships[1][known]
    return Tally(shares.T @ other, ((shares * told[:, None]).T @ other)[:, :, None])
