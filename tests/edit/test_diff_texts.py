"""How differences are told: golden files, and the parts that programs read.

To write the files again after a change that is meant: ``SOLAH_WRITE_GOLDEN=1 pytest …``.
"""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import random_models
from small_models import HIGH, LOW, room_model, room_rows
from solah import LinguisticTreeClassifier, LinguisticTreeRegressor, datasets
from solah.edit.diff import diff
from solah.edit.diff_text import instead
from solah.model.provenance import digest_columns

GOLDEN = Path(__file__).parent / "golden"
MOVED = ((LOW, 620.0), (700.0, 880.0), (1010.0, HIGH))
TWO_WORDS = ((LOW, 640.0), (910.0, HIGH))


def regressor(max_depth):
    iris = datasets.load("iris")
    table = iris.table
    target = table.column("petal width (cm)").values
    return (
        LinguisticTreeRegressor(max_depth=max_depth)
        .fit(table.drop(["petal width (cm)"]), target)
        .model_
    )


def with_thresholds(model):
    return replace(model, target=replace(model.target, thresholds=(0.3, 0.7)))


CASES = {
    "one rule edited": lambda: (room_model(), room_model(co2=(-1.2, 0.2, 2.1)), room_rows()),
    "retrained": lambda: (
        room_model(),
        room_model("february.csv", MOVED, (-1.0, 0.4, 1.9), (0.5, -0.5), 0.1, (0.5, 0.5)),
        room_rows(),
    ),
    "fewer words": lambda: (
        room_model(),
        with_thresholds(room_model("february.csv", TWO_WORDS, (-1.0, 1.3))),
        None,
    ),
    "trees": lambda: (
        *(
            LinguisticTreeClassifier(max_depth=depth).fit(iris.table, iris.target).model_
            for iris in [datasets.load("iris")]
            for depth in (1, 2)
        ),
        None,
    ),
    "numbers": lambda: (regressor(1), regressor(2), datasets.load("iris").table.rows(0, 8)),
    "groups": lambda: (
        random_models.random_number_model(np.random.default_rng(4)),
        random_models.random_number_model(np.random.default_rng(4), "words and pairs"),
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_that_of_the_golden_file(name):
    found = diff(*CASES[name]())
    file = GOLDEN / f"{name.replace(' ', '_')}.txt"
    if os.environ.get("SOLAH_WRITE_GOLDEN"):
        file.write_text(f"{found}\n", encoding="utf-8")
    assert f"{found}\n" == file.read_text(encoding="utf-8")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()


def test_a_notebook_shows_the_same_lines_and_escapes_names():
    nasty = replace(room_model().target, name="<b>x</b>")
    found = diff(room_model(), replace(room_model(), target=nasty))
    page = found._repr_html_()
    assert "the target is called &lt;b&gt;x&lt;/b&gt; instead of occupied" in page
    assert "<b>x" not in page


def test_what_was_learned_from_is_told_but_is_no_difference():
    a, b = room_model(), room_model("other.csv")
    found = diff(a, b)
    assert found.is_empty
    assert "after: other.csv" in str(found)


def test_it_is_said_which_model_was_learned_from_the_rows():
    a, b, rows = room_model(), room_model(co2=(-1.2, 0.2, 2.1)), room_rows()
    columns = digest_columns(b, rows, rows.column("occupied"))
    b = replace(b, provenance=replace(b.provenance, columns=columns))
    found = diff(a, b, rows)
    assert found.decisions.trained_on == (False, True)
    assert "the second model was trained on these rows" in str(found)
    assert "trained on these rows" not in str(diff(a, b, rows.rows(0, 11)))


def test_what_people_did_is_told_where_the_document_has_it():
    a, b = room_model(), room_model(co2=(-1.2, 0.2, 2.1))
    object.__setattr__(b, "edits", ("Ann: high CO2 counts for more",))
    found = diff(a, b)
    assert found.edits == ("Ann: high CO2 counts for more",)
    assert "Edits\n  Ann: high CO2 counts for more" in str(found)


@pytest.mark.parametrize("old", [0.0, 1e-30, 12345.678, -1e12, 0.1 + 0.2])
def test_numbers_that_differ_are_written_apart(old):
    new, same = instead(float(np.nextafter(old, 9e99)), old).split(" instead of ")
    assert new != same
