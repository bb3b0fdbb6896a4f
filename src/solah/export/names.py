"""Names of columns, classes and models in, identifiers of C out."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^0-9A-Za-z]+")
_IDENTIFIER = re.compile(r"[A-Za-z][0-9A-Za-z_]*\Z")
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        auto bool break case char class const continue default delete do double else enum extern
        false float for friend goto if inline int long main namespace new nullptr operator private
        protected public register restrict return short signed sizeof solah static struct switch
        template this throw true try typedef union unsigned using virtual void volatile while
        """,
    )
)


def check_identifier(name: str) -> str:
    """Return a name that C can have, or refuse it."""
    if not _IDENTIFIER.match(name) or name.lower() in _RESERVED or len(name) > 40:
        raise ParameterError(
            "a name in C has letters, digits and underscores, begins with a letter, and is no "
            f"word of the language. Got {shorten(name)}; give another with --name."
        )
    return name


def identifier(text: str, fallback: str) -> str:
    """Make an identifier of any text; of one without letters the fallback."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = _WORD.sub("_", plain).strip("_").lower()
    if not words or words[0].isdigit():
        words = f"{fallback}_{words}".rstrip("_")
    return f"{words}_" if words in _RESERVED else words[:40]


def distinct(texts: Iterable[str], fallback: str) -> list[str]:
    """Make identifiers of texts, all different: a repeated one gets a number.

    Examples
    --------
    >>> distinct(["Größe (cm)", "Größe cm", "色", "2nd"], "attribute")
    ['groe_cm', 'groe_cm_2', 'attribute', 'attribute_2nd']
    """
    taken: dict[str, int] = {}
    names = []
    for text in texts:
        name = identifier(text, fallback)
        taken[name] = taken.get(name, 0) + 1
        names.append(name if taken[name] == 1 else f"{name}_{taken[name]}")
        taken.setdefault(names[-1], 1)
    return names
