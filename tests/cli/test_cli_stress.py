"""``solah stress``: what decisions can stand."""

import pytest


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "wine.json"
    assert run("fit", "wine", "--max-rules", "12", "-o", path, "-q").code == 0
    return path


def test_every_feature_is_listed_with_its_figures(run, model):
    outcome = run("stress", model, "wine", "--seed", "1")
    assert "accuracy" in outcome.out
    assert "proline" in outcome.out
    found = run("stress", model, "wine", "--seed", "1", "--json").document
    assert found["seed"] == 1
    assert found["n_rows"] == 178
    assert 0 <= found["adversarial"] <= found["accuracy"] <= 1
    assert {"feature", "flips", "missing", "noisy", "adversarial"} == set(found["features"][0])


def test_a_column_of_something_else_is_refused(run, model, write):
    run("stress", model, "wine", "-t", "proline").check_error("none of the model's classes")
    some = write("some.csv", "class,alcohol", "class_0,13", "class_9,12")
    outcome = run("stress", model, some)
    assert outcome.code == 2  # the other features are not there


def test_bad_input_is_said_in_one_line(run, model, write, tmp_path):
    run("stress", model, "wine", "--noise", "2").check_error("--noise")
    empty = write("empty.csv", "class,alcohol")
    run("stress", model, empty).check_error("empty.csv")
    rows = [f"{i},{i * 2.5}" for i in range(40)]
    numbers = write("n.csv", "x,y", *rows)
    run("fit", numbers, "-t", "y", "--type", "y=continuous", "-o", tmp_path / "n.json", "-q")
    run("stress", tmp_path / "n.json", numbers).check_error(
        "requires a model that predicts classes"
    )
