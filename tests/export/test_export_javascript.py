"""The JavaScript module: the page's evaluator, what it takes as readings, and what it refuses."""

import json
import subprocess

import pytest

from random_models import any_model
from small_models import room_model
from solah.exceptions import ParameterError
from solah.export import export_javascript, require_agreement
from solah.export.arithmetic import evaluator_text
from solah.model.format import model_hash
from solah.report import render_page, summarise_page


@pytest.fixture
def ask(find_tool, tmp_path):
    """Return a function that evaluates JavaScript with the module of a model at hand."""
    node = find_tool("node")

    def answer(model, expression):
        (tmp_path / "m.mjs").write_text(export_javascript(model).files["model.mjs"], "utf-8")
        script = f'import * as m from "./m.mjs"; console.log(JSON.stringify({expression}))'
        (tmp_path / "run.mjs").write_text(script, encoding="utf-8")
        done = subprocess.run(
            [node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    return answer


def test_page_and_module_share_one_evaluator():
    model = room_model()
    source = evaluator_text()
    assert source.rstrip() in export_javascript(model).files["model.mjs"]
    assert source in render_page(summarise_page(model))


def test_it_exports_what_a_caller_needs(ask):
    model = room_model()
    found = ask(model, "{...m, decide: typeof m.decide}")
    assert found == {
        "attributes": ["CO2", "door"],
        "classes": ["no", "yes"],
        "decide": "function",
        "modelHash": model_hash(model),
    }


def test_what_is_not_known_is_unknown(ask):
    rows = '[{}, {CO2: null, door: undefined}, {CO2: NaN, door: "ajar"}].map(m.decide)'
    first, *others = ask(room_model(), rows)
    assert first == {"decision": "no", "beliefs": pytest.approx([0.6, 0.4])}
    assert others == [first, first]


def test_readings_beyond_all_words_take_the_last_one(ask):
    rows = "[1e9, Infinity, -1e9, -Infinity].map((co2) => m.decide({CO2: co2}).beliefs)"
    high, highest, low, lowest = ask(room_model(), rows)
    assert (high, low) == (highest, lowest)
    assert high != low


@pytest.mark.parametrize(
    ("reading", "fault"),
    [
        ('{CO2: "450"}', 'TypeError: the reading of "CO2" must be a number'),
        ("{co2: 450}", 'RangeError: the model has no attribute "co2"'),
        ("null", "TypeError"),
    ],
)
def test_what_is_no_reading_is_an_error(ask, reading, fault):
    with pytest.raises(RuntimeError, match=fault):
        ask(room_model(), f"m.decide({reading})")


def test_a_number_is_estimated(ask):
    assert list(ask(any_model(8), "m.decide({})")) == ["estimate"]
    assert "classes" not in ask(any_model(8), "m")


def test_without_node_nothing_is_compared(monkeypatch):
    monkeypatch.setenv("PATH", "")
    export = export_javascript(room_model())
    assert export.twin is None
    with pytest.raises(ParameterError, match="node is not installed"):
        require_agreement(room_model(), export)
