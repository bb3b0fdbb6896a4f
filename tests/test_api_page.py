"""The page of the API names what is public, and nothing else."""

import importlib
import re
from pathlib import Path

import solah

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "api.md").read_text(encoding="utf-8")


def names_below(title):
    """Return the names in the first column of the table below a heading."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)]


def test_the_table_has_every_public_name_once():
    assert sorted(names_below("Imported from `solah`")) == sorted(
        set(solah.__all__) - {"__version__"}
    )


def test_every_module_of_the_table_is_imported():
    names = names_below("Imported from modules")
    assert len(names) > 8
    for name in names:
        assert importlib.import_module(name).__doc__


def test_every_name_of_the_reference_is_documented():
    for page in (DOCS / "reference").glob("*.md"):
        for dotted in re.findall(r"auto(?:class|function|exception):: ([\w.]+)", page.read_text()):
            module, _, name = dotted.rpartition(".")
            assert getattr(importlib.import_module(module), name).__doc__, dotted
