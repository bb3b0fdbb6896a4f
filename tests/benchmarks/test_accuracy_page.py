"""The front, the bars and the page, from made-up and from measured figures."""

import doctest
import json
from itertools import pairwise

import pytest
from comparison import bars, page, pareto
from comparison.models import MODELS
from comparison.pareto import Point, pareto_front
from hypothesis import given
from hypothesis import strategies as st

points = st.lists(
    st.builds(Point, st.just("m"), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=8
)


@given(points)
def test_nothing_beats_what_is_on_the_front_and_something_beats_the_rest(some):
    front = pareto_front(some)

    def is_beaten(point):
        return any(
            other.size <= point.size
            and other.score >= point.score
            and (other.size, other.score) != (point.size, point.score)
            for other in some
        )

    assert sorted(front, key=repr) == sorted((p for p in some if not is_beaten(p)), key=repr)
    assert [p.size for p in front] == sorted(p.size for p in front)


def test_the_example_of_the_front_runs():
    assert doctest.testmod(pareto).failed == 0


def a_group(models, missing=()):
    figures = {"accuracy": 0.86, "auc": 0.90, "size": 55.0, "largest": 120.0, "n_sets": 8}
    return {
        "sets": list("abcdefgh"),
        "missing": list(missing),
        "models": {name: {**figures, **more} for name, more in models.items()},
    }


def verdicts(found):
    return {bar["what"]: bar["holds"] for bar in found}


def test_bars_are_held_or_missed():
    group = a_group({"solah": {"auc": 0.89}})
    assert verdicts(bars.find_bars({"eight": group}, (MODELS["solah"],), [])) == {
        "eight sets, solah: accuracy": True,
        "eight sets, solah: AUC": False,
        "eight sets, solah: median of rules": True,
    }


def test_bars_of_few_rules():
    few = {"accuracy": 0.85, "auc": 0.87, "largest": 21.0}
    group = a_group({"solah-20": few, "tree": {"accuracy": 0.8, "auc": 0.9}, "forest": {}})
    models = tuple(MODELS[name] for name in ("solah-20", "tree", "forest"))
    found = bars.find_bars({"eight": group}, models, [])
    assert verdicts(found) == {
        "eight sets, max_rules=20: accuracy": True,
        "eight sets, max_rules=20: most rules of a fold": False,
        "eight sets, max_rules=20: accuracy ahead of other rules and trees": True,
        "eight sets, max_rules=20: AUC ahead of other rules and trees": False,
    }
    assert found[-1]["aim"] == "> 0.900 (DecisionTree)"


def test_bars_of_sensor_sets():
    robot = {"accuracy": 0.9891, "size": 41.0}
    sets = {"iot_wall_following_robot": {"models": {"solah": robot, "tree": {}}}}
    assert verdicts(bars.find_bars({}, (MODELS["solah"],), [], sets)) == {
        "robot, solah: accuracy": True,
        "robot, solah: rules": False,
    }


def test_what_is_not_whole_is_not_judged():
    part = a_group({"solah": {"n_sets": 7}})
    assert bars.find_bars({"eight": part}, (MODELS["solah"],), []) == []
    missing = a_group({"solah": {}}, missing=["sonar"])
    assert bars.find_bars({"twelve": missing}, (MODELS["solah"],), []) == []


def test_bars_of_time():
    timing = [{"what": "Pima", "seconds": 7.0, "peer_seconds": 2.0, "ratio": 3.5, "aim": 3.0}]
    assert verdicts(bars.find_bars({}, (), timing)) == {"default fit on Pima": False}
    assert bars.find_bars({}, (), timing)[0]["measured"] == "3.50 times boosting"


@pytest.fixture
def summary(run):
    return run(models=["solah-tree", "tree", "bayes"])


def test_the_page_says_what_the_dict_says(summary):
    text = page.render_page(summary)
    assert page.render_page(json.loads(json.dumps(summary, allow_nan=False))) == text
    group = summary["groups"]["named"]
    for model, figures in group["models"].items():
        title = summary["models"][model]["title"]
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {title} ")]
        assert f"{figures['accuracy']:.3f}" in line
        assert f"{figures['brier']:.3f}" in line
        assert f"{figures['calibration']:.3f}" in line
    assert "### The sets that were named: accuracy against rules" in text
    front = [line for line in text.splitlines() if line.endswith("| yes          |")]
    assert len(front) == len(group["pareto"]) >= 1
    assert "naive Bayes" not in "".join(front)
    assert "wine" in summary["sets"]
    assert sum(group["ranks"]["accuracy"]["mean"].values()) == pytest.approx(6)


def test_tables_are_whole(summary):
    summary["bars"] = [{"what": "a", "aim": "≥ 1", "measured": "2", "holds": True}]
    summary["timing"] = [{"what": "b", "seconds": 1.0, "peer_seconds": 2.0, "ratio": 0.5}]
    lines = page.render_page(summary).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert {len(line) for line in tables if "held" in line} == {
        len("| a   | ≥ 1 | 2        | held |")
    }
    for before, line in pairwise(lines):
        if line.startswith("|") and before.startswith("|"):
            assert line.count("|") == before.count("|")
            assert len(line) == len(before)


def test_a_model_that_was_not_measured_everywhere_says_so(summary):
    group = summary["groups"]["named"]
    group["models"]["tree"]["n_sets"] = 1
    assert "DecisionTree (1 of 2 sets)" in "\n".join(page.render_group("named", summary))


def test_without_matplotlib_there_is_no_picture_and_a_note(summary, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda module: None)
    files, notes = page.write_results(summary, tmp_path / "out")
    assert [file.name for file in files] == ["accuracy.json", "accuracy.md"]
    assert notes == ["no picture, matplotlib is not installed: pip install matplotlib"]
    assert json.loads(files[0].read_text())["groups"].keys() == {"named"}
    assert files[1].read_text() == page.render_page(summary)


def test_the_picture_is_in_the_page(summary, tmp_path):
    pytest.importorskip("matplotlib", exc_type=ImportError)
    files, notes = page.write_results(summary, tmp_path)
    assert (files[2].name, notes) == ("accuracy-named.svg", [])
    assert "DecisionTree" in files[2].read_text()
    assert "](accuracy-named.svg)" in files[1].read_text()
    drawn = files[2].read_text()
    page.write_results(summary, tmp_path)
    assert files[2].read_text() == drawn
