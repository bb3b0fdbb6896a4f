"""The tokens of rules and rules files: read, and written so that they are read back."""

from __future__ import annotations

import json
import re

from solah.model.lexer import Cursor, Token, lex

_TOKEN = re.compile(
    r"""
      (?P<blank>   [^\S\n]+ | \#[^\n]* )
    | (?P<line>    \n )
    | (?P<comma>   , )
    | (?P<bar>     \| )
    | (?P<colon>   : )
    | (?P<joint>   -or- )
    | (?P<number>  [+-]?(?: [0-9]+(?:\.[0-9]*)? | \.[0-9]+ )(?:[eE][+-]?[0-9]+)?
                   (?! (?!-or-)[\w.%/()'*-] ) )
    | (?P<quoted>  "(?: [^"\\\n] | \\. )*" )
    | (?P<name>    [^\W\d](?: (?!-or-)[\w.%/()'*-] )* )
    """,
    re.VERBOSE,
)
# Words that begin a line, and those that hold a sentence together: a name that is one of them is
# quoted.
_STARTS = "always baseline belief constraint edit feature group if otherwise pin policy rules solah"
_JOINTS = "and anything at false from is known missing or then true"
STATEMENTS = frozenset((*_STARTS.split(), "start", "sum", "target", "tree"))
RESERVED = STATEMENTS.union(_JOINTS.split())


def open_text(text: str) -> Cursor:
    """Return a cursor at the start of a text."""
    return Cursor(tokens_of(text), RESERVED)


def tokens_of(text: str) -> list[Token]:
    """Cut the text of rules into tokens."""
    return lex(text, _TOKEN)


def spell_name(name: str) -> str:
    """Write a name so that it is read back, in double quotes where needed.

    Examples
    --------
    >>> print(spell_name("CO2"), spell_name("petal width (cm)"), spell_name("if"))
    CO2 "petal width (cm)" "if"
    """
    match = _TOKEN.fullmatch(name)
    if match and match.lastgroup == "name" and name not in RESERVED and name.isprintable():
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())


def spell_number(number: float) -> str:
    """Write a number so that the same is read back, without a needless point.

    Examples
    --------
    >>> spell_number(150.0), spell_number(0.1), spell_number(-0.0)
    ('150', '0.1', '-0')
    """
    return repr(float(number)).removesuffix(".0")


def spell_signed(number: float) -> str:
    """Write a number with its sign."""
    text = spell_number(number)
    return text if text.startswith("-") else f"+{text}"
