"""The front, the bars and the page, from made-up and from measured figures."""

import json

import pytest
from comparison import bars, page
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


def test_the_picture_is_in_the_page(summary, tmp_path):
    pytest.importorskip("matplotlib", exc_type=ImportError)
    files, notes = page.write_results(summary, tmp_path)
    assert (files[2].name, notes) == ("accuracy-named.svg", [])
    assert "DecisionTree" in files[2].read_text()
    assert "](accuracy-named.svg)" in files[1].read_text()
    drawn = files[2].read_text()
    page.write_results(summary, tmp_path)
    assert files[2].read_text() == drawn
