"""A table of plain values in, text out: the one spelling of every figure, wherever it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING = "-"


def _spread(value: Any) -> str:
    mean, deviation = value
    return f"{mean:.2f} ± {deviation:.2f}"


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


_SPELLINGS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "share": lambda value: f"{value:.3f}",
    "count": lambda value: f"{value:,.0f}",
    "seconds": _seconds,
    "percent": _spread,
    "mean": lambda value: f"{value:.2f}",
    "counts": lambda value: ", ".join(map(str, value)),
}


def spell_table(table: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Write the head and the rows of a table as text.

    Parameters
    ----------
    table : dict
        With ``columns`` (each with ``key``, ``title`` and ``kind``) and ``rows`` (a value by
        key).

    Returns
    -------
    titles : list of str
    rows : list of lists of str
        A value that is not there is ``"-"``.

    Examples
    --------
    >>> column = {"key": "auc", "title": "AUC", "kind": "share"}
    >>> spell_table({"columns": [column], "rows": [{"auc": 0.9}, {}]})
    (['AUC'], [['0.900'], ['-']])
    """
    columns = table["columns"]
    rows = [[_spell(row.get(one["key"]), one["kind"]) for one in columns] for row in table["rows"]]
    return [one["title"] for one in columns], rows


def _spell(value: Any, kind: str) -> str:
    return NOTHING if value is None else _SPELLINGS[kind](value)
