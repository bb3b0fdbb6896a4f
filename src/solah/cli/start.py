"""Say where to begin: what ``solah`` prints when it is asked for nothing."""

from __future__ import annotations

from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_DATA_ENDINGS = (".csv", ".tsv", ".parquet", ".arff", ".csv.gz")
_MODEL_SIGN = b'"format": "solah-model"'
_MOST_FILES = 1_000


def start_text(folder: Path) -> str:
    """Name the commands to begin with, with the files that are at hand."""
    files = sorted(islice((path for path in folder.iterdir() if path.is_file()), _MOST_FILES))
    data = next((path.name for path in files if path.name.endswith(_DATA_ENDINGS)), None)
    model = next((path.name for path in files if _is_model(path)), None)
    rows, learnt = quote(data or "data.csv"), quote(model or "model.json")
    lines = {
        "See it work": "solah demo",
        "Learn from a table": f"solah fit {rows} --target COLUMN",
        "Read the rules": f"solah rules {learnt}",
        "Decide on rows": f"solah predict {learnt} {rows}",
        "See why, in the browser": f"solah report {learnt} {rows}",
        "Bring it to a board": f"solah export {learnt} {rows} --to arduino",
        "Spread it over sensors": f"solah plan {learnt}",
        "All verbs; one of them": "solah --help; solah fit --help",
    }
    width = max(map(len, lines))
    listed = "\n".join(f"  {what:<{width}}  {command}" for what, command in lines.items())
    return f"solah: classifiers a person can read and a sensor can run\n\n{listed}"


def _is_model(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    try:
        with path.open("rb") as file:
            return _MODEL_SIGN in file.read(200)
    except OSError:
        return False
