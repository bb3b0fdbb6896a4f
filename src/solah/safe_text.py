"""Names that others chose, made safe to show and to write.

They may have characters that a terminal obeys or that change the order of a line, and the name of
a file may have bytes that are not text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

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


def file_name(path: str | os.PathLike[str]) -> str:
    r"""Return the last part of a path, with bytes that are not UTF-8 replaced.

    Python keeps such bytes as lone surrogates, which no file in UTF-8 can hold.

    Examples
    --------
    >>> file_name("data/caf\udce9.csv")
    'caf�.csv'
    """
    return os.fsencode(Path(path).name).decode("utf-8", "replace")
