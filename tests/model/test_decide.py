"""Judging rows in the order of time: against the contract written out row by row."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines import machine_model, recordings
from policy_cases import POLICY, policies, random_domain, room
from random_models import (
    ADDITIVE_SHAPES,
    SHAPES,
    as_table,
    random_model,
    random_number_model,
    random_rows,
)
from small_models import room_rows
from solah.exceptions import DataError, ParameterError, UnseenCategoryWarning
from solah.model.decide import PolicyDecider
from solah.model.policy import AbstainReason, Debouncer, Policy, cells_of
from solah.model.predictor import Predictor

ALL = SHAPES + ADDITIVE_SHAPES


def judged_slowly(model, rows):
    """PolicyDecider rows one by one, as the contract says it."""
    policy, predictor = model.policy, Predictor(model)
    debouncer, average, found = Debouncer(policy), None, []
    for row in rows:
        one = as_table(model, row[None])
        believed = predictor.outputs(one)[0]
        evidence = np.log(believed) if model.is_additive else believed
        average = evidence if average is None else average + (evidence - average) / policy.smoothing
        powers = np.exp(average - average.max()) if model.is_additive else average
        beliefs = powers / powers.sum() if model.is_additive else powers
        best, settled = int(model.target.decide(beliefs[None])[0]), debouncer.stable
        if policy.hysteresis > 0 and settled not in (-1, best):
            best = settled if beliefs[best] - beliefs[settled] < policy.hysteresis else best
        abstain_reasons, holds = AbstainReason(0), False
        if policy.min_probability and beliefs[best] < policy.min_probability[best]:
            abstain_reasons, holds = abstain_reasons | AbstainReason.LOW_PROBABILITY, True
        if predictor.completeness(one)[0] < policy.min_completeness:
            abstain_reasons, holds = abstain_reasons | AbstainReason.FEW_READINGS, True
        for cells, reading in zip(model.domain.cells, row, strict=True):
            if cells.low is not None and (reading < cells.low or reading > cells.high):
                abstain_reasons |= AbstainReason.OUT_OF_RANGE
                holds |= policy.stays_in_range
        n_unseen = count_unseen(model, row)
        if n_unseen > (policy.max_unseen or 0):
            abstain_reasons |= AbstainReason.UNSEEN
            holds |= policy.max_unseen is not None
        place = -1 if holds else best
        found.append((place, debouncer.take(place), int(abstain_reasons), n_unseen))
    return found


def count_unseen(model, row):
    cells = {
        one.name: int(cells_of(one, of, np.array([reading]))[0])
        for one, of, reading in zip(model.features, model.domain.cells, row, strict=True)
    }
    both = [(cells[pair.first], cells[pair.second], pair.seen) for pair in model.domain.pairs]
    return sum(a >= 0 and b >= 0 and not seen[a][b] for a, b, seen in both)


def as_rows(judged):
    parts = (judged.places, judged.stable_places, judged.abstain_reasons, judged.n_unseen)
    return list(zip(*(part.tolist() for part in parts), strict=True))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(ALL), policy=policies(3))
def test_rows_are_judged_as_the_contract_says(seed, shape, policy):
    rng = np.random.default_rng(seed)
    bare = random_model(rng, shape, 3)
    model = replace(bare, domain=random_domain(rng, bare), policy=policy)
    rows = random_rows(rng, model, 30)
    table = as_table(model, rows)
    assert as_rows(Predictor(model).decide(table)) == judged_slowly(model, rows)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(ALL), with_domain=st.booleans())
def test_a_policy_that_does_nothing_decides_as_without_one(seed, shape, with_domain):
    rng = np.random.default_rng(seed)
    bare = random_model(rng, shape, 3)
    table = as_table(bare, random_rows(rng, bare, 40))
    domain = random_domain(rng, bare) if with_domain else None
    plain = Predictor(bare).predict(table).tolist()
    for policy in (None, Policy()):
        judged = Predictor(replace(bare, domain=domain, policy=policy)).decide(table)
        assert judged.decisions == judged.stable == plain
        assert np.array_equal(judged.probabilities, Predictor(bare).predict_proba(table))
        assert with_domain or not judged.abstain_reasons.any()


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), policy=policies(2), cut=st.integers(0, 40))
def test_pieces_of_a_stream_are_judged_as_the_whole(seed, policy, cut):
    rng = np.random.default_rng(seed)
    bare = random_model(rng, "groups", 2)
    model = replace(bare, domain=random_domain(rng, bare), policy=policy)
    table = as_table(model, random_rows(rng, model, 40))
    judge = PolicyDecider(model)
    pieces = [judge.take(table.rows(start, end)) for start, end in ((0, cut), (cut, 40))]
    whole = as_rows(Predictor(model).decide(table))
    assert [row for piece in pieces for row in as_rows(piece)] == whole


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), policy=policies(2))
def test_recordings_know_nothing_of_each_other(seed, policy):
    rng = np.random.default_rng(seed)
    bare = random_model(rng, "words and pairs", 2)
    model = replace(bare, domain=random_domain(rng, bare), policy=policy)
    table = as_table(model, random_rows(rng, model, 30))
    groups = rng.integers(0, 3, 30)
    together = as_rows(Predictor(model).decide(table, groups))
    for group in range(3):
        rows = np.flatnonzero(groups == group)
        alone = as_rows(Predictor(model).decide(table.take(rows)))
        assert [together[row] for row in rows] == alone


def test_rooms_are_held_back_and_settled():
    policy = replace(POLICY, smoothing=1, hysteresis=0.0, max_unseen=0, min_completeness=0.6)
    judged = Predictor(replace(room(), policy=policy)).decide(room_rows())
    low, few, far, unseen = AbstainReason
    assert judged.decisions == [None] * 4 + ["yes", "yes", None, "yes", None, "yes", None, None]
    # It stays for five rows, though two of three are not known before.
    assert judged.stable == [None] * 5 + ["yes"] * 5 + [None] * 2
    assert judged.abstain_reasons.tolist() == [
        *[low] * 4,
        *[0, 0, unseen, 0, unseen, 0, far | unseen, low | few],
    ]
    assert judged.completeness.tolist() == [1.0] * 11 + [0.5]


def test_decisions_show_how_many_are_held_back():
    judged = Predictor(replace(room(), policy=POLICY)).decide(room_rows())
    n_held = sum(one is None for one in judged.decisions)
    assert repr(judged) == f"<Decisions: 12 rows, {n_held} abstained>"


def test_a_stream_of_samples_is_judged_as_its_windows():
    rng = np.random.default_rng(0)
    bare = machine_model(rng)
    least = (0.9,) * len(bare.target.classes)
    model = replace(bare, policy=Policy(least, smoothing=2, votes=2, window=3, min_hold=2))
    predictor = Predictor(model)
    stream = predictor.stream()
    recording = recordings(rng)[0]
    names = [channel.name for channel in stream.signals.measured]
    samples = zip(*(recording.samples[name] for name in names), strict=True)
    found = [one for one in map(stream.push, samples) if one is not None]
    judged = predictor.decide(np.array([one.readings for one in found]))
    assert [one.decision for one in found] == judged.decisions
    assert [one.stable for one in found] == judged.stable
    assert [one.abstain_reasons for one in found] == judged.abstain_reasons.tolist()
    assert None in judged.stable
    plain = Predictor(bare).stream()
    samples = zip(*(recording.samples[name] for name in names), strict=True)
    windows = [one for one in map(plain.push, samples) if one is not None]
    assert all(one.stable == one.decision for one in windows)


def test_a_number_is_not_judged():
    model = random_number_model(np.random.default_rng(0))
    with pytest.raises(ParameterError, match="predicts a number"):
        Predictor(model).decide(as_table(model, random_rows(np.random.default_rng(0), model, 3)))


def test_groups_must_be_as_many_as_rows():
    with pytest.raises(DataError, match="12 rows, but 2 groups"):
        Predictor(room()).decide(room_rows(), ["a", "b"])


def test_a_state_that_no_row_had_is_unknown_and_told():
    table = room_rows()
    door = np.array(["ajar"] * 12, dtype=object)
    strange = replace(table, columns=(table.columns[0], replace(table.columns[1], values=door)))
    with pytest.warns(UnseenCategoryWarning):
        judged = Predictor(room()).decide(strange)
    assert (judged.n_unseen == 0).all()
    assert (judged.completeness < 1).all()
