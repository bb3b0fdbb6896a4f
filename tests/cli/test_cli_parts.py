"""The parts of the command line that have no verb of their own."""

import sys
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, ClassVar

from solah.cli.command import command, option
from solah.cli.problem import split_names
from solah.cli.screen import Screen


@dataclass(frozen=True)
class Colour:
    panel: ClassVar[str] = "Colours"

    red: Annotated[int, option("--red", "How red.")] = 1
    blue: Annotated[int, option("--blue", "How blue.")] = 2


def test_a_group_of_options_is_spread_and_gathered():
    seen = []

    @command
    def paint(wall: str, colour: Colour, coats: int = 1) -> None:
        """Paint it."""
        seen.append((wall, colour, coats))

    assert list(signature(paint).parameters) == ["wall", "red", "blue", "coats"]
    assert signature(paint).parameters["red"].default == 1
    assert (paint.__name__, paint.__doc__) == ("paint", "Paint it.")
    paint(wall="north", red=7, blue=8, coats=2)
    assert seen == [("north", Colour(7, 8), 2)]


def test_names_are_split_at_commas():
    assert split_names(None, []) == []
    assert split_names(["a, b", "c", ","], ["a", "b"]) == ["a", "b", "c"]
    assert split_names(["a,b", " c "], ["a,b", " c "]) == ["a,b", " c "]


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
