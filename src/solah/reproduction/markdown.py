"""The summary of a reproduction in, a Markdown page out."""

from __future__ import annotations

from typing import Any

from solah.report.markdown import markdown_environment
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
    environment = markdown_environment("solah.reproduction")
    environment.filters["spelt"] = spell_table
    return environment.get_template("reproduction.md.j2").render(**summary)
