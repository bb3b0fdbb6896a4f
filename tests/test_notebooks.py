"""The notebooks of the documentation: they are those of their programs, and show what is stored."""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.py"))
MOST_BYTES = 60_000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def maker():
    """Import the script that writes the notebooks."""
    spec = importlib.util.spec_from_file_location("make_notebooks", DOCS / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(notebook):
    """List what the cells print and return, as text; stderr has times, which differ."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            if output.get("name") == "stdout":
                found.append(output.text)
            for kind in ("text/plain", "text/html"):
                found += [re.sub(r"<[^>]*>", " ", output.get("data", {}).get(kind, ""))]
    return list(filter(None, found))


@pytest.mark.parametrize("program", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored(program, maker, find_tool):
    find_tool("cc")
    stored = program.with_suffix(".ipynb")
    assert stored.stat().st_size < MOST_BYTES
    before = nbformat.read(stored, as_version=4)
    nbformat.validate(before)
    again = maker.read_cells(program.read_text(encoding="utf-8"))
    assert [cell.source for cell in before.cells] == [cell.source for cell in again.cells]
    assert len(shown(before)) > 5
    assert shown(maker.execute(again)) == shown(before), "python docs/make_notebooks.py"


def test_every_notebook_has_its_program():
    assert [path.stem for path in sorted((DOCS / "notebooks").glob("*.ipynb"))] == [
        path.stem for path in NOTEBOOKS
    ]
