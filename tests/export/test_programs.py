"""JavaScript, SQL and ONNX: what runs them, what they write of names, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from renamed_models import DIRECTION_MARKS, model_of_states, renamed_room

from random_models import as_table, random_model, random_rows
from small_models import room_model
from solah.data import from_array
from solah.data.cells import encode_states
from solah.exceptions import AgreementError, ParameterError
from solah.export import (
    agreement,
    export_javascript,
    export_onnx,
    export_sql,
    require_agreement,
)
from solah.export.programs import state_bounds

EXPORTS = {"javascript": export_javascript, "sql": export_sql, "onnx": export_onnx}


@pytest.fixture(params=EXPORTS)
def export(request, find_tool):
    if request.param == "javascript":
        find_tool("node")
    if request.param == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    return EXPORTS[request.param]


def rows_of(place, model, n_rows=60):
    """Draw rows with unknown readings; of the first, nothing is known."""
    rows = random_rows(np.random.default_rng(place), model, n_rows, missing=0.2)
    rows[0] = np.nan
    return rows


@given(
    st.lists(
        st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e30, 1e30)),
        min_size=1,
        max_size=4,
        unique_by=float,
    ),
    st.data(),
)
def test_a_number_counts_as_the_state_that_the_model_takes_it_for(states, data):
    check_state_bounds(states, data.draw(st.floats(-1e30, 1e30)))


@pytest.mark.parametrize("state", [9_999_999, 9_999_999.7, 1e7, -1e7, 10_000_001])
def test_numbers_of_eight_digits_are_known_by_all_of_them(state):
    check_state_bounds([state], 9_999_999.5)
    check_state_bounds([state, 0.1], 9_999_999.5)


def check_state_bounds(states, number):
    bounds = state_bounds(states)
    near = [
        [one, np.float64(np.float32(one)), one * (1 + 4e-8), one * (1 - 4e-8), *ends]
        for one, ends in zip(map(float, states), bounds, strict=True)
    ]
    numbers = np.array(sum(near, [number]))
    numbers = numbers[(numbers != 0) | ~np.signbit(numbers)]
    taken = encode_states(from_array(numbers[:, None], ["x"]).column("x"), states)
    for number, place in zip(numbers.tolist(), taken.tolist(), strict=True):
        found = [i for i, (low, high) in enumerate(bounds) if low <= number <= high]
        assert found == ([] if place != place else [int(place)])


@pytest.mark.parametrize("mark", DIRECTION_MARKS)
@pytest.mark.parametrize("place", range(7))
def test_no_direction_mark_is_written_raw(mark, place):
    names = ["target", "co2", "door", "open", "shut", "no", "yes"]
    names[place] = f"a{mark}b"
    model = renamed_room(names)
    (module,) = export_javascript(model).files.values()
    assert mark not in module
    if place == 0:  # which only a comment names
        assert not any(mark in text for text in export_sql(model).files.values())
        return
    with pytest.raises(ParameterError, match=f"direction mark U.{ord(mark):04X}, which SQL cannot"):
        export_sql(model)


def test_no_direction_mark_is_in_a_name_that_sql_is_given():
    for words in ({"table": "t\u202e"}, {"keys": ["id", "k\u2066"]}):
        with pytest.raises(ParameterError, match="has the direction mark"):
            export_sql(room_model(), **words)


@pytest.mark.parametrize("to", [export_sql, export_onnx])
def test_a_name_with_a_nul_is_refused(to):
    with pytest.raises(ParameterError, match=r"cannot hold 'd\\x00r', which has a NUL"):
        to(renamed_room(["target", "co2", "d\0r", "open", "shut", "no", "yes"]))


def test_states_that_are_no_doubles_are_refused(export):
    with pytest.raises(
        ParameterError, match="cannot distinguish the category 9007199254740993 from its"
    ):
        export(model_of_states((1, 2**53 + 1)))
    with pytest.raises(ParameterError, match="begins with a letter"):
        export(room_model(), name="../escape")


def test_a_program_that_decides_otherwise_is_refused(export):
    model = random_model(np.random.default_rng(0), "groups", 3)
    root = replace(model.root, baseline=tuple(-9 * one for one in model.root.baseline))
    table = as_table(model, rows_of(0, model))
    with pytest.raises(AgreementError, match="the program decides as the model does on .* 60 rows"):
        require_agreement(model, export(replace(model, nodes=(root,))), table)
    assert agreement(model, export(model).simulator, table).share == 1.0
