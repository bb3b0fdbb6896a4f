"""A device learns as its Python simulator, integer by integer, and so does ``partial_fit``."""

import subprocess
from zlib import crc32

import numpy as np
import pytest
from c_programs import build
from export_shapes import ALL_SHAPES
from sklearn.datasets import load_diabetes, load_wine

from random_models import random_model, random_rows
from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
)
from solah.data import from_frame
from solah.exceptions import DataError, ParameterError
from solah.export import export_c
from solah.export.online import Learner, Pace, halvings
from solah.model.encode import encode
from solah.model.format import from_json, to_json

SANITIZED = ("-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LEARN = """
#include "m.h"
#include <stdio.h>

/* Reads rows with the class that was observed; writes what was decided before, and in the end what
 * was learned. */
int main(void)
{{
    {reading} readings[M_N_READINGS];
    {belief} belief[M_N_CLASSES];
    int32_t observed;
    m_memory memory;
    m_memory copy;
    uint8_t saved[M_N_SAVED];

    m_begin(&memory);
    while (fread(readings, sizeof readings, 1, stdin) == 1 &&
           fread(&observed, sizeof observed, 1, stdin) == 1) {{
        const int32_t decision = m_decide(&memory, readings, belief);
        fwrite(&decision, sizeof decision, 1, stdout);
        fwrite(belief, sizeof belief, 1, stdout);
        if (m_learn(&memory, readings, observed) != decision) {{
            return 1;
        }}
    }}
    m_save(&memory, saved);
    m_begin(&copy);
    saved[0] ^= 1u;
    if (m_restore(&copy, saved) != 0) {{
        return 2;
    }}
    saved[0] ^= 1u;
    if (m_restore(&copy, saved) != 1) {{
        return 3;
    }}
    m_save(&copy, saved);
    fwrite(saved, sizeof saved, 1, stdout);
    return 0;
}}
"""


RESTORE = """
#include "m.h"
#include <stdio.h>

/* Reads rows once, then saved states; writes whether each came back, and what it has learned of the
 * rows then. The memory has a place of its own, so that the sanitizers see what is beside it. */
int main(void)
{{
    static {reading} readings[{n_rows}][M_N_READINGS];
    {belief} belief[M_N_CLASSES];
    m_reason reasons[2];
    m_memory memory;
    uint8_t saved[M_N_SAVED];

    if (fread(readings, sizeof readings, 1, stdin) != 1) {{
        return 1;
    }}
    while (fread(saved, sizeof saved, 1, stdin) == 1) {{
        m_begin(&memory);
        const int32_t is_back = m_restore(&memory, saved);
        for (int i = 0; i < {n_rows}; i++) {{
            (void)m_decide(&memory, readings[i], belief);
            (void)m_why(&memory, readings[i], reasons, 2);
            (void)m_learn(&memory, readings[i], i % M_N_CLASSES);
        }}
        m_save(&memory, saved);
        fwrite(&is_back, sizeof is_back, 1, stdout);
        fwrite(saved, sizeof saved, 1, stdout);
    }}
    return 0;
}}
"""
TELLING = (
    *(0, 1, -1, 512, -512, 513, -513, 2**24, 2**24 + 512, 2**24 + 513),
    *(2**29, 2**29 + 1, -(2**29), -(2**29) - 1, 2**31 - 1, -(2**31)),
)


def summed(numbers, hash_, evidence):
    """Save numbers with the checksum that they should have."""
    saved = hash_ + numbers.astype("<i4").tobytes() + evidence
    return saved + crc32(saved).to_bytes(4, "little")


def mutated(rng, learned):
    """Replace a few numbers, or all of them, by telling ones."""
    numbers = learned.ravel().copy()
    places = rng.choice(len(numbers), rng.choice([1, 2, 3, len(numbers)]), replace=False)
    kind = rng.choice(3)
    if kind == 0:
        numbers[places] = rng.choice(TELLING)
    elif kind == 1:
        numbers[places] = rng.choice(TELLING, len(places))
    else:
        numbers[places] += rng.integers(-2000, 2000, len(places))
    return np.clip(numbers, -(2**31), 2**31 - 1)


@pytest.mark.parametrize(("shape", "pace"), [("masses", 1.0), ("words and pairs", 512.0)])
def test_what_comes_back_is_checked(shape, pace, tmp_path, find_tool):
    rng = np.random.default_rng(6)
    model = random_model(rng, shape, 3)
    export = export_c(model, name="m", numbers="q15", learning=Pace(pace))
    rows = random_rows(rng, model, 9)
    program = build(export, tmp_path, find_tool("cc"), RESTORE, SANITIZED, n_rows=len(rows))
    learner = Learner(model, pace=pace)
    learner.learn(random_rows(rng, model, 50), rng.integers(0, 3, 50))
    hash_ = learner.save()[:16]
    states = [learner.save()]
    for _ in range(150):
        trust = int(rng.integers(14)) + 256 * int(
            rng.integers(3)
        )  # more than 11, and 512, are none
        evidence = np.array([rng.choice([0, 7, 2**32 - 1]), trust], "<u4").tobytes()
        states.append(summed(mutated(rng, learner.simulator.learned), hash_, evidence))
    given = export.simulator.prepare(rows).tobytes() + b"".join(states)
    done = subprocess.run([program], input=given, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    size = 4 + len(states[0])
    answers = [done.stdout[at : at + size] for at in range(0, len(done.stdout), size)]
    n_back = 0
    for state, answer in zip(states, answers, strict=True):
        home = Learner(model, pace=pace)
        is_back = restores(home, state)
        n_back += is_back
        home.learn(rows, np.arange(len(rows)) % 3)
        assert (answer[:4] == b"\1\0\0\0") == is_back
        assert answer[4:] == home.save()
    assert restores(Learner(model, pace=pace), states[0])
    assert 10 < n_back < 140


def restores(learner, saved):
    before = learner.save()
    try:
        learner.restore(saved)
    except DataError:
        assert learner.save() == before
        return False
    assert learner.save() == saved
    return True


def run(program, export, rows, observed, n_classes):
    """Let the program learn; return its decisions and beliefs on the way, and what it saved."""
    kind = np.dtype([("x", "<i4", rows.shape[1:]), ("y", "<i4")])
    given = np.empty(len(rows), kind)
    given["x"], given["y"] = export.simulator.prepare(rows), observed
    done = subprocess.run([program], input=given.tobytes(), capture_output=True, check=True)
    line = np.dtype([("decision", "<i4"), ("belief", "<u2", (n_classes,))])
    size = line.itemsize * len(rows)
    found = np.frombuffer(done.stdout[:size], line)
    return found["decision"], found["belief"], done.stdout[size:]


def test_the_pace_falls_with_the_rows():
    n_rows = np.array([0, 7, 8, 23, 24, 55, 56, 2**31])
    assert halvings(n_rows).tolist() == [0, 0, 1, 1, 2, 2, 3, 15]


def test_a_model_is_kept_until_the_learned_one_wins():
    """Rows of noise change no prediction; rows that the model gets wrong do, after three wins."""
    rng = np.random.default_rng(3)
    model = random_model(rng, "groups", 2)
    learner, rows = Learner(model), random_rows(rng, model, 40)
    shipped = learner.simulator.decide(rows)[0]
    learner.learn(rows, shipped)
    assert learner.model() is model
    learner = Learner(model)
    for row, place in zip(rows, 1 - shipped, strict=True):
        before, trust = learner.simulator.decide(rows)[0], learner.simulator.trust
        if not trust.is_earned:
            assert trust.wins < 3
            np.testing.assert_array_equal(before, shipped)
        learner.learn(row[None], [place])
    assert learner.simulator.trust.is_earned
    assert learner.simulator.trust.n_rows == 40
    assert (learner.simulator.decide(rows)[0] != shipped).mean() > 0.5
    learner.learn(np.repeat(rows, 3, axis=0), np.repeat(shipped, 3))
    assert learner.simulator.trust.n_rows == 160


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_a_device_learns_as_its_simulator(shape, tmp_path, find_tool):
    is_odd = ALL_SHAPES.index(shape) % 2
    n_classes, pace = (4, Pace()) if is_odd else (2, Pace(4.0, forgetting=0.05))
    rng = np.random.default_rng(n_classes)
    model = random_model(rng, shape, n_classes)
    export = export_c(model, name="m", numbers="q15", learning=pace)
    program = build(export, tmp_path, find_tool("cc"), LEARN, SANITIZED)
    rows = random_rows(rng, model, 100, missing=0.1)
    observed = rng.integers(-1, n_classes + 1, len(rows))  # classes that are none teach nothing
    decisions, beliefs, saved = run(program, export, rows, observed, n_classes)
    learner = Learner(model, pace=pace.pace, forgetting=pace.forgetting)
    for row, place, decision, belief in zip(rows, observed, decisions, beliefs, strict=True):
        expected = learner.simulator.decide(row[None])
        assert (decision, belief.tolist()) == (expected[0][0], expected[1][0].tolist())
        learner.learn(row[None], [place])
    assert saved == learner.save()
    export.simulator.learn(rows, observed)
    np.testing.assert_array_equal(export.simulator.learned, learner.simulator.learned)


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_a_document_carries_what_was_learned(shape):
    rng = np.random.default_rng(8)
    model = random_model(rng, shape, 3)
    rows, observed = random_rows(rng, model, 400), rng.integers(0, 3, 400)
    at_once, in_parts = (Learner(model, is_guarded=False) for _ in range(2))
    at_once.learn(rows, observed)
    in_parts.learn(rows[:150], observed[:150])
    again = Learner(from_json(to_json(in_parts.model()).encode()))
    np.testing.assert_array_equal(again.simulator.learned, in_parts.simulator.learned)
    in_parts.learn(rows[150:], observed[150:])
    np.testing.assert_array_equal(at_once.simulator.learned, in_parts.simulator.learned)
    assert at_once.save() == in_parts.save()


def estimators():
    return [
        LinguisticTreeClassifier(max_depth=2),
        LinguisticHierarchyClassifier("z <- alcohol, hue; y <- z, proline"),
        RuleClassifier(max_rules=30),
    ]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda one: type(one).__name__)
def test_partial_fit_learns_as_a_device(estimator):
    X, y = load_wine(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(y))
    first, second = order[:90], order[90:]
    estimator.fit(X.iloc[first], y.iloc[first])
    simulator = export_c(estimator.model_, numbers="q15", learning=Pace()).simulator
    rows = encode(from_frame(X.iloc[second]), estimator.model_.features)
    simulator.learn(rows, y.iloc[second])
    n_rules = estimator.n_rules_
    for part in np.array_split(second, 3):
        estimator.partial_fit(X.iloc[part], y.iloc[part])
    np.testing.assert_array_equal(estimator._learner[0].simulator.learned, simulator.learned)
    assert estimator.n_rules_ == n_rules
    beliefs = estimator.predict_proba(X.iloc[second])
    assert simulator.decide(rows)[1] / 32768 == pytest.approx(beliefs, abs=0.02)


def test_what_was_learned_is_forgotten_without_practice():
    rng = np.random.default_rng(7)
    model = random_model(rng, "words and pairs", 2)
    rows = random_rows(rng, model, 300, missing=0.0)
    left = []
    for forgetting in (0.0, 2**-5):
        learner = Learner(model, forgetting=forgetting)
        start = learner.simulator.learned.copy()
        learner.learn(rows, np.ones(300, dtype=int))
        for _ in range(3):
            learner.learn(rows, Learner(model).simulator.decide(rows)[0])
        left.append(np.abs(learner.simulator.learned - start).mean())
    assert left[1] < 0.5 * left[0]


def test_the_first_batch_is_fitted_and_new_classes_are_refused():
    X, y = load_wine(return_X_y=True, as_frame=True)
    tree = LinguisticTreeClassifier(max_depth=2).partial_fit(X, y, classes=[0, 1, 2])
    assert tree.n_rules_ == LinguisticTreeClassifier(max_depth=2).fit(X, y).n_rules_
    with pytest.raises(DataError, match="3"):
        tree.partial_fit(X.head(1), [3])
    with pytest.raises(DataError, match="'classes' has 3"):
        LinguisticTreeClassifier().partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(DataError, match="NaN"):
        tree.partial_fit(X.head(2), [0.0, np.nan])


def test_what_a_device_learned_comes_home_whole_or_not_at_all():
    rng = np.random.default_rng(4)
    model = random_model(rng, "tree", 3)
    device = Learner(model, is_guarded=False)
    device.learn(random_rows(rng, model, 50), rng.integers(0, 3, 50))
    saved = device.save()
    home = Learner(model)
    home.restore(saved)
    np.testing.assert_array_equal(home.simulator.learned, device.simulator.learned)
    with pytest.raises(DataError, match="bytes for this model"):
        home.restore(saved[:-1])
    with pytest.raises(DataError, match="checksum"):
        home.restore(saved[:30] + bytes([saved[30] ^ 1]) + saved[31:])
    with pytest.raises(DataError, match="another model"):
        Learner(device.model()).restore(saved)


def test_what_cannot_learn_says_so():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = LinguisticTreeRegressor(max_depth=1).fit(X, y)
    with pytest.raises(ParameterError, match="'target' is a number"):
        Learner(tree.model_)
    model = random_model(np.random.default_rng(0), "tree")
    with pytest.raises(ParameterError, match="numbers='q15'"):
        export_c(model, learning=Pace())
    with pytest.raises(ParameterError, match="'pace' must be"):
        Pace(0.0)
    with pytest.raises(ParameterError, match="'forgetting' must be"):
        Pace(forgetting=1.0)
