"""Write the notebooks of docs/notebooks from the programs beside them, with what their cells show.

``python docs/make_notebooks.py`` runs them all. Cells begin with ``# %%``, those of text with
``# %% [markdown]``. Output on stderr, such as progress, is stored and not compared.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent / "notebooks"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def read_cells(program: str) -> nbformat.NotebookNode:
    """Make a notebook of a program, without outputs."""
    parts = re.split(r"^# %%(.*)\n", program, flags=re.MULTILINE)[1:]
    cells = []
    for number, (kind, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if "[markdown]" in kind:
            plain = re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE)
            cells.append(nbformat.v4.new_markdown_cell(plain, id=f"cell-{number}"))
        else:
            cells.append(nbformat.v4.new_code_cell(text.strip(), id=f"cell-{number}"))
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run all cells in a folder of their own, and keep what they show."""
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name=KERNEL["name"],
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        return client.execute()


def main() -> None:
    """Write every notebook."""
    for program in sorted(FOLDER.glob("*.py")):
        notebook = execute(read_cells(program.read_text(encoding="utf-8")))
        notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
        nbformat.write(notebook, program.with_suffix(".ipynb"))
        print(program.with_suffix(".ipynb").relative_to(FOLDER.parent.parent))


if __name__ == "__main__":
    main()
