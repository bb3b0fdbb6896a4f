"""Choose which rows a node that sends on change sends.

The receiver goes on with the last sent row below. So a row is compared with that; and when a row is
sent afterwards, because it is asked for or because new terms allow less, the silent rows behind it
are compared again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from solah.site.send_on_change import ByRow, TermsBook, hides_more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.site.messages import NodeOutput, Terms
    from solah.site.send_on_change import Sending

MOST_SILENT = 250
"""Rows after which one is sent though nothing changed, so that those who replay rows go on."""
_ALWAYS = ("unknown", "readings", "missing", "abstain_reasons")  # sent whenever they change


class Reporter:
    """The rows of one node and plan, and which of them were sent.

    Parameters
    ----------
    sending : Sending
    keep : int
        How many rows are kept.
    """

    def __init__(self, sending: Sending, keep: int) -> None:
        self._sending, self._terms = sending, TermsBook()
        self._rows = ByRow["NodeOutput"](keep)  # with exact scores
        self._sent = ByRow["NodeOutput"](keep)  # as the receiver sees them
        self._newest = -1
        self._next_alive = -float("inf")

    def take(self, row: NodeOutput, now: float) -> Iterator[NodeOutput]:
        """Take the next row; yield what is to be sent."""
        if self.holds(row.sequence):
            return
        self._rows.add(row.sequence, row)
        self._newest = max(self._newest, row.sequence)
        last = self._sent.at(row.sequence - 1)
        is_long = last is None or row.sequence - last.sequence > MOST_SILENT
        if now >= self._next_alive or is_long or self._matters(row):
            self._next_alive = now + self._sending.keep_alive
            yield self._send(row)

    def answer(self, sequence: int) -> Iterator[NodeOutput]:
        """Yield a row that is asked for, exactly, and rows behind it that matter now."""
        if (row := self._rows.get(sequence)) is not None:
            self._sent.add(sequence, row)
            yield row
            yield from self._compare_again(sequence + 1)

    def since(self, sequence: int) -> list[int]:
        """List what to send to a receiver without the rows from this one on."""
        last = self._sent.at(sequence)
        sent = self._sent.rows(sequence if last is None else last.sequence)
        return list(dict.fromkeys([*sent, *self._rows.rows(self._newest)]))

    def take_terms(self, terms: Terms) -> Iterator[NodeOutput]:
        """Take terms; yield the silent rows that matter by these."""
        self._terms.add(terms)
        yield from self._compare_again(terms.row)

    def holds(self, sequence: int) -> bool:
        """Whether a row can be sent again."""
        return self._rows.get(sequence) is not None

    def _compare_again(self, first: int) -> Iterator[NodeOutput]:
        """Yield the rows from one on that are to be sent by now, or more exactly than they were."""
        for sequence in self._rows.rows(first):
            row, sent = self._rows.get(sequence), self._sent.get(sequence)
            if row is None:
                continue
            is_rough = sent is not None and not sent.is_exact
            if self._matters(row) if sent is None else is_rough and not self._in_units(sequence):
                yield self._send(row)

    def _matters(self, row: NodeOutput) -> bool:
        """Whether a row has to be sent, given the last sent one below it."""
        last = self._sent.at(row.sequence - 1)
        if last is None or any(getattr(row, name) != getattr(last, name) for name in _ALWAYS):
            return True
        terms = self._terms.of(row.sequence)
        return any(
            hides_more(self._sending, terms, last.signals[part], signal)
            for part, signal in row.signals.items()
        )

    def _send(self, row: NodeOutput) -> NodeOutput:
        """Note that a row is sent; return it as it is sent."""
        last = self._sent.at(row.sequence - 1)
        if self._in_units(row.sequence):
            signals = {part: self._sending.written(one) for part, one in row.signals.items()}
            row = replace(row, signals=signals, is_exact=False)
        self._sent.add(row.sequence, row)
        if last is None:
            return row
        before, readings = last.readings, row.readings.items()
        changed = {name: reading for name, reading in readings if reading != before[name]}
        return replace(row, readings=changed, previous=last.sequence)

    def _in_units(self, sequence: int) -> bool:
        terms = self._terms.of(sequence)
        return self._sending.unit > 0 and (terms is None or bool(terms.allowed))
