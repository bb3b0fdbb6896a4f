"""Keep the last rows of nodes that send on change, and check whether a decision is final."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.site.messages import Terms
from solah.site.send_on_change import ByRow, TermsBook, hidden

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from solah.kernels.arrays import Float
    from solah.site.messages import NodeOutput
    from solah.site.send_on_change import Sending

_MOST_ROWS = 4_096
_GROWN = 4.0  # how many times the least lead must have grown for terms that allow more
_MOST_TRIES = 3  # terms for one row, before every change is to be sent
_NEVER = -float("inf")


class Lead(NamedTuple):
    """How clear a decision is, by what is known.

    Attributes
    ----------
    winner : the place of the class that is decided for
    over : (n_classes,) its lead over each class in scores, in nats; infinite over itself
    """

    winner: int
    over: Float


class Holding:
    """What the nodes that send on change sent last, as the node that decides knows it.

    Parameters
    ----------
    sending : Sending
    model : str
        The hash of the plan.
    names : collection of str
        The nodes that send to this one.
    """

    def __init__(self, sending: Sending, model: str, names: Collection[str]) -> None:
        self._sending, self._model = sending, model
        self._nodes = {name: ByRow["NodeOutput"](_MOST_ROWS) for name in names}
        self._received = dict.fromkeys(names, _NEVER)  # when the last row came
        self._terms = TermsBook()
        self.issued = _NEVER  # when the newest terms were given

    def take(self, name: str, row: NodeOutput, now: float) -> tuple[int, ...]:
        """Take a row; return those that are to be asked for, since one before it did not come."""
        node = self._nodes[name]
        self._received[name] = max(self._received[name], now)
        if row.previous is not None:
            before = node.get(row.previous)
            if before is None:
                return row.previous, row.sequence
            row = replace(row, readings={**before.readings, **row.readings})
        known = node.get(row.sequence)
        if known is None or row.is_exact or not known.is_exact:  # else a repeated message
            node.add(row.sequence, row)
        return ()

    def row_of(self, name: str, sequence: int, since: float) -> NodeOutput | None:
        """Return what a node holds of a row; None for one that was silent for too long.

        Parameters
        ----------
        name : the node's
        sequence : the row's number
        since : when the row came; less the time that messages may be under way
        """
        is_gone = since > self._received[name] + self._sending.keep_alive
        return None if is_gone else self._nodes[name].at(sequence)

    def is_whole(self, sequence: int, *, is_exact: bool = False) -> bool:
        """Whether all nodes sent a row itself; exactly, where that is asked for."""
        rows = [node.get(sequence) for node in self._nodes.values()]
        return all(row is not None and (row.is_exact or not is_exact) for row in rows)

    def is_final(self, sequence: int, lead: Lead, missing: Collection[str]) -> bool:
        """Whether a decision is the one that all values would give.

        Parameters
        ----------
        sequence : the row's number
        lead : of its decision, by what is known
        missing : the nodes that are taken for unknown
        """
        nodes = (node for name, node in self._nodes.items() if name not in missing)
        is_number = len(lead.over) == 1
        return is_number or _is_final(lead, [self._hides(one, sequence, lead) for one in nodes])

    def _hides(self, node: ByRow[NodeOutput], sequence: int, lead: Lead) -> Float:
        """Return by how much a lead may be less than it seems, for what a node dropped."""
        size = len(lead.over)
        row = node.get(sequence)
        if row is None and self._terms.of(sequence) is None and not self._sending.is_exact:
            return np.full(size, np.inf)  # nodes may go by terms from before a restart
        if row is None:
            return hidden(self._sending, self._terms.of(sequence), lead.winner, size)
        return np.full(size, 0.0 if row.is_exact else self._sending.unit)

    def tighten(self, sequence: int, lead: Lead, now: float, times: int) -> Terms | None:
        """Return terms from a row on whose decision is not final; None for a late row.

        Parameters
        ----------
        sequence : the row's number
        lead : of its decision, by what is known
        now : the time
        times : how often that was done for this row already
        """
        last = self._terms.newest
        if last is not None and last.row - _MOST_ROWS < sequence < last.row:
            return None
        terms = self._terms_for(sequence, lead)
        return self._give(replace(terms, allowed=()) if times >= _MOST_TRIES else terms, now)

    def next_terms(self, sequence: int, lead: Lead, now: float) -> Terms | None:
        """Return terms for the rows behind a decided one; None where the last ones will do."""
        last = self._terms.newest
        if self._sending.is_exact or len(lead.over) == 1 or last is None or last.row > sequence:
            return None
        if self._will_be_final(last, lead):
            cautious = self._terms_for(sequence, Lead(lead.winner, lead.over / _GROWN))
            if not self._allows_more(cautious, last):
                return None
        return self._give(self._terms_for(sequence + 1, lead), now)

    def _give(self, terms: Terms, now: float) -> Terms:
        self._terms.add(terms)
        self.issued = now
        return terms

    def _terms_for(self, sequence: int, lead: Lead) -> Terms:
        """Return terms by which the decision is final while all nodes are silent."""
        unit, over = self._sending.unit, lead.over.copy()
        over[lead.winner] = 0.0
        share = self._sending.slack * over / max(len(self._nodes), 1)
        allowed = np.floor(share / unit) * unit if unit else share
        terms = Terms(self._model, sequence, lead.winner, tuple(allowed.tolist()))
        return terms if self._will_be_final(terms, lead) else replace(terms, allowed=())

    def _will_be_final(self, terms: Terms, lead: Lead) -> bool:
        """Whether a decision is final while all nodes are silent by these terms."""
        hides = hidden(self._sending, terms, lead.winner, len(lead.over))
        return _is_final(lead, [hides] * len(self._nodes))

    def _allows_more(self, terms: Terms, last: Terms) -> bool:
        """Whether terms allow every class more than the last ones do, which allowed some."""
        if not last.allowed or not terms.allowed:
            return bool(terms.allowed)
        others = [place for place in range(len(terms.allowed)) if place != terms.winner]
        least, before = (min(one.allowed[place] for place in others) for one in (terms, last))
        return least > max(before, self._sending.unit)


def _is_final(lead: Lead, hides: Iterable[Float]) -> bool:
    in_all = sum(hides, np.zeros(len(lead.over)))
    return bool(np.all((lead.over > in_all) | (in_all == 0.0)))
