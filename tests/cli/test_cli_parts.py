"""The parts of the command line that have no verb of their own."""

import io
import sys
from dataclasses import dataclass
from inspect import signature
from typing import Annotated

import pytest
from rich.console import Console

from solah.cli.problems import split_names
from solah.cli.screen import Screen
from solah.cli.verb import verb
from solah.cli.wording import plural
from solah.progress import show_progress


@dataclass(frozen=True)
class Colour:
    red: Annotated[int, "how red"] = 1
    blue: int = 2


def test_a_group_of_options_is_spread_and_gathered():
    seen = []

    @verb
    def paint(wall: str, colour: Colour, coats: int = 1) -> None:
        """Paint it."""
        seen.append((wall, colour, coats))

    assert list(signature(paint).parameters) == ["wall", "red", "blue", "coats"]
    assert signature(paint).parameters["red"].default == 1
    assert signature(paint).parameters["red"].annotation == Annotated[int, "how red"]
    assert (paint.__name__, paint.__doc__) == ("paint", "Paint it.")
    paint(wall="north", red=7, blue=8, coats=2)
    assert seen == [("north", Colour(7, 8), 2)]


def test_names_are_split_at_commas():
    assert split_names(None, []) == []
    assert split_names(["a, b", "c", ","], ["a", "b"]) == ["a", "b", "c"]
    assert split_names(["a,b", " c "], ["a,b", " c "]) == ["a,b", " c "]


def test_plural():
    assert plural(1, "row") == "1 row"
    assert plural(2_000, "row") == "2,000 rows"
    assert plural(0, "class", "classes") == "0 classes"


@pytest.mark.parametrize(("total", "shown"), [(10, "10/10 rows"), (None, "10 rows")])
def test_progress_is_counted(total, shown):
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with show_progress(console, total, "rows") as advance:
        advance(4)
        advance(6)
    assert shown in console.file.getvalue()


def test_progress_is_for_those_who_look(capsys, monkeypatch):
    def shown(screen):
        with screen.progress(2, "folds") as advance:
            advance(2)
        return capsys.readouterr().err

    assert shown(Screen()) == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "2/2 folds" in shown(Screen())
    assert "2/2 folds" in shown(Screen(json=True))
    assert shown(Screen(quiet=True)) == ""
