"""A summary in, a Markdown page out; names from the data are escaped."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.report.measures import score_rows

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~&$!]|(?<![^\W_])_|_(?![^\W_]))")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


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


def escape(text: object) -> str:
    """Write text so that Markdown shows it as it is, on one line.

    An underscore within a word means nothing to Markdown, so it stays readable.
    """
    return _SPECIAL.sub(r"\\\1", _UNPRINTABLE.sub(" ", str(text)))
