"""Writes escaped SVG, and marks numbers, so that a script can write them in any language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from markupsafe import Markup, escape

from solah.data.spelling import spell_mean, spell_number, spell_whole

if TYPE_CHECKING:
    from collections.abc import Iterable


Value = str | float | int | None


def tag(name: str, *contents: str | Markup, **features: Value) -> Markup:
    """Write an element; contents that are not markup are escaped.

    A trailing underscore of an attribute's name is dropped and others become hyphens, so that
    Python keywords can be used. An attribute of None is not written.

    Examples
    --------
    >>> print(tag("text", "<b>", x=1.50, class_="name", text_anchor="end"))
    <text x="1.5" class="name" text-anchor="end">&lt;b&gt;</text>
    """
    spelt = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _spell(value))
        for key, value in features.items()
        if value is not None
    )
    if not contents:
        return Markup("<{}{}/>").format(Markup(name), spelt)
    inside = Markup("").join(map(escape, contents))
    return Markup("<{name}{features}>{inside}</{name}>").format(
        name=Markup(name), features=spelt, inside=inside
    )


def path(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """Write the ``d`` of a path through points."""
    steps = "L".join(f"{_spell(x)} {_spell(y)}" for x, y in points)
    return f"M{steps}{'Z' if closed else ''}"


def cut(text: str, width: int) -> str:
    """Cut text that is wider than a number of letters; wide letters count twice."""
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
    """Format numbers as short as a figure needs them."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0", value > -0.005)
    return str(value)


_NUMBER = r"(?<![\w.,])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]\d+)?(?: ?%|(?!\w))"
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "+")
_UNKNOWN = "\N{EN DASH}"
_SPACE = "\N{NO-BREAK SPACE}"


class Marker:
    """Marks numbers; those that are part of a name stay as they are.

    Parameters
    ----------
    names : iterable of str
        Names that occur in texts beside numbers: features, words, classes.

    Examples
    --------
    >>> Marker(["band 2.5"]).split("band 2.5 is 0.38 on average of 18,420 rows")
    ['band 2.5 is ', '0.38', ' on average of ', '18,420', ' rows']
    >>> print(Marker().mark("about 1.25"))
    about <span class="number">1.25</span>
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        risky = sorted({one for one in names if re.search(_NUMBER, one)}, key=len, reverse=True)
        quoted = "|".join(map(re.escape, risky))
        kept = rf"(?<!\w)(?:{quoted})(?!\w)|" if risky else ""
        self._pattern = re.compile(rf"{kept}(?P<number>{_NUMBER})")

    def split(self, text: str) -> list[str]:
        """Split a text into other text and numbers, in turn, as the page writes it."""
        parts, end = [""], 0
        for found in self._pattern.finditer(text):
            parts[-1] += text[end : found.start()]
            end = found.end()
            number = found["number"] and _on_paper(found["number"])
            if number and _differs(number):
                parts += [number, ""]
            else:
                parts[-1] += number or found[0]
        parts[-1] += text[end:]
        return parts

    def mark(self, text: str) -> Markup:
        """Write a text with its numbers marked."""
        return Markup("").join(
            marked(part) if place % 2 else escape(part)
            for place, part in enumerate(self.split(text))
        )


def marked(number: str) -> Markup:
    """Mark a text whose numbers are to be written as the reader's language does."""
    return Markup('<span class="number">{}</span>' if _differs(number) else "{}").format(number)


def _differs(number: str) -> bool:
    """Whether languages write a number differently: most are small and whole."""
    return any(sign in number for sign in ".,%")


def written(text: str) -> str:
    """Write the numbers of a text as on paper: with a minus, and with a raised power of ten."""
    return re.sub(_NUMBER, lambda found: _on_paper(found[0]), text)


def _on_paper(number: str) -> str:
    digits, _, power = number.partition("e")
    if not digits.strip("-+0. %"):
        digits = digits.lstrip("-")
    if power:
        digits += f"{_SPACE}\N{MULTIPLICATION SIGN}{_SPACE}10{str(int(power)).translate(_RAISED)}"
    return digits.replace("-", "\N{MINUS SIGN}").replace(" %", f"{_SPACE}%")


def whole(number: int) -> Markup:
    """Write a count."""
    return marked(spell_whole(number))


def few(number: float | None, digits: int = 4) -> Markup:
    """Write a number with few digits."""
    return marked(_UNKNOWN if number is None else written(spell_number(number, digits)))


def fixed(number: float | None, decimals: int = 3) -> Markup:
    """Write a number with a number of decimals."""
    return marked(_UNKNOWN if number is None else written(f"{number:.{decimals}f}"))


def percent(share: float) -> Markup:
    """Write a share as a percentage."""
    return marked(written(f"{100 * share:.1f} %"))


def mean(number: float) -> Markup:
    """Write a mean of counts."""
    return marked(spell_mean(number))
