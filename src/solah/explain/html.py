"""Renders the HTML templates for notebooks; all text is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.explain.counterfactuals.values import spell_reading


def render(template_name: str, **values: object) -> str:
    """Fill in a template of ``solah/explain/templates``.

    Templates put what they show into ``<div class="solah">`` and include ``style.html.j2``, which
    takes its colours from the page around it, so that it can be read on light and on dark ones.

    Parameters
    ----------
    template_name : str
    **values
        What the template shows; text in them is escaped.

    Returns
    -------
    html : str
    """
    return _environment().get_template(template_name).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("solah.explain"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["reading"] = spell_reading
    return environment
