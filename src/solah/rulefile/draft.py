"""The document that a rules file describes, and where in the file each part of it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from solah.data.json_reader import Reader
from solah.exceptions import ModelFormatError, RuleTextError
from solah.model.edits import MAX_TEXT
from solah.model.format import read_model
from solah.rulefile.lexer import Cursor, lex

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.model.document import Model
    from solah.rulefile.lexer import Token

_Part = TypeVar("_Part")

_ROOT = "the model"
_PATH = re.compile(re.escape(_ROOT) + r"(?P<steps>(?:\.\w+|\[\d+\])*)")
_STEP = re.compile(r"(?:\.\w+|\[\d+\])$")


# What the parts of a document are called in the file.
_CALLED = {
    "belief": "the shares",
    "ignorance": "the masses behind 'unknown'",
    "scores": "the evidence",
    "support": "the number of rows",
}


class Draft:
    """A document on its way from a rules file.

    Parameters
    ----------
    text : the whole file

    Attributes
    ----------
    cursor : the tokens that are left
    comments : the comments read so far, as the document has them
    """

    def __init__(self, text: str) -> None:
        lexed = lex(text)
        self.cursor = Cursor(lexed.tokens)
        self.comments: list[dict[str, Any]] = []
        self._of_lines = lexed.comments
        self._lines = sorted(lexed.comments, reverse=True)
        self._tokens: dict[str, Token] = {}

    def stand_at(self, path: str, token: Token) -> None:
        """Remember where a part of the document stands in the file.

        Parameters
        ----------
        path : as errors of a document have it, without the root: ``.trees[2].nodes[0]``
        token : what begins it
        """
        self._tokens[path] = token

    def keep_comments(self, token: Token, anchor: str) -> None:
        """Keep the comments before a statement, which begins with the token, and in its line."""
        while self._lines and self._lines[-1] <= token.line:
            line = self._lines.pop()
            if len(self._of_lines[line]) > MAX_TEXT:
                raise RuleTextError(f"a comment has at most {MAX_TEXT} characters", line)
            record: dict[str, Any] = {"on": anchor, "text": self._of_lines[line]}
            self.comments.append(record | ({"behind": True} if line == token.line else {}))

    def model(self, document: dict[str, Any]) -> Model:
        """Make the model of a document, with all checks; errors say where in the file."""
        if self.comments:
            document = document | {"comments": self.comments}
        return self.checked(read_model, document)

    def checked(self, read: Callable[[Reader], _Part], record: Any, path: str = "") -> _Part:
        """Read a record as a part of the document, with an error that says where in the file."""
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
