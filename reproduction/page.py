"""The summary of a reproduction as text: formatted tables, a Markdown page, a JSON document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.report.markdown import markdown_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


_FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "share": "{:.3f}".format,
    "count": "{:,.0f}".format,
    "seconds": _seconds,
    "percent": lambda value: "{:.2f} ± {:.2f}".format(*value),
    "mean": "{:.2f}".format,
    "counts": lambda value: ", ".join(map(str, value)),
}


def format_table(table: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Format the head and the rows of a table as text.

    Parameters
    ----------
    table : dict
        With ``columns`` (each with ``key``, ``title`` and ``kind``) and ``rows`` (values by key).

    Returns
    -------
    titles : list of str
    rows : list of lists of str
        A missing value is ``"-"``.

    Examples
    --------
    >>> column = {"key": "auc", "title": "AUC", "kind": "share"}
    >>> format_table({"columns": [column], "rows": [{"auc": 0.9}, {}]})
    (['AUC'], [['0.900'], ['-']])
    """
    columns = table["columns"]
    rows = [
        [
            "-" if row.get(one["key"]) is None else _FORMATS[one["kind"]](row[one["key"]])
            for one in columns
        ]
        for row in table["rows"]
    ]
    return [one["title"] for one in columns], rows


def render_page(summary: dict[str, Any]) -> str:
    """Render a summary, new or read back from its JSON file, as a Markdown page."""
    environment = markdown_environment("reproduction")
    environment.filters["formatted"] = format_table
    return environment.get_template("reproduction.md.j2").render(**summary)


def write_summary(summary: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """Write the summary as JSON and as a page; return both files."""
    folder.mkdir(parents=True, exist_ok=True)
    document, page = folder / "reproduction.json", folder / "reproduction.md"
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(document, f"{text}\n")
    write_whole(page, render_page(summary))
    return document, page
