"""Parses the short text of a hierarchy: ``z1 <- x1, x2; y <- z1``."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from solah.exceptions import ParameterError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
      (?P<blank>     [^\S\n]+ | \#[^\n]* )
    | (?P<line>      \n )
    | (?P<semicolon> ; )
    | (?P<comma>     , )
    | (?P<arrow>     <- | ← )
    | (?P<quoted>    "(?: [^"\\\n] | \\. )*" )
    | (?P<name>      (?: (?!<-) [^\s,;"\#←] )+ )
    """,
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class ShortText:
    """A hierarchy as short text, and how far it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._scan())
        self._next = 0

    def nodes(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Read the name and the inputs of every tree."""
        while True:
            while self._took("line", "semicolon"):
                pass
            if self._took("stop"):
                return
            yield self._node()

    def _node(self) -> tuple[str, tuple[str, ...]]:
        name = self._name("the name of a tree")
        if not self._took("arrow"):
            raise self._expected("'<-'")
        inputs = [self._input()]
        while self._took("comma"):
            inputs.append(self._input())
        if not self._took("line", "semicolon") and self._tokens[self._next].kind != "stop":
            raise self._expected("a comma, a semicolon or the end of the line")
        return name, tuple(inputs)

    def _input(self) -> str:
        while self._took("line"):
            pass
        return self._name("the name of an input")

    def _name(self, wanted: str) -> str:
        token = self._tokens[self._next]
        if self._took("name"):
            return token.text
        if not self._took("quoted"):
            raise self._expected(wanted)
        try:
            return str(json.loads(token.text, strict=False))
        except json.JSONDecodeError:
            raise self._fail(f"{token.text} has an escape that JSON does not know", token) from None

    def _took(self, *kinds: str) -> bool:
        took = self._tokens[self._next].kind in kinds
        self._next += took
        return took

    def _scan(self) -> Iterator[_Token]:
        start = 0
        while start < len(self._text):
            match = _TOKEN.match(self._text, start)
            if match is None or match.lastgroup is None:
                raise self._fail("a double quote is not closed", _Token("", "", start))
            if match.lastgroup != "blank":
                yield _Token(match.lastgroup, match[0], start)
            start = match.end()
        yield _Token("stop", "", start)

    def _expected(self, wanted: str) -> ParameterError:
        token = self._tokens[self._next]
        ends = {"stop": "the end", "line": "the end of the line"}
        problem = f"expected {wanted}, found {ends.get(token.kind) or shorten(token.text)}"
        if token.kind == "name":
            problem += "; a name with spaces needs double quotes"
        return self._fail(problem, token)

    def _fail(self, problem: str, token: _Token) -> ParameterError:
        line = self._text.count("\n", 0, token.start) + 1
        column = token.start - self._text.rfind("\n", 0, token.start)
        return ParameterError(f"line {line}, column {column}: {problem}")


def spelled(name: str) -> str:
    """Write a name so that ``parse`` reads it back."""
    match = _TOKEN.fullmatch(name)
    if match and match.lastgroup == "name" and name.isprintable():
        return name
    return quoted(name)


def quoted(name: str) -> str:
    """Write a name in double quotes."""
    return json.dumps(name, ensure_ascii=not name.isprintable())
