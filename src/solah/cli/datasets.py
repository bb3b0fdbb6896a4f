"""``solah datasets``: the data sets that can be used by name."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from solah.cli.screen import Screen

if TYPE_CHECKING:
    from rich.text import Text

    from solah.datasets import DatasetInfo


def datasets(screen: Screen) -> None:
    """List the data sets that fit, predict and evaluate take by name.

    Those that are not there yet are downloaded on first use, or read as CSV files from the folder
    that the environment variable SOLAH_DATA points at.

    Example: solah datasets, then: solah evaluate wine
    """
    from solah.cli.views import heading
    from solah.datasets import available

    known = available()
    if screen.json:
        screen.document([asdict(each) for each in known])
    licences = list(dict.fromkeys(each.licence for each in known))
    screen.say(heading(_columns("name", "rows", "attributes", "classes", "from")))
    for each in known:
        screen.result(_facts(each), _origin(each, licences.index(each.licence) + 1))
    screen.say("", *(f"[{number}] {text}" for number, text in enumerate(licences, start=1)))


def _columns(name: str, rows: str, attributes: str, classes: str, place: str) -> str:
    return f"{name:<26}{rows:>7}{attributes:>12}{classes:>9}   {place}"


def _facts(each: "DatasetInfo") -> "Text":
    """Write a data set's shape and where it is, in bold if it is there."""
    from rich.text import Text

    sizes = f"{each.rows:,}", str(each.attributes), str(each.classes)
    return Text(_columns(each.name, *sizes, each.where), "bold" if each.at_hand else "")


def _origin(each: "DatasetInfo", licence: int) -> "Text":
    from rich.text import Text

    return Text(f"    {each.source} [{licence}]", "dim")
