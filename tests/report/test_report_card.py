"""Model cards: what they tell is true of the model, and nothing from the data can break them.

To write the golden files again after a change that is meant: ``SOLAH_WRITE_GOLDEN=1 pytest …``.
"""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import page_models
import pytest
from markdown_it import MarkdownIt

from small_models import room_model, room_rows
from solah.data import Column, Table
from solah.exceptions import ColumnError, DataError
from solah.export import export_c
from solah.export.footprint import counted_flash
from solah.model.document import Monotonic
from solah.model.provenance import Edit, digest_columns
from solah.report import render_card, render_page, summarise_card, summarise_page

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "card_of_model": lambda: summarise_card(room_model()),
    "card_with_rows": lambda: summarise_card(
        room_model(), room_rows(), source="rooms.csv", by=["floor"]
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_that_of_the_golden_file(name):
    card = render_card(CASES[name]())
    file = GOLDEN / f"{name}.md"
    if os.environ.get("SOLAH_WRITE_GOLDEN"):
        file.write_text(card, encoding="utf-8")
    assert card == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", page_models.NAMES)
def test_every_model_has_one_that_is_ready_for_json(name):
    model, table, target = page_models.make(name)
    summary = summarise_card(model, table, target, source=name)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert render_card(summary).startswith("# Model card: ")
    assert render_card(summarise_card(model))


def test_rows_are_recognised_as_those_that_were_learned_from():
    table = room_rows()
    model = room_model()
    columns = digest_columns(model, table, table.column("occupied"))
    same = replace(model, provenance=replace(model.provenance, columns=columns))
    backwards = table.take(np.arange(12)[::-1])
    assert summarise_card(same, backwards)["card"]["is_training_data"] is True
    assert summarise_card(same, table.rows(0, 11))["card"]["is_training_data"] is False
    assert summarise_card(same, table.drop(["occupied"]))["card"]["is_training_data"] is None
    assert summarise_card(replace(model, provenance=None), table)["card"]["provenance"] is None


def test_readings_beyond_the_range_and_unseen_states_are_counted():
    table = room_rows()
    door = Column("door", np.array(["ajar", "open", None] * 4, dtype=object))
    rows = Table((table.column("CO2"), door), 12)
    with pytest.warns(UserWarning, match="'ajar'"):
        co2, of_door = summarise_card(room_model(), rows)["card"]["ranges"]
    assert (co2["low"], co2["high"], co2["beyond"], co2["missing"]) == (390.0, 1500.0, 1, 1)
    assert (of_door["states"], of_door["beyond"], of_door["missing"]) == (["open", "shut"], 4, 4)


def test_what_rests_on_few_rows_is_named():
    model = room_model()
    model = replace(model, provenance=replace(model.provenance, classes=(115, 5)))
    few = summarise_card(model)["card"]["few"]
    assert few["classes"] == [{"class": "yes", "rows": 5}]
    assert few["rules"] == [{"condition": "CO2 is low", "rows": 28.0}]


def test_the_size_is_that_of_the_export():
    flash = summarise_card(room_model())["card"]["device"]["flash"]
    for numbers in ("float", "q15"):
        export = export_c(room_model(), numbers=numbers)
        assert flash[numbers] == counted_flash(export.files, export.name, export.style)


def test_what_people_did_is_told_where_the_document_has_it():
    edit = Edit("high CO2 counts for more", author="Ann", time="2026-02-03T08:00:00Z")
    model = replace(room_model(), edits=(edit,), monotonic=(Monotonic("CO2", 1, 1),))
    card = render_card(summarise_card(model))
    assert "- a higher CO2 never lowers the probability of yes" in card
    assert f"- edit: {edit}" in card
    assert "high CO2 counts for more" in str(edit)
    assert "No constraints" not in card
    page = render_page(summarise_page(model))
    assert "a higher CO2 never lowers the probability of yes" in page


def test_names_cannot_break_the_card():
    nasty = "|<script>|_色_`"
    table = room_rows()
    groups = Column(nasty, np.array([nasty, "b"] * 6, dtype=object))
    rows = Table((*table.columns, groups), 12)
    origin = replace(room_model().provenance, source=nasty, dropped=(nasty,))
    model = replace(room_model(), provenance=origin)
    summary = summarise_card(model, rows, source=nasty, by=[nasty])
    tokens = MarkdownIt("commonmark").enable("table").parse(render_card(summary))
    inline = [child for token in tokens for child in token.children or ()]
    assert not [child for child in inline if child.type == "html_inline"]
    assert not [token for token in tokens if token.type == "html_block"]
    rows_of_tables = [token for token in tokens if token.type == "tr_open"]
    assert len(rows_of_tables) == render_card(CASES["card_with_rows"]()).count("\n|") - 6
    page = render_page(summarise_page(model, rows, source=nasty, by=[nasty]))
    assert "<script>|" not in page


def test_the_page_shows_groups_and_where_not_to_use_it():
    page = render_page(summarise_page(room_model(), room_rows(), source="rooms", by=["floor"]))
    assert "By <bdi>floor</bdi>" in page
    assert "No rule asks for <bdi>floor</bdi>." in page
    assert "fewer than 30 rows" in page
    assert "Training data and limits" in page
    assert "Dropped: <bdi>floor</bdi>" in page


def test_wrong_rows_are_refused():
    with pytest.raises(ColumnError, match="no column 'flor'; did you mean 'floor'"):
        summarise_card(room_model(), room_rows(), by=["flor"])
    with pytest.raises(DataError, match="no rows"):
        summarise_card(room_model(), room_rows().rows(0, 0))
