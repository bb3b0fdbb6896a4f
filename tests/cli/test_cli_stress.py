"""``solah stress``: what decisions can stand."""

import numpy as np
import pytest

from random_models import as_table, csv_lines, random_model, random_rows
from solah.model import save_document
from solah.model.predictor import Predictor


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "wine.json"
    assert run("fit", "wine", "--max-rules", "12", "-o", path, "-q").code == 0
    return path


def test_every_attribute_is_listed_with_its_figures(run, model):
    outcome = run("stress", model, "wine", "--seed", "1")
    assert "accuracy as it is" in outcome.out
    assert "proline" in outcome.out
    found = run("stress", model, "wine", "--seed", "1", "--json").document
    assert found["seed"] == 1
    assert found["n_rows"] == 178
    assert 0 <= found["pushed"] <= found["accuracy"] <= 1
    assert {"attribute", "flips", "lost", "noisy", "pushed"} == set(found["attributes"][0])


def test_rows_without_a_class_are_left_out_and_said(run, fruits, fruit_model):
    lines = fruits.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ","
    fruits.write_text("\n".join(lines) + "\n", encoding="utf-8")
    outcome = run("stress", fruit_model, fruits, "--json")
    assert "1 row without a true class is left out" in outcome.err
    assert outcome.document["n_rows"] == 23


def test_the_column_of_true_classes_may_have_another_name(run, write, fruits, fruit_model):
    lines = fruits.read_text(encoding="utf-8").replace("geschmack 👅", "taste").splitlines()
    renamed = write("renamed.csv", *lines)
    run("stress", fruit_model, renamed).check_error("geschmack")
    assert run("stress", fruit_model, renamed, "-t", "taste").code == 0


def test_a_column_of_something_else_is_refused(run, model, write):
    run("stress", model, "wine", "-t", "proline").check_error("none of the model's classes")
    some = write("some.csv", "class,alcohol", "class_0,13", "class_9,12")
    outcome = run("stress", model, some)
    assert outcome.code == 2  # the other attributes are not there


def test_bad_input_is_said_in_one_line(run, model, write, tmp_path):
    run("stress", model, "wine", "--noise", "2").check_error("--noise")
    empty = write("empty.csv", "class,alcohol")
    run("stress", model, empty).check_error("empty.csv")
    rows = [f"{i},{i * 2.5}" for i in range(40)]
    numbers = write("n.csv", "x,y", *rows)
    run("fit", numbers, "-t", "y", "--task", "regression", "-o", tmp_path / "n.json", "-q")
    run("stress", tmp_path / "n.json", numbers).check_error("decisions between classes")


def test_models_that_add_up_are_stressed(run, write, tmp_path):
    rng = np.random.default_rng(1)
    model = random_model(rng, "groups", 3)
    save_document(model, tmp_path / "m.json")
    rows = random_rows(rng, model, 20, missing=0.1)
    classes = Predictor(model).predict(as_table(model, rows)).tolist()
    data = write("rows.csv", *csv_lines(model, rows, classes))
    found = run("stress", tmp_path / "m.json", data, "--json").document
    assert found["accuracy"] == 1.0
    assert [one["attribute"] for one in found["attributes"]] == [a.name for a in model.attributes]
