"""``solah diff``: its exit code, what it prints, and how it refuses."""

import json

import pytest

from small_models import room_model, room_rows
from solah.model import save_document


@pytest.fixture
def january(tmp_path):
    return saved(tmp_path / "january.json", room_model())


@pytest.fixture
def february(tmp_path):
    model = room_model("february.csv", co2=(-1.0, 0.4, 1.9), bias=-0.4)
    return saved(tmp_path / "february.json", model)


@pytest.fixture
def rooms(write):
    table = room_rows()
    rows = zip(*(column.values.tolist() for column in table.columns), strict=True)
    lines = (",".join("" if cell != cell else str(cell) for cell in row) for row in rows)
    return write("rooms.csv", ",".join(table.names), *lines)


def saved(path, model):
    save_document(model, path)
    return path


def test_the_exit_code_tells_whether_models_differ(run, january, february):
    same = run("diff", january, january)
    assert (same.code, same.err) == (0, "")
    assert same.out.startswith("The models are the same\n")
    other = run("diff", january, february)
    assert (other.code, other.err) == (1, "")
    assert "  if CO2 is high: yes +1.90 instead of +1.40\n" in other.out


def test_flips_and_scores_are_told(run, january, february, rooms):
    outcome = run("diff", january, february, rooms)
    assert outcome.code == 1
    assert "Predictions that flip: 3 of 12 rows (25.0%)\n" in outcome.out
    assert "  yes to no: 3 rows (1 now right, 2 now wrong)\n" in outcome.out
    assert "accuracy: " in outcome.out
    document = run("diff", january, february, rooms, "--json").document
    assert [flip["row"] for flip in document["decisions"]["flips"]] == [3, 4, 6]
    assert document["differ"] is True
    assert document["training_data"]["after"]["source"] == "february.csv"


def test_what_cannot_be_compared_is_an_error(run, january, february, rooms, write, tmp_path):
    run("diff", january, tmp_path / "none.json").check_error("none.json")
    other = json.loads(january.read_text())
    other["target"]["classes"] = ["calm", "busy"]
    stranger = write("stranger.json", json.dumps(other))
    run("diff", january, stranger).check_error("no class in common", "calm, busy")
    no_rows = write("empty.csv", "CO2,door,occupied")
    assert run("diff", january, february, no_rows).code == 2
    lacking = write("lacking.csv", "CO2,occupied", "500,no")
    run("diff", january, february, lacking).check_error("no column 'door'", "first model uses")
