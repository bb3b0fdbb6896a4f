"""The summary of a reproduction in, a Markdown page out."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.report.markdown import escape
from solah.reproduction.spelling import spell_table


def render_page(summary: dict[str, Any]) -> str:
    """Write a reproduction as Markdown.

    Parameters
    ----------
    summary : dict
        As :meth:`Reproduction.run` returns it, or as it comes back from its JSON file.

    Returns
    -------
    page : str
    """
    environment = Environment(
        loader=PackageLoader("solah.reproduction"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown, not HTML: what is no text of ours goes through the filter
    )
    environment.filters["md"] = escape
    environment.filters["spelt"] = spell_table
    return environment.get_template("reproduction.md.j2").render(**summary)
