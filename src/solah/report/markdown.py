"""Renders a summary as a Markdown page; names from the data are escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.explain.markdown import escape
from solah.report.charts import mean
from solah.report.measures import score_rows


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
    environment.filters["mean"] = mean
    return environment.get_template("report.md.j2").render(**summary)


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
