"""The test that every export carries: it passes on the board, and fails if anything is altered."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from c_programs import C99, CPP11
from devices import with_tools
from export_shapes import ALL_SHAPES
from golden_files import check_golden
from judged_models import STEADY, judged_model
from signal_programs import describe_everything, model_of, noise
from sklearn.datasets import load_diabetes, load_wine

from random_models import random_model, random_number_model
from solah import LinguisticTreeRegressor, RuleClassifier
from solah.atomic import write_all
from solah.data import from_frame
from solah.exceptions import ParameterError
from solah.export import export_blob, export_c, export_micropython, self_test
from solah.export.online import Pace
from solah.export.platforms import build, run
from solah.export.self_test import choose_rows, sequence_of, vectors_of
from solah.model.encode import encode

KINDS = ({"numbers": "float"}, {"numbers": "q15"}, {"numbers": "q15", "learning": Pace()})

# What prints the outcome on boards that have no printf.
ON_BOARD = """
#include "m_test.h"
#include "solah_io.h"

int main(void)
{
    m_difference first = {"", -1, -1, 0, 0};
    const int32_t outcome = m_self_test(&first);
    const int32_t row = first.row;
    solah_io_write(&outcome, sizeof outcome);
    solah_io_write(&row, sizeof row);
    return 0;
}
"""


def signals_model():
    rng = np.random.default_rng(0)
    return model_of(rng, describe_everything(), noise(rng, 3000))


def judging_model(shape):
    return replace(judged_model(np.random.default_rng(5), shape), policy=STEADY)


@cache
def made(name):
    """Make a model by its name, which is a shape or what is special about it."""
    rng = np.random.default_rng(3)
    if name == "number of a tree":
        return LinguisticTreeRegressor(max_depth=2).fit(*load_diabetes(return_X_y=True)).model_
    if name == "number of groups":
        return random_number_model(rng)
    if name == "signals":
        return signals_model()
    if name.startswith("judging "):
        return judging_model(name.removeprefix("judging "))
    return random_model(rng, name, 3)


NAMES = (
    *(*ALL_SHAPES, "number of a tree", "number of groups", "judging tree", "judging groups"),
    "signals",
)


def kinds_of(model):
    return KINDS if model.target.classes else KINDS[:2]


def written(folder, export, model, **options):
    files = {**export.files, **self_test(model, export, **options)}
    write_all(folder, files)
    return files


def run_test(folder, compiler, *, flags=(), sources=("m.c", "m_test.c")):
    """Compile the test with its main, and run it; return its exit code and what it printed."""
    command = [compiler, *C99, *flags, "-DSOLAH_TEST_MAIN", *sources, "-o", "test"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "test"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", ["words", "number of groups", "judging groups", "signals"])
def test_a_test_passes_and_compiles_as_all_the_rest(name, tmp_path, find_tool):
    model = made(name)
    for place, kind in enumerate(kinds_of(model)):
        folder = tmp_path / str(place)
        written(folder, export_c(model, name="m", **kind), model)
        sanitizers = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        code, printed = run_test(folder, find_tool("cc"), flags=sanitizers if place == 1 else ())
        assert code == 0, printed
        assert re.fullmatch(r"m: all of \d+ rows.* are decided as in Python.*\n", printed)
        assert ("24 verdicts" in printed) == name.startswith("judging")
        assert ("windows" in printed) == (name == "signals")
    subprocess.run(
        [find_tool("c++"), *CPP11, "-fsyntax-only", "m_test.c", "m_test.h"], cwd=folder, check=True
    )


@pytest.mark.parametrize("name", ["number of groups", "judging groups"])
def test_a_blob_is_tested_in_c_and_in_python(name, tmp_path, find_tool):
    model = made(name)
    written(tmp_path, export_blob(model, name="m"), model)
    code, printed = run_test(tmp_path, find_tool("cc"), sources=("m_test.c",))
    assert (code, printed) == (0, f"m: all of {count(model, 'in Python')}\n")
    assert run_python(tmp_path) == (0, f"m: all of {count(model, 'they should be')}\n")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "signals"])
def test_a_module_for_micropython_is_tested(name, tmp_path):
    model = made(name)
    written(tmp_path, export_micropython(model, name="m"), model)
    assert run_python(tmp_path) == (0, f"m: all of {count(model, 'they should be')}\n")


def count(model, way):
    """Say what is compared: of classes and five more, of a policy each row three times."""
    n_rows = len(model.target.classes) + 5
    verdicts = f", and {3 * n_rows} verdicts are the same" if model.policy else ""
    return f"{n_rows} rows are decided as {way}{verdicts}"


def run_python(folder):
    """Run the module, as a board does."""
    done = subprocess.run(
        [sys.executable, "m_test.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_a_generated_test_is_as_it_was_read(numbers):
    model = random_model(np.random.default_rng(1), "words and pairs", 3)
    files = self_test(model, export_c(model, name="sample", numbers=numbers, style="tables"))
    check_golden(numbers, files)


# --- what is altered is noticed --------------------------------------------------------------


FLIPPED = {
    "tables": ("knots", "values", "curves", "grid_cells", "start_1"),
    "plain": ("lines_x0", "weights_x2", "grid_x0_and_x1", "cells_x0_and_x1", "start", "lean"),
}
# The source itself is included, so that its tables are at hand; they are made writable before.
FLIP = """
#define const
#include "m.c"
#undef const
#include "m_test.h"
#include <stdio.h>

