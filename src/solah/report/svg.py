"""Writes escaped SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = str | float | int | None


def tag(name: str, *contents: str | Markup, **attributes: Value) -> Markup:
    """Write an element; contents that are no markup are escaped.

    A trailing underscore of an attribute is dropped and others become hyphens, so that Python's
    own words can be used; None leaves an attribute out.

    Examples
    --------
    >>> print(tag("text", "<b>", x=1.50, class_="name", text_anchor="end"))
    <text x="1.5" class="name" text-anchor="end">&lt;b&gt;</text>
    """
    spelt = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _spell(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(map(escape, contents))
    return Markup("<{name}{attributes}>{inside}</{name}>").format(
        name=Markup(name), attributes=spelt, inside=inside
    )


def path(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """Write the ``d`` of a path through points."""
    steps = "L".join(f"{_spell(x)} {_spell(y)}" for x, y in points)
    return f"M{steps}{'Z' if closed else ''}"


def cut(text: str, width: int) -> str:
    """Cut text that is wider than so many letters; wide letters count twice."""
    if sum(map(_width, text)) <= width:
        return text
    kept, used = "", 1
    for letter in text:
        used += _width(letter)
        if used > width:
            break
        kept += letter
    return f"{kept}…"


def _width(letter: str) -> int:
    return 2 if east_asian_width(letter) in "WF" else 1


def _spell(value: Value) -> str:
    """Spell numbers as short as a picture needs them."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0", value > -0.005)
    return str(value)
