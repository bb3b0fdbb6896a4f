"""A model file on its way from a rules file, and the line that each part of it comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from solah.data.json_reader import Reader
from solah.edit.lexer import STATEMENTS, Cursor, lex
from solah.exceptions import ModelFormatError, RuleTextError
from solah.model.provenance import MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.edit.lexer import Token

_Part = TypeVar("_Part")

_ROOT = "the model"
_PATH = re.compile(re.escape(_ROOT) + r"(?P<steps>(?:\.\w+|\[\d+\])*)")
_STEP = re.compile(r"(?:\.\w+|\[\d+\])$")

# The names of parts of a model file in messages about a rules file.
_CALLED = {
    "belief": "the shares",
    "missing": "the masses behind 'missing'",
    "rows": "the number of rows",
    "shares": "the shares",
    "weights": "the weights",
}


class Draft:
    """A model file on its way from a rules file.

    Parameters
    ----------
    text : the whole rules file

    Attributes
    ----------
    cursor : the tokens that are left
    comments : the comments read so far, as the model file has them
    """

    def __init__(self, text: str) -> None:
        tokens, self._of_lines = lex(text)
        self.cursor = Cursor(tokens)
        self.comments: list[dict[str, Any]] = []
        self._lines = sorted(self._of_lines, reverse=True)
        self._tokens: dict[str, Token] = {}

    def locate(self, path: str, token: Token) -> None:
        """Keep the token that a part of the model file begins with.

        Parameters
        ----------
        path : as errors have it, without the root: ``.nodes[2].terms[0]``
        token : where it begins
        """
        self._tokens[path] = token

    def begin(self, token: Token, anchor: str, path: str | None = None) -> None:
        """Begin a statement: keep the comments before it and in its line.

        Parameters
        ----------
        token : its first token
        anchor : the name under which the comments are kept
        path : the part of the model file that it is, if it is one
        """
        while self._lines and self._lines[-1] <= token.line:
            line = self._lines.pop()
            if len(self._of_lines[line]) > MAX_TEXT:
                raise RuleTextError(f"a comment has at most {MAX_TEXT} characters", line)
            record: dict[str, Any] = {"on": anchor, "text": self._of_lines[line]}
            self.comments.append(record | ({"behind": True} if line == token.line else {}))
        if path is not None:
            self.locate(path, token)

    def block(self) -> Iterator[Token]:
        """Yield the first token of each line up to the next statement, and end each line."""
        while (token := self.cursor.next_line()).kind != "end":
            if self.cursor.is_at(*STATEMENTS):
                return
            yield token
            self.cursor.end_line()

    def checked(self, read: Callable[[Reader], _Part], record: Any, path: str = "") -> _Part:
        """Read a record as a part of the model file; an error has the line and the column."""
        try:
            return read(Reader(record, _ROOT + path, ModelFormatError))
        except ModelFormatError as error:
            message = str(error)
            match = _PATH.search(message)
            steps = match["steps"] if match else ""
            known = steps
            while known and known not in self._tokens:
                known = _STEP.sub("", known)
            if match:
                rest = steps[len(known) :].lstrip(".") or "this"
                rest = re.sub(r"^\w+", lambda key: _CALLED.get(key[0], key[0]), rest)
                message = message[: match.start()] + rest + message[match.end() :]
            raise self._tokens[known].fail(message) from None
