"""Models whose every text was chosen by somebody who wants to break out of it."""

import json
import re

import numpy as np

from random_models import random_model
from solah.data import as_column
from solah.model.format import from_json, to_json

_LINE_ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
_PYTHON = "open('canary','w').close()"
_C = "#error injected"
_CMAKE = 'file(WRITE canary "")'
_HIDDEN = "\u202e\u2066\u2067\u2068\u2069\u200b\u200f\ufeff\x00\x07\x08\x1b[2J\x7f\x9b"

HOSTILE = (
    # An encoding in which what follows is code (PEP 263), or one that nobody knows.
    rf"coding: unicode_escape \n{_PYTHON};",
    rf"-*- coding: raw_unicode_escape -*- \u000a{_PYTHON}#",
    f"vim: set fileencoding=utf-7 : +AAo-{_PYTHON}",
    "coding=nothing",
    # What ends the line, and code behind it.
    *(f"a{end}{_C}{end}{_PYTHON}{end}" for end in _LINE_ENDS),
    # What ends a comment or a string, and code behind it.
    f"*/\n{_C}\n/*",
    f"*/*/*/ {_C}",
    "/* /*/ /**/ //",
    f'"; {_PYTHON} #',
    f"'''; {_PYTHON} #",
    f'"""\n{_PYTHON}\n"""',
    f']]\n{_CMAKE}\n#[[ "${{}}"',
    # What takes the next line into this one: a backslash, or a trigraph for it.
    "ends in a backslash\\",
    "ends in a backslash and a blank\\ ",
    "ends in a trigraph??/",
    "????/ ??? ??' ??( \\x41\\u0041\\N{BULLET}\\",
    # What tools expand.
    "$(shell,touch canary)",
    "$(info,x) ${HOME} $ENV{HOME} @VAR@ `touch canary` {{ 7 * 7 }} {% raw %} %s %n {0}",
    # What cannot be seen, is very long, or is nothing much.
    f"before{_HIDDEN}after",
    "ä" * 5000,
    "色 👩\u200d🔬 'größe'",
    " ",
    "*",
    "/",
    "?",
)
"""Texts that do harm where they are written as they are; some make a file called ``canary``."""


def is_category(text):
    """Tell whether a cell with a text is a category: not a number, blanks or a missing value."""
    return as_column("x", np.array([text, "x"], dtype=object)).values.tolist() == [text, "x"]


def hostile_model(place: int, shape: str = "words", texts=HOSTILE):
    """Read a model from a document of hostile texts only; the target's is the one at a place."""
    plain = random_model(np.random.default_rng(place), shape, 3)
    document = json.loads(to_json(plain))
    words = ("y", "x0", "x1", "x2", "x3", "x4", "x5", "z0", "z1", "s")
    words += ("c0", "c1", "c2", "a", "b", "c", "low", "medium", "high")
    # Nodes and features need names of their own, so that all texts must differ.
    other = {word: texts[(place + i) % len(texts)] for i, word in enumerate(words)}
    for state in "abc":
        other[state] = other[state] if is_category(other[state]) else f"[{other[state]}]"
    assert len(set(other.values())) == len(words)
    document["generator"] = texts[place]
    return from_json(json.dumps(_replaced(document, other)).encode())


def _replaced(value, other):
    if isinstance(value, dict):
        return {key: _replaced(below, other) for key, below in value.items()}
    if isinstance(value, list):
        return [_replaced(below, other) for below in value]
    if isinstance(value, str) and (believed := re.fullmatch(r"(\w+)\((\w+)\)", value)):
        return f"{other[believed[1]]}({other[believed[2]]})"
    return other.get(value, value) if isinstance(value, str) else value
