"""Policies on devices: every platform decides as the simulator, and that as the policy."""

from dataclasses import replace

import numpy as np
import pytest
from devices import check_on, with_tools
from export_shapes import ALL_SHAPES
from golden_files import check_golden
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_models import STEADY, in_time, judged_model

from random_models import as_table, random_model, random_number_model, random_rows
from small_models import room_model
from solah import LinguisticTreeClassifier, datasets
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.export.platforms import build, run
from solah.model.evaluate import run as run_program
from solah.model.policy import (
    AbstainReason,
    Cells,
    Debouncer,
    Domain,
    Policy,
    SeenTogether,
    is_out_of_range,
    unseen_pairs,
)
from solah.model.predictor import Predictor

NUMBERS = ["float", "q15"]


# --- what the simulator says ----------------------------------------------------------------------


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_the_simulator_judges_as_the_document_says(shape, numbers):
    """Against the policy, step by step, with what the model itself believes."""
    rng = np.random.default_rng(1)
    model = judged_model(rng, shape)
    policy = replace(model.policy, smoothing=1)
    model = replace(model, policy=policy)
    rows = np.repeat(random_rows(rng, model, 300), 3, axis=0)
    verdicts = export_c(model, name="m", numbers=numbers).simulator.judge(rows)
    names = [one.name for one in model.features]
    readings_by_name = dict(zip(names, rows.T, strict=True))
    beliefs = run_program(model.program, rows)
    beyond = [is_out_of_range(one, readings_by_name[one.name]) for one in model.domain.cells]
    n_unseen = unseen_pairs(model.domain, model.features, readings_by_name).sum(axis=1)
    is_beyond = np.any(beyond, axis=0)
    is_told = (verdicts.abstain_reasons & AbstainReason.OUT_OF_RANGE) > 0
    assert (is_told == is_beyond).mean() > 0.99  # integers have readings at the very end
    assert (verdicts.n_unseen == n_unseen).mean() > 0.99
    debouncer, agrees = Debouncer(policy), []
    for i, best in enumerate(model.target.decide(beliefs).tolist()):
        settled = debouncer.stable
        if policy.hysteresis and settled not in (-1, best):
            is_ahead = beliefs[i, best] - beliefs[i, settled] >= policy.hysteresis
            best = best if is_ahead else settled
        abstain_reasons = (
            AbstainReason(int(verdicts.abstain_reasons[i])) & ~AbstainReason.LOW_PROBABILITY
        )
        if policy.min_probability and beliefs[i, best] < policy.min_probability[best]:
            abstain_reasons |= AbstainReason.LOW_PROBABILITY
        debouncer.take(-1 if abstain_reasons & holding(policy) else best)
        agrees.append(debouncer.stable == verdicts.settled[i])
    assert np.mean(agrees) > 0.98


def holding(policy):
    asked = [
        (AbstainReason.LOW_PROBABILITY, bool(policy.min_probability)),
        (AbstainReason.FEW_READINGS, policy.min_completeness > 0),
        (AbstainReason.OUT_OF_RANGE, policy.stays_in_range),
        (AbstainReason.UNSEEN, policy.max_unseen is not None),
    ]
    return sum((abstain_reason for abstain_reason, is_asked in asked if is_asked), AbstainReason(0))


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("shape", ["tree", "words and pairs", "groups"])
def test_what_is_known_is_that_of_the_predictor(shape, numbers):
    rng = np.random.default_rng(3)
    model = learned_tree() if shape == "tree" else random_model(rng, shape, 3)
    rows = random_rows(rng, model, 500, missing=0.3)
    known = Predictor(model).completeness(as_table(model, rows))
    model = replace(model, policy=Policy(min_completeness=0.6))
    verdicts = export_c(model, name="m", numbers=numbers).simulator.judge(rows)
    clear = np.abs(known - 0.6) > 1e-3
    is_few = (verdicts.abstain_reasons & AbstainReason.FEW_READINGS) > 0
    np.testing.assert_array_equal(is_few[clear], (known < 0.6)[clear])
    assert 0 < is_few.mean() < 1
    np.testing.assert_array_equal(verdicts.settled == -1, is_few)


def learned_tree():
    wine = datasets.load("wine")
    return LinguisticTreeClassifier(max_depth=3).fit(wine.table, wine.target).model_


@settings(max_examples=60, deadline=None)
@given(
    bits=st.integers(1, 8),
    levels=st.lists(st.integers(-(2**29), 2**29), min_size=1, max_size=4),
    n_each=st.integers(1, 4000),
)
def test_an_average_in_integers_keeps_no_offset(bits, levels, n_each):
    """It is the exact average, rounded, and arrives at what stays."""
    simulator = export_c(
        random_model(np.random.default_rng(0), "tree"), name="m", numbers="q15"
    ).simulator
    scores = np.repeat(np.array(levels, dtype=np.int64), n_each)[:, None]
    smoothed, _ = simulator.smooth(scores, None, bits)
    exact, finer = int(levels[0]) << bits, 1 << bits >> 1
    for score, found in zip(scores[1:, 0].tolist(), smoothed[1:, 0].tolist(), strict=True):
        # S' = S + x - [S / 2^bits], where the mean is [S / 2^bits], rounded
        exact += score - ((exact + finer) >> bits)
        assert found == (exact + finer) >> bits
    if n_each > 40 << bits:
        assert smoothed[-1, 0] == levels[-1]