static int n_flips, n_missed;

static void flip(void *table, size_t size)
{
    for (size_t bit = 0; bit < 8 * size; bit++) {
        ((uint8_t *)table)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        n_flips++;
        n_missed += m_checksum() == M_CHECKSUM;
        ((uint8_t *)table)[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

int main(void)
{
    m_difference first;
    if (m_self_test(&first) != 0) {
        return 1;
    }
    @flipped@
    printf("%d %d", n_flips, n_missed);
    return 0;
}
"""


def altered(text, table, add):
    """Change the middle number of a table of C by so much."""
    found = re.search(rf"\b{table}\[\] = \{{\n(.*?)\n\}};", text, re.DOTALL)
    numbers = re.findall(r"-?[\d.]+(?:e-?\d+)?f?", found[1])
    place = len(numbers) // 2
    is_float = numbers[place].endswith("f")
    value = float(numbers[place].rstrip("f")) + add
    numbers[place] = f"{value!r}f" if is_float else str(int(value))
    return text[: found.start(1)] + ", ".join(numbers) + text[found.end(1) :]


@pytest.mark.parametrize(("numbers", "add"), [("float", 0.01), ("q15", 20)])
@pytest.mark.parametrize("table", ["start_1", "of_knots"])
def test_an_altered_table_is_noticed(numbers, add, table, tmp_path, find_tool):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=20).fit(X, y).model_
    export = export_c(model, name="m", numbers=numbers, style="tables")
    files = written(tmp_path, export, model, table=from_frame(X))
    source = altered(files["m.c"], table, 1 if table == "of_knots" else add)
    assert source != files["m.c"]
    (tmp_path / "m.c").write_text(source, encoding="utf-8")
    code, printed = run_test(tmp_path, find_tool("cc"))
    assert code == 1
    assert printed.startswith("m: the checksum of the tables differs")


@pytest.mark.parametrize("style", ["tables", "plain"])
def test_every_bit_of_a_table_that_flips_is_noticed(style, tmp_path, find_tool):
    """Not only those that change a decision on the rows of the test."""
    model = made("words and pairs")
    written(tmp_path, export_c(model, name="m", numbers="q15", style=style), model)
    flipped = "".join(f"    flip({table}, sizeof {table});\n" for table in FLIPPED[style])
    (tmp_path / "main.c").write_text(FLIP.replace("    @flipped@\n", flipped))
    subprocess.run([find_tool("cc"), "main.c", "m_test.c", "-o", "flip"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "flip"], capture_output=True, text=True, check=True)
    n_flips, n_missed = map(int, done.stdout.split())
    assert n_flips > 500
    assert n_missed == 0


def test_an_altered_module_and_an_altered_blob_are_noticed(tmp_path):
    model = made("words and pairs")
    files = written(tmp_path, export_micropython(model, name="m"), model)
    start = re.search(r"_STAGES = \(\n    \(\((-?\d+)", files["m.py"])
    text = files["m.py"][: start.start(1)] + str(int(start[1]) + 9) + files["m.py"][start.end(1) :]
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    code, printed = run_python(tmp_path)
    assert code == 1
    assert re.match(r"m: row \d: the beliefs should be \[", printed)
    other = export_blob(made("groups"), name="m")
    written(tmp_path, export_blob(model, name="m"), model)
    (tmp_path / "m.bin").write_bytes(other.data)
    code, printed = run_python(tmp_path)
    assert code == 1
    assert "this is the test of model" in printed


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("policy_min_probability", "the checksum of the tables"),
        ("policy_seen", "the checksum of the tables"),
        ("policy", "a stable decision"),
    ],
)
def test_an_altered_policy_is_noticed(numbers, table, what, tmp_path, find_tool):
    model = made("judging groups")
    files = written(tmp_path, export_c(model, name="m", numbers=numbers), model)
    if table == "policy":
        source = files["m.c"].replace(", 2, 2, 3};", ", 2, 3, 3};")  # votes
    else:
        body = re.search(rf"\b{table}\[\] = \{{\n(.*?)\n\}};", files["m.c"], re.DOTALL)
        nothing = re.sub(r"[\d.]+", "0", body[1]).replace("0f", "0.0f")
        source = files["m.c"].replace(body[1], nothing)
    assert source != files["m.c"]
    (tmp_path / "m.c").write_text(source, encoding="utf-8")
    code, printed = run_test(tmp_path, find_tool("cc"))
    assert code == 1
    assert re.match(rf"m: {what} differs: row \d+, place \d+", printed), printed


def test_verdicts_show_doubts_and_every_class():
    model = made("judging groups")
    simulator = export_c(model).simulator
    sequence = sequence_of(simulator, choose_rows(model, simulator, None))
    assert sequence.n_repeats == 3
    assert set(sequence.verdicts.settled) == {-1, 0, 1, 2}
    assert sequence.verdicts.abstain_reasons.any()
    slow = replace(model, policy=replace(STEADY, min_hold=300))
    simulator = export_c(slow).simulator
    sequence = sequence_of(simulator, choose_rows(slow, simulator, None, 50))
    assert (sequence.n_repeats, len(sequence.verdicts.settled)) == (8, 100)
    assert sequence_of(export_c(made("tree")).simulator, np.empty((0, 6))) is None


# --- on the platforms --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["cortex-m4f", "atmega328p"])
def test_a_board_passes_its_test_and_fails_an_altered_one(platform, tmp_path, find_tool):
    platform = with_tools(platform, find_tool)
    cases = [("judging groups", KINDS[1])]
    if platform.name != "atmega328p":
        cases.append(("signals", KINDS[0]))
    for name, kind in cases:
        files = written(tmp_path, export_c(made(name), name="m", **kind), made(name))
        (tmp_path / "main.c").write_text(ON_BOARD, encoding="utf-8")
        assert outcome_on(platform, tmp_path) == (0, -1)
        text = re.sub(r"(rows_decisions\[N_ROWS\] = \{\n    )(\d+)", r"\g<1>9", files["m_test.c"])
        assert text != files["m_test.c"]
        (tmp_path / "m_test.c").write_text(text, encoding="utf-8")
        assert outcome_on(platform, tmp_path) == (1, 0)


def outcome_on(platform, folder):
    parts = [folder / name for name in ("m.c", "m_test.c", "main.c")]
    program = build(platform, parts, folder, includes=[folder])
    return tuple(np.frombuffer(run(program, b""), "<i4").tolist())


# --- which rows ------------------------------------------------------------------------------


def test_rows_show_each_class_unknown_readings_and_both_ends():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=20).fit(X, y).model_
    simulator = export_c(model).simulator
    given = encode(from_frame(X), model.features)
    rows = choose_rows(model, simulator, given)
    assert len(rows) == 8
    assert set(simulator.decide(rows)[0]) == {0, 1, 2}
    assert np.isnan(rows).all(axis=1).sum() == 1
    lows, highs = np.array([(a.peaks[0], a.peaks[-1]) for a in model.features]).T
    assert (rows < lows).all(axis=1).any()
    assert (rows > highs).all(axis=1).any()
    assert sum((given == row).all(axis=1).any() for row in rows) >= 4
    some = np.isnan(rows).any(axis=1) & ~np.isnan(rows).all(axis=1)
    assert some.any()
    assert len(choose_rows(model, simulator, given, 100)) == 100
    assert len(choose_rows(model, simulator, given, 2)) == 2


def test_readings_that_c_cannot_write_are_brought_into_reach(tmp_path, find_tool):
    model = made("groups")
    rows = np.full((3, len(model.features)), np.inf)
    rows[1] = -1e300
    export = export_c(model, name="m")
    chosen = choose_rows(model, export.simulator, rows, 9)
    assert np.nanmax(np.abs(chosen)) == 3e38
    columns = {
        one.name: ["a", "b", "c"] if one.is_coded else [1e300, -1e300, 0.5]
        for one in model.features
    }
    table = from_frame(pd.DataFrame(columns))
    written(tmp_path, export, model, table=table)
    assert run_test(tmp_path, find_tool("cc"))[0] == 0


@pytest.mark.parametrize("n_rows", [-1, 10_001])
def test_a_number_of_rows_that_makes_no_sense_is_refused(n_rows):
    model = made("tree")
    with pytest.raises(ParameterError, match=r"from 0 to 10,000 rows \(--test-rows\). Got"):
        self_test(model, export_c(model), n_rows=n_rows)
    assert self_test(model, export_c(model), n_rows=0) == {}


def test_the_bytes_of_rows_are_counted(tmp_path, find_tool):
    model = made("judging groups")
    for kind in KINDS[:2]:
        export = export_c(model, name="m", **kind)
        files = written(tmp_path, export, model)
        command = [find_tool("cc"), "-std=c99", "-Os", "-c", "m_test.c", "-o", "t.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
        symbols = subprocess.run(
            [find_tool("nm"), "-S", "t.o"], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout
        sizes = re.findall(r"^\w+ (\w+) r (?:rows|judged)_", symbols, re.MULTILINE)
        total = sum(int(size, 16) for size in sizes)
        rows = choose_rows(model, export.simulator, None)
        sequence = sequence_of(export.simulator, rows)
        assert vectors_of(export.simulator, rows).n_bytes + sequence.n_bytes == total
        assert f"The rows take {total:,} bytes of flash" in files["m_test.h"]
