"""Cuts text into tokens, and walks over them; errors have a line and a column."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from solah.exceptions import RuleTextError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Collection

_MOST_DIGITS = 60


class Token(NamedTuple):
    """A piece of text and its position.

    Attributes
    ----------
    kind : the name of the group in the lexer's pattern; ``end`` behind the last token
    text : as it is written
    line, column : from 1 on
    """

    kind: str
    text: str
    line: int
    column: int

    def fail(self, problem: str) -> RuleTextError:
        """Return an error with the position of the token."""
        return RuleTextError(problem, self.line, self.column)


NOWHERE = Token("end", "", 1, 1)


def lex(text: str, pattern: re.Pattern[str]) -> list[Token]:
    """Cut a text into tokens, whose kinds are the names of groups in the pattern."""
    tokens: list[Token] = []
    start, line, line_start = 0, 1, 0
    while start < len(text):
        match = pattern.match(text, start)
        column = start - line_start + 1
        if match is None or match.lastgroup is None:
            raise RuleTextError(_wrong_character(text, start), line, column)
        kind, start = match.lastgroup, match.end()
        if kind != "blank":
            tokens.append(Token(kind, match[0], line, column))
        if kind == "line":
            line, line_start = line + 1, start
    return [*tokens, Token("end", "", line, start - line_start + 1)]


def _wrong_character(text: str, start: int) -> str:
    if text[start] == '"':
        return "a double quote is not closed"
    found = re.compile(r'[^\s,|:"#]+').match(text, start)
    piece = text[start] if found is None else found[0]
    if piece[0] in "+-.0123456789":
        return f"{shorten(piece)} is not a number; a name like this needs double quotes"
    return f"{shorten(piece)} needs double quotes, if it is a name"


class Cursor:
    """Tokens, and how far they are read."""

    def __init__(self, tokens: list[Token], reserved: Collection[str] = ()) -> None:
        self._tokens, self._reserved = tokens, reserved
        self._next = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def took(self, *kinds: str) -> bool:
        """Step over a token of one of these kinds."""
        took = self.token.kind in kinds
        self._next += took and self.token.kind != "end"
        return took

    @property
    def following(self) -> Token:
        """The token behind the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def is_at(self, *words: str) -> bool:
        """Whether one of these words comes next."""
        return self.token.kind == "name" and self.token.text in words

    def took_word(self, *words: str) -> bool:
        """Step over one of these words."""
        took = self.is_at(*words)
        self._next += took
        return took

    def word(self, *words: str) -> str:
        """Read one of these words."""
        text = self.token.text
        if not self.took_word(*words):
            shown = [repr(word) for word in words]
            wanted = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
            raise self.expected(wanted, words)
        return text

    def next_line(self) -> Token:
        """Go to the next line that has something, and return its first token."""
        while self.took("line"):
            pass
        return self.token

    def end_line(self) -> None:
        """Require the end of the line."""
        if not self.took("line", "end"):
            raise self.expected("the end of the line")

    def name(self, what: str) -> str:
        """Read a name."""
        token = self.token
        if token.kind == "quoted":
            self._next += 1
            return unquoted(token)
        if token.kind != "name":
            raise self.expected(what)
        if token.text in self._reserved:
            raise token.fail(
                f"expected {what}, found {token.text!r}, which needs double quotes as a name"
            )
        self._next += 1
        return token.text

    def number(self, what: str) -> float:
        """Read a number."""
        token = self.token
        if not self.took("number"):
            raise self.expected(what)
        _check_length(token)
        return float(token.text)

    def numbers(self, what: str) -> list[float]:
        """Read numbers with commas between them."""
        found = [self.number(what)]
        while self.took("comma"):
            found.append(self.number(what))
        return found

    def expected(self, wanted: str, words: Collection[str] = ()) -> RuleTextError:
        """Return an error that names what is expected here."""
        token = self.token
        ends = {"end": "the end", "line": "the end of the line"}
        problem = f"expected {wanted}, found {ends.get(token.kind) or shorten(token.text)}"
        if token.kind == "name":
            near = did_you_mean(token.text, words)
            before = self._tokens[self._next - 1].kind if self._next else ""
            if near.startswith("; did you mean"):
                problem += near
            elif before == "name":
                problem += "; a name with spaces needs double quotes"
        return token.fail(problem)


def unquoted(token: Token) -> str:
    """Read a name in double quotes, as JSON has it."""
    try:
        text = str(json.loads(token.text, strict=False))
        text.encode()
    except json.JSONDecodeError:
        raise token.fail(f"{shorten(token.text)} has an escape that JSON does not know") from None
    except UnicodeEncodeError:
        raise token.fail(f"{shorten(token.text)} has half a character (a lone surrogate)") from None
    if not text:
        raise token.fail("a name must not be empty")
    return text


def _check_length(token: Token) -> None:
    if len(token.text) > _MOST_DIGITS:
        raise token.fail(f"this number has more than {_MOST_DIGITS} characters")


def whole_or_real(token: Token) -> int | float:
    """Read a state that is a number: an integer, if it is written as one."""
    _check_length(token)
    is_whole = token.text.lstrip("+-").isdigit()
    return int(token.text) if is_whole else float(token.text)
