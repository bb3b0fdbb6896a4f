"""Characters in names from data that a terminal obeys, or that change the order of a line."""

from __future__ import annotations

import re

_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"
# Embeddings, overrides and isolates: what follows is shown in another order than it is read.
DIRECTION_MARK = re.compile(f"[{_DIRECTIONS}]")
CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_DIRECTIONS}]")


def harmless(text: str) -> str:
    r"""Replace control characters and direction marks in a text.

    Examples
    --------
    >>> harmless("clear\x1b[2J and turn\u202e")
    'clear�[2J and turn�'
    """
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