def test_a_judge_goes_on_where_it_stopped():
    rng = np.random.default_rng(5)
    model = judged_model(rng, "groups")
    simulator = export_c(model, name="m", numbers="q15").simulator
    rows = in_time(rng, model, 60)
    judge, whole = simulator.start_judging(), simulator.judge(rows)
    parts = [judge.take(rows[start : start + 7]) for start in range(0, 60, 7)]
    for field in ("decisions", "settled", "abstain_reasons", "n_unseen", "beliefs"):
        found = np.concatenate([getattr(part, field) for part in parts])
        np.testing.assert_array_equal(found, getattr(whole, field))


# --- devices ---------------------------------------------------------------------------------


def test_many_rows_long_windows_and_parts_of_policies_are_judged_alike(find_tool, tmp_path):
    rng = np.random.default_rng(13)
    steady = replace(judged_model(rng, "groups"), policy=STEADY)
    longest = Policy(votes=3, window=32, min_hold=65_534)
    slow = replace(random_model(rng, "words and pairs", 3), policy=longest)
    tree = judged_model(rng, "tree")
    policy = replace(tree.policy, stays_in_range=False, max_unseen=None, smoothing=4)
    made = [(steady, in_time(rng, steady, 100_000)), (slow, in_time(rng, slow, 140_000))]
    for changes in ({"domain": None}, {"policy": None}, {"policy": replace(policy, smoothing=1)}):
        made.append((replace(tree, **{"policy": policy, **changes}), in_time(rng, tree, 300)))
    cases = [
        (model, export_c(model, name=f"m{place}", numbers=("q15", "float")[place == 0]), rows)
        for place, (model, rows) in enumerate(made)
    ]
    cases.append((steady, export_c(steady, name="m_q15", numbers="q15"), made[0][1][:20_000]))
    check_on(with_tools("host", find_tool), cases, tmp_path, n_reasons=0)
    simulators = [export.simulator for _, export, _ in cases]
    assert set(simulators[0].judge(made[0][1][:5_000]).settled.tolist()) == {-1, 0, 1, 2}
    settled = simulators[1].judge(made[1][1][:66_000]).settled
    assert (
        np.count_nonzero(np.diff(settled)) == 2
    )  # from "don't know", and when the min_hold is over


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("smoothing", [1, 8])
def test_a_device_says_how_many_bytes_it_remembers(smoothing, numbers, find_tool, tmp_path):
    platform = with_tools("cortex-m4", find_tool)
    model = judged_model(np.random.default_rng(10), "groups", 4)
    model = replace(model, policy=replace(model.policy, smoothing=smoothing))
    export = export_c(model, name="m", numbers=numbers)
    stated = next(line for line in export.files["m.h"].splitlines() if "bytes of RAM" in line)
    n_bytes = int(stated.partition("decisions: ")[2].partition(" bytes")[0])
    for name, text in export.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = f'#include "m.h"\nint main(void) {{ return sizeof(m_state) != {n_bytes}; }}\n'
    (tmp_path / "main.c").write_text(program, encoding="utf-8")
    sources = [tmp_path / "m.c", tmp_path / "main.c"]
    assert run(build(platform, sources, tmp_path, includes=[tmp_path])) == b""


def golden_model():
    """A small model with everything that a policy and a domain may have."""
    cells = (Cells("CO2", 390.0, 1500.0, (600.0, 900.0)), Cells("door"))
    pair = SeenTogether("CO2", "door", ((True, False), (True, True), (False, True)))
    policy = Policy(
        (0.7, 0.55), 0.5, True, 1, smoothing=4, hysteresis=0.1, votes=2, window=3, min_hold=5
    )
    return replace(room_model(), domain=Domain(cells, (pair,)), policy=policy)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_generated_c_is_as_it_was_read(numbers):
    files = export_c(golden_model(), name="room", numbers=numbers).files
    check_golden(numbers, files, "room.h", "room.c")


# --- what has none ---------------------------------------------------------------------------


def test_what_has_no_policy_judges_nothing():
    rng = np.random.default_rng(11)
    for model in (random_model(rng, "groups"), random_number_model(rng)):
        export = export_c(model, name="m")
        assert "judge" not in "".join([export.files["m.h"], export.files["m.c"], *export.files])
        with pytest.raises(ParameterError, match="neither a policy nor a domain"):
            export.simulator.judge(random_rows(rng, model, 3))


def test_too_many_states_are_refused():
    rng = np.random.default_rng(12)
    model = judged_model(rng, "tree", 2)
    states = tuple(f"s{i}" for i in range(256))
    target = replace(model.target, classes=states, thresholds=())
    wide = replace(model, target=target, policy=Policy())
    with pytest.raises(ParameterError, match="255 classes at the most; there are 256"):
        export_c(wide, name="m")
