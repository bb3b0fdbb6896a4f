"""What reports tell of a policy: risk against coverage, abstention, debouncing."""

from dataclasses import replace

import numpy as np
import pytest

from policy_cases import POLICY, room
from small_models import room_model, room_rows
from solah.model.policy import Policy
from solah.model.predictor import Predictor
from solah.report import (
    render_card,
    render_markdown,
    render_page,
    summarise,
    summarise_card,
    summarise_page,
)
from solah.report.charts import risk_picture
from solah.report.measuring import measure_trust

TRUTH = np.array([0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, -1])


def measured(model):
    return measure_trust(model, room_rows(), TRUTH, Predictor(model).outputs(room_rows()))


def test_the_curve_is_that_of_each_row_by_itself():
    model = room_model()
    found = measured(model)
    wrong = Predictor(model).model_.target.decide(Predictor(model).outputs(room_rows())) != TRUTH
    assert found["curve"]["risk"] == wrong[:-1].mean()
    assert found["curve"]["points"][-1] == [1.0, pytest.approx(wrong[:-1].mean(), abs=1e-5)]
    assert (found["chosen"], found["held"], found["events"]) == (None, None, None)


def test_the_limit_stands_on_the_curve():
    found = measured(replace(room(), policy=Policy(min_probability=(0.7, 0.7))))
    sure = Predictor(room()).outputs(room_rows())[:-1].max(axis=1) >= 0.7
    assert found["chosen"]["coverage"] == sure.mean()
    point = [round(found["chosen"][one], 5) for one in ("coverage", "risk")]
    assert point in found["curve"]["points"]
    assert "the limit of the policy: 55\N{NO-BREAK SPACE}% decided" in risk_picture(found)


def test_different_limits_of_classes_are_no_point_of_the_curve():
    assert measured(room())["chosen"] is None
    by_cost = replace(room(), policy=Policy(min_probability=(0.9, 0.3)))
    target = replace(by_cost.target, thresholds=(0.75, 0.25))
    assert measured(replace(by_cost, target=target))["chosen"] is not None


def test_settling_is_compared_with_each_row_by_itself():
    found = measured(replace(room(), policy=Policy(votes=2, window=3)))["events"]
    raw, settled = found["raw"], found["settled"]
    assert raw["decided"] == 1
    assert settled["decided"] < 1
    assert settled["n_changes"] == raw["n_changes"] == 2
    assert [one["name"] for one in settled["classes"]] == ["no", "yes"]


def test_reports_tell_when_a_model_decides():
    page = render_page(summarise_page(room(), room_rows()))
    assert "Effect of debouncing" in page
    assert "a stable decision stays for at least 5" in page
    assert "Reasons to abstain, in rows: low probability" in page
    for text in (render_markdown(summarise(room())), render_card(summarise_card(room()))):
        assert "- 2 of the last 3 decisions must agree" in text


def test_reports_of_models_without_a_policy_say_how_to_get_one():
    page = render_page(summarise_page(room_model(), room_rows()))
    assert "The model predicts every row." in page
    assert "Effect of debouncing" not in page
    assert "When it decides" not in render_card(summarise_card(room_model()))


def test_names_cannot_break_the_page():
    model = replace(room(), policy=replace(POLICY, min_probability=(0.7, 0.7)))
    target = replace(model.target, classes=("<b>", "ja & 'nein'"))
    page = render_page(
        summarise_page(replace(model, target=target), room_rows().drop(["occupied"]))
    )
    assert "<b>" not in page
