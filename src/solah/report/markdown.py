"""Renders a summary as a Markdown page; names from the data are escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.data.spelling import spell_mean
from solah.explain.legend import escape
from solah.report.groups import group_notes, group_table, score_rows


def render_markdown(summary: dict[str, Any]) -> str:
    """Write the report as Markdown.

    Parameters
    ----------
    summary : dict
        As :func:`solah.report.summarise` returns it.

    Returns
    -------
    page : str
    """
    environment = markdown_environment("solah.report")
    environment.filters["score_rows"] = score_rows
    environment.filters["mean"] = spell_mean
    return environment.get_template("report.md.j2").render(**summary)


def render_card(summary: dict[str, Any]) -> str:
    """Write a model card as Markdown.

    Parameters
    ----------
    summary : dict
        As :func:`solah.report.summarise_card` returns it.

    Returns
    -------
    page : str
    """
    environment = markdown_environment("solah.report")
    environment.filters["decimals"] = _decimals
    environment.filters["group_table"] = group_table
    environment.filters["group_notes"] = group_notes
    return environment.get_template("card.md.j2").render(**summary)


def _decimals(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def markdown_environment(package: str) -> Environment:
    """Return what renders a package's templates of Markdown pages; the filter ``md`` escapes."""
    environment = Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown, not HTML: every name goes through the filter below
    )
    environment.filters["md"] = escape
    return environment
