"""Choose which rows a node that sends on change sends.

What a node sent last of the rows before is what the receiver goes on with. So a row is compared
with the last sent one below it; and when a row is sent afterwards, because somebody asked for it or
because new terms allow less, the silent rows behind it are compared again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import replace
from typing import TYPE_CHECKING

from solah.site.send_on_change import TermsBook, hides_more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.site.messages import NodeOutput, Terms
    from solah.site.send_on_change import Sending

MOST_SILENT = 250
"""Rows after which one is sent though nothing changed, so that those who replay rows go on."""


_ALWAYS = (
    "unknown",
    "readings",
    "missing",
    "abstain_reasons",
)  # which are sent whenever they change


class Reporter:
    """The rows of one node and plan, and which of them were sent.

    Parameters
    ----------
    sending : Sending
    keep : int
        How many rows are kept.
    """

    def __init__(self, sending: Sending, keep: int) -> None:
        self._sending, self._keep = sending, keep
        self._terms = TermsBook()
        self._rows: dict[int, NodeOutput] = {}  # with exact scores
        self._order: list[int] = []
        self._sent: dict[int, NodeOutput] = {}  # as the receiver sees them
        self._sent_order: list[int] = []
        self._next_alive = -float("inf")

    def take(self, row: NodeOutput, now: float) -> Iterator[NodeOutput]:
        """Take the next row; yield what is to be sent."""
        if row.sequence in self._rows:
            return
        self._rows[row.sequence] = row
        insort(self._order, row.sequence)
        self._forget()
        if self._is_due(row, now) or self._matters(row):
            yield self._send(row, now)

    def answer(self, sequence: int) -> Iterator[NodeOutput]:
        """Yield a row that is asked for, exactly, and rows behind it that matter now."""
        if sequence in self._rows:
            yield self._send(self._rows[sequence], is_answer=True)
            yield from self._compare_again(sequence + 1)

    def since(self, sequence: int) -> list[int]:
        """List what to send to somebody who knows nothing of the rows from this one on."""
        place = max(bisect_right(self._sent_order, sequence) - 1, 0)
        return list(dict.fromkeys([*self._sent_order[place:], *self._order[-1:]]))

    def take_terms(self, terms: Terms) -> Iterator[NodeOutput]:
        """Take terms; yield the silent rows that matter by these."""
        self._terms.add(terms)
        yield from self._compare_again(terms.row)

    def holds(self, sequence: int) -> bool:
        """Whether a row can be sent again."""
        return sequence in self._rows

    def _compare_again(self, first: int) -> Iterator[NodeOutput]:
        """Yield the rows from one on that are to be sent by now, or more exactly than they were."""
        for sequence in self._order[bisect_left(self._order, first) :]:
            row, sent = self._rows[sequence], self._sent.get(sequence)
            is_rough = sent is not None and not sent.is_exact
            if self._matters(row) if sent is None else is_rough and not self._in_units(sequence):
                yield self._send(row)

    def _is_due(self, row: NodeOutput, now: float) -> bool:
        last = self._before(row.sequence)
        return now >= self._next_alive or last is None or row.sequence - last.sequence > MOST_SILENT

    def _matters(self, row: NodeOutput) -> bool:
        """Whether a row has to be sent, given the last sent one below it."""
        last = self._before(row.sequence)
        if last is None or any(getattr(row, name) != getattr(last, name) for name in _ALWAYS):
            return True
        terms = self._terms.of(row.sequence)
        return any(
            hides_more(self._sending, terms, last.signals[part], signal)
            for part, signal in row.signals.items()
        )

    def _send(
        self, row: NodeOutput, now: float | None = None, *, is_answer: bool = False
    ) -> NodeOutput:
        """Note that a row is sent; return it as it is sent."""
        last = None if is_answer else self._before(row.sequence)
        if not is_answer and self._in_units(row.sequence):
            signals = {part: self._sending.written(one) for part, one in row.signals.items()}
            row = replace(row, signals=signals, is_exact=False)
        if row.sequence not in self._sent:
            insort(self._sent_order, row.sequence)
        self._sent[row.sequence] = row
        if now is not None:
            self._next_alive = now + self._sending.keep_alive
        if last is None:
            return row
        changed = {
            name: reading
            for name, reading in row.readings.items()
            if reading != last.readings[name]
        }
        return replace(row, readings=changed, previous=last.sequence)

    def _in_units(self, sequence: int) -> bool:
        terms = self._terms.of(sequence)
        return self._sending.unit > 0 and (terms is None or bool(terms.allowed))

    def _before(self, sequence: int) -> NodeOutput | None:
        place = bisect_left(self._sent_order, sequence)
        return self._sent[self._sent_order[place - 1]] if place else None

    def _forget(self) -> None:
        """Forget the rows that came first."""
        for rows, order in ((self._rows, self._order), (self._sent, self._sent_order)):
            while len(rows) > self._keep:
                gone = next(iter(rows))
                del rows[gone]
                del order[bisect_left(order, gone)]
