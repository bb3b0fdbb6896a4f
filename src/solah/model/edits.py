"""What people did to a model after it was learnt: their edits, and comments in its rules file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solah.data.json_reader import Reader

MAX_EDITS = 10_000
MAX_COMMENTS = 100_000
MAX_TEXT = 2_000

_TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Edit:
    """One change of a model by a person.

    Attributes
    ----------
    text : what was done, as a sentence
    author : who did it; empty if not given
    time : when, as ISO 8601 in UTC (``2026-05-17T09:30:00Z``); empty if not given
    reason : why; empty if not given
    """

    text: str
    author: str = ""
    time: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """Return the edit as one line."""
        made = ", ".join(filter(None, (self.time, self.author)))
        because = f" (because: {self.reason})" if self.reason else ""
        return f"{made}: {self.text}{because}" if made else f"{self.text}{because}"


@dataclass(frozen=True)
class Comment:
    """A comment of a rules file.

    Attributes
    ----------
    on : the statement that it stands before or behind, as the file's writer names it
    text : the comment, without its sign
    is_behind : whether it stands in the statement's own line
    """

    on: str
    text: str
    is_behind: bool = False


def spell_time(moment: datetime) -> str:
    """Write a moment as edits have it; one without a time zone is in UTC.

    Examples
    --------
    >>> from datetime import timedelta, timezone
    >>> spell_time(datetime(2026, 5, 17, 9, 30, tzinfo=timezone(timedelta(hours=2))))
    '2026-05-17T07:30:00Z'
    """
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime(_TIME_FORMAT)


def is_time(text: str) -> bool:
    """Tell whether a text is a moment as edits have it."""
    try:
        return spell_time(datetime.strptime(text, _TIME_FORMAT)) == text
    except ValueError:
        return False


def edit_record(edit: Edit) -> dict[str, Any]:
    """Return an edit as the document has it."""
    parts = {"text": edit.text, "author": edit.author, "time": edit.time, "reason": edit.reason}
    return {key: value for key, value in parts.items() if value}


def comment_record(comment: Comment) -> dict[str, Any]:
    """Return a comment as the document has it."""
    record: dict[str, Any] = {"on": comment.on, "text": comment.text}
    return record | ({"behind": True} if comment.is_behind else {})


def read_edits(reader: Reader) -> tuple[Edit, ...]:
    """Read the edits of a document."""
    return tuple(_read_edit(item) for item in reader.items(1, MAX_EDITS))


def _read_edit(reader: Reader) -> Edit:
    fields = reader.record(["text"], ["author", "time", "reason"])
    edit = Edit(**{key: field.text(most=MAX_TEXT) for key, field in fields.items()})
    if edit.time and not is_time(edit.time):
        raise fields["time"].fail("a moment in UTC such as '2026-05-17T09:30:00Z'")
    return edit


def read_comments(reader: Reader) -> tuple[Comment, ...]:
    """Read the comments of a document."""
    return tuple(_read_comment(item) for item in reader.items(1, MAX_COMMENTS))


def _read_comment(reader: Reader) -> Comment:
    fields = reader.record(["on", "text"], ["behind"])
    text = fields["text"].text(least=0, most=MAX_TEXT)
    if "\n" in text:
        raise fields["text"].fail("a text in one line")
    is_behind = "behind" in fields and read_mark(fields["behind"])
    return Comment(fields["on"].text(), text, is_behind)


def read_mark(reader: Reader) -> bool:
    """Read a mark, which is true or not there."""
    if reader.value is not True:
        raise reader.fail("true, or left out")
    return True
