"""Plain C: a function per feature and pair, equal to the simulator bit for bit, and small."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import C99, CPP11, build, decide
from devices import sources, with_tools
from golden_files import check_golden

from random_models import odd_rows, random_model
from small_models import room_model
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.export.online import Pace
from solah.export.platforms import measure
from solah.export.units import Counts
from solah.model.evaluate import run
from solah.model.policy import Policy


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_what_is_written_changes_only_on_purpose(numbers):
    files = export_c(room_model(), name="room", numbers=numbers, style="plain").files
    check_golden(f"plain/{numbers}", files, "room.h", "room.c")


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize("shape", ["groups", "words and pairs"])
def test_known_readings_need_no_code_for_missing_ones(numbers, shape, tmp_path, find_tool):
    rng = np.random.default_rng(4)
    model = random_model(rng, shape, 3)
    export = export_c(model, name="m", numbers=numbers, style="plain", missing=False)
    text = export.files["m.c"]
    assert "UNKNOWN" not in text
    assert "miss(" not in text
    rows = odd_rows(rng, model, 400)
    rows = np.where(np.isnan(rows), 0.0, rows)
    program = build(export, tmp_path, find_tool("cc"))
    places, beliefs = decide(program, export, rows, 3)
    expected = export.simulator.decide(rows)
    np.testing.assert_array_equal(places, expected[0])
    np.testing.assert_array_equal(beliefs, expected[1])


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_the_source_is_cpp_too(numbers, tmp_path, find_tool):
    model = random_model(np.random.default_rng(1), "words and pairs", 3)
    export = export_c(model, name="m", numbers=numbers, style="plain")
    build(export, tmp_path, find_tool("cc"))
    subprocess.run([find_tool("c++"), *CPP11, "-c", "m.c", "-o", "m.o"], cwd=tmp_path, check=True)


def test_gnu_c_computes_the_same_bits(tmp_path, find_tool):
    """GNU C fuses multiplications and additions, unless it is told not to."""
    rng = np.random.default_rng(6)
    model = random_model(rng, "groups", 3)
    export = export_c(model, name="m", style="plain")
    flags = [flag for flag in C99 if not flag.startswith(("-std", "-ffp"))]
    program = build(export, tmp_path, find_tool("cc"))
    command = [find_tool("cc"), "-std=gnu99", "-O3", "-mfma", *flags, "m.c", "main.c", "-o", "gnu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "unrecognized" in done.stderr:
        pytest.skip("this processor has no -mfma")
    assert done.returncode == 0, done.stderr
    rows = odd_rows(rng, model, 500)
    for one, other in zip(
        decide(program, export, rows, 3), decide(tmp_path / "gnu", export, rows, 3), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_rules_stand_beside_their_weights():
    text = export_c(room_model(), name="room", numbers="q15", style="plain").files["room.c"]
    export = export_c(room_model(), name="room", numbers="q15", style="tables")
    for rule in export.rules:
        assert rule.short in text


def test_the_smaller_style_is_chosen_and_said():
    rng = np.random.default_rng(2)
    assert export_c(room_model()).style == "plain"
    assert export_c(room_model(), reasons=True).style == "tables"
    assert export_c(room_model(), style="tables").style == "tables"
    assert export_c(random_model(rng, "tree", 3)).style == "tables"
    judged = replace(room_model(), policy=Policy(min_completeness=0.5))
    assert export_c(judged).style == "tables"
    with pytest.raises(ParameterError, match="plain C has no policy"):
        export_c(judged, style="plain")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"reasons": True}, "plain C has no reasons"),
        ({"style": "short"}, "'style' must be 'plain' or 'tables'. Got 'short'"),
    ],
)
def test_what_plain_c_cannot_do_is_refused(options, fault):
    with pytest.raises(ParameterError, match=fault):
        export_c(room_model(), **{"style": "plain"} | options)


def test_plain_c_has_neither_policies_nor_trees():
    rng = np.random.default_rng(2)
    tree = random_model(rng, "tree", 3)
    with pytest.raises(ParameterError, match="plain C has no trees or inner nodes"):
        export_c(tree, style="plain")


PROBE = """
#include "m.h"
#include "solah_probe.h"

void solah_probe(const void *row, void *answer)
{{
    *(int32_t *)answer = m_predict((const {reading} *)row);
}}
"""


@pytest.mark.slow
def test_integers_are_small_and_quick(find_tool, tmp_path):
    platform = with_tools("cortex-m0plus", find_tool)
    model = room_model()
    export = export_c(model, name="m", numbers="q15", style="plain")
    rows = export.simulator.prepare(odd_rows(np.random.default_rng(0), model, 50))
    found = measure(platform, sources(export, tmp_path, PROBE), rows, includes=[tmp_path])
    assert found.ram == 0
    assert found.flash < 600
    assert found.instructions < 300


@pytest.mark.parametrize("style", ["plain", "tables"])
@pytest.mark.parametrize(("bits", "gain"), [(12, 0.5), (16, 0.03125), (10, 2.0)])
def test_counts_of_a_converter_need_no_conversion(style, bits, gain, tmp_path, find_tool):
    adc = {"CO2": Counts(bits, gain, 200.0)}
    export = export_c(room_model(), name="m", numbers="q15", style=style, adc=adc)
    header = export.files["m.h"]
    assert f"the count of an ADC, 0 to {2**bits - 1}, of 200 + {gain:g} * count" in header
    assert "M_BITS_CO2" not in header
    counts = np.arange(0, 2**bits, 7)
    rows = np.column_stack([200.0 + gain * counts, counts % 2])
    np.testing.assert_array_equal(export.simulator.prepare(rows)[:, 0], counts)
    places, beliefs = decide(build(export, tmp_path, find_tool("cc")), export, rows, 2)
    expected = export.simulator.decide(rows)
    np.testing.assert_array_equal(places, expected[0])
    np.testing.assert_array_equal(beliefs, expected[1])
    by_model = run(room_model().program, rows)
    assert beliefs / 32768 == pytest.approx(by_model, abs=0.01)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"numbers": "float"}, "counts of an ADC are for integers"),
        ({"adc": {"CO2": Counts(12, 1e-9, 5.0)}}, "counts of 'CO2' reach 5 to 5, and its words"),
        ({"adc": {"CO2": Counts(8, 0.5)}}, "'CO2' reach 0 to 127.5, .* check the gain"),
        ({"adc": {"CO2": Counts(12, 1e-9, 702.0)}}, "counts of 'CO2' reach 702 to 702, and"),
        ({"adc": {"door": Counts(1, 1.0)}}, "'door' is not a measured feature of the model"),
        ({"learning": Pace()}, "a device that learns has tables"),
    ],
)
def test_counts_that_cannot_be_are_refused(options, fault):
    with pytest.raises(ParameterError, match=fault):
        export_c(room_model(), **{"numbers": "q15", "adc": {"CO2": Counts(12, 0.5)}} | options)


@pytest.mark.parametrize(
    "counts", [(0, 1.0), (17, 1.0), (12, 0.0), (12, 1e160), (12, 1e-300), (12, 1.0, float("inf"))]
)
def test_a_converter_has_bits_and_a_gain(counts):
    with pytest.raises(ParameterError, match="an ADC"):
        Counts(*counts)
