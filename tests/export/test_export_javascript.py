"""The JavaScript module: the page's predictor, what it takes as readings, and what it refuses."""

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from judged_models import judged_model

from random_models import any_model, as_table, random_rows
from small_models import room_model
from solah.exceptions import ParameterError
from solah.export import export_javascript, require_agreement
from solah.export.js_tables import evaluator_text
from solah.model.format import model_hash
from solah.model.policy import name_reasons
from solah.model.predictor import Predictor
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


def test_page_and_module_share_one_predictor():
    model = room_model()
    source = evaluator_text()
    assert source.rstrip() in export_javascript(model).files["model.mjs"]
    assert source in render_page(summarise_page(model))


def test_it_exports_what_a_caller_needs(ask):
    model = room_model()
    found = ask(model, "{...m, decide: typeof m.decide}")
    assert found == {
        "features": ["CO2", "door"],
        "classes": ["no", "yes"],
        "decide": "function",
        "modelHash": model_hash(model),
    }


def test_what_is_not_known_is_unknown(ask):
    rows = '[{}, {CO2: null, door: undefined}, {CO2: NaN, door: "ajar"}].map(m.decide)'
    first, *others = ask(room_model(), rows)
    assert first == {"decision": "no", "probabilities": pytest.approx([0.6, 0.4])}
    assert others == [first, first]


@pytest.mark.parametrize("shape", ["tree", "words and pairs", "groups"])
def test_a_policy_holds_back_each_row_by_itself(ask, shape):
    rng = np.random.default_rng(3)
    model = judged_model(rng, shape)
    model = replace(
        model, policy=replace(model.policy, min_probability=(0.5,) * 3, min_completeness=0.6)
    )
    rows = random_rows(rng, model, 200, missing=0.2)
    table = as_table(model, rows)
    names = [one.name for one in model.features]
    columns = [table.column(name).values.tolist() for name in names]
    asked = [
        {n: None if v != v else v for n, v in zip(names, row, strict=True)}
        for row in zip(*columns, strict=True)
    ]
    found = ask(model, f"{json.dumps(asked)}.map(m.decide)")
    predictor = Predictor(model)
    expected = predictor.decide(table, groups=range(200))
    alone = replace(model.policy, smoothing=1, hysteresis=0.0)
    judged = Predictor(replace(model, policy=alone)).decide(table, groups=range(200))
    assert [one["decision"] for one in found] == judged.decisions == expected.decisions
    assert [one["leaning"] for one in found] == predictor.predict(table).tolist()
    assert [one["abstain_reasons"] for one in found] == [
        name_reasons(one) for one in judged.abstain_reasons.tolist()
    ]
    assert None in judged.decisions
    assert set(judged.decisions) > {None}
    assert require_agreement(model, export_javascript(model)).share == 1.0


@pytest.mark.parametrize(
    ("reading", "fault"),
    [
        ('{CO2: "450"}', 'TypeError: the reading of "CO2" must be a number'),
        ("{co2: 450}", 'RangeError: the model has no feature "co2"'),
        ("null", "TypeError"),
    ],
)
def test_what_is_no_reading_is_an_error(ask, reading, fault):
    with pytest.raises(RuntimeError, match=fault):
        ask(room_model(), f"m.decide({reading})")


def test_a_number_is_estimated(ask):
    assert list(ask(any_model(6), "m.decide({})")) == ["estimate"]
    assert "classes" not in ask(any_model(6), "m")


def test_without_node_nothing_is_compared(monkeypatch):
    monkeypatch.setenv("PATH", "")
    export = export_javascript(room_model())
    assert export.simulator is None
    with pytest.raises(ParameterError, match="node is not installed"):
        require_agreement(room_model(), export)
