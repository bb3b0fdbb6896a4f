"""When nodes send: every row, or only rows in which their scores changed enough to matter.

A node that sends on change stays silent about a row if its scores are near those it sent last. The
node that decides continues with those, and sends *terms* to all nodes: how much silence may hide.
With w the class that leads, M_c the lead of w over another class c, in nats, n the number
of nodes and u the unit in which scores are written, the terms allow each node::

    A_c = slack * M_c / n

and a node is silent as long as its own lead of w over every c has fallen by no more than u + A_c
since it last sent. So the lead over c is never less than what the deciding node knows, minus the
sum of u + A_c over the silent nodes. Where that is above 0 for all c, the decision is the one that
all values would give. Where it is not, the deciding node gives new terms from that row on, for
the class that leads by then, and waits: nodes that hid more than the new terms allow send that row,
too, and the silence of the others shows that they did not. Where the lead is too small for any
silence, the terms allow none: every change is sent, and exactly.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from solah.exceptions import ParameterError
from solah.model.document import Task
from solah.site.fields import duration, number, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.site.messages import Terms
    from solah.site.plan import NodePlan

T = TypeVar("T")

UNIT = 2.0**-5
KEEP_ALIVE = 60.0
SLACK = 0.5
MOST_SLACK = 0.9
_MOST_UNIT = 1.0
_MOST_TERMS = 64


@dataclass(frozen=True)
class Sending:
    """How nodes send on change.

    Attributes
    ----------
    slack : the share of the lead that the silence of all nodes together may hide, 0 to 0.9; with 0
        every change is sent
    unit : the steps in which scores are written, in nats; 0 for exact numbers
    keep_alive : the seconds after which a row is sent though nothing changed

    Raises
    ------
    ParameterError
        If a value is out of bounds.
    """

    slack: float = setting(number(0.0, 1.0), SLACK)
    unit: float = setting(number(0.0, 1.0), UNIT)
    keep_alive: float = setting(duration(0.01), KEEP_ALIVE)

    def __post_init__(self) -> None:
        _check(0.0 <= self.slack <= MOST_SLACK, "slack", f"from 0 to {MOST_SLACK}", self.slack)
        _check(0.0 <= self.unit <= _MOST_UNIT, "unit", f"from 0 to {_MOST_UNIT:g}", self.unit)
        is_time = math.isfinite(self.keep_alive) and self.keep_alive > 0
        _check(is_time, "keep_alive", "a number of seconds above 0", self.keep_alive)

    @property
    def is_exact(self) -> bool:
        """Whether silence hides nothing at all."""
        return not self.slack and not self.unit

    def written(self, signal: Sequence[float]) -> tuple[float, ...]:
        """Return scores as they are sent: in units, less that for the last of several classes."""
        if not self.unit:
            return tuple(signal)
        last = signal[-1] if len(signal) > 1 else 0.0
        return tuple(self.unit * round((one - last) / self.unit) for one in signal)


def check_sending(sending: Sending, model: Model, nodes: Sequence[NodePlan]) -> None:
    """Refuse to send on change where what silence hides could not be bounded."""
    if passing := [node.name for node in nodes if node.sends and node.hears]:
        raise ParameterError(
            f"to send on change, every node sends to the one that decides; {passing[0]!r} passes "
            "on what it gets from others. Give groups that follow the devices: solah fit "
            "--placement"
        )
    if sending.is_exact:
        return
    names = {part.name for part in model.parts}
    if not model.is_additive or any(
        part.kind in ("term", "tree") and names & set(part.origins) for part in model.parts
    ):
        raise ParameterError(
            "'slack' and 'unit' are for additive models; with stacked trees, use 0 for both"
        )
    if model.target.task is Task.REGRESSION and sending.slack:
        raise ParameterError(
            "'slack' is a share of a lead, and an estimated number has none; use 0"
        )


class ByRow(Generic[T]):
    """Values by the number of their row, of which the first that were added go.

    Parameters
    ----------
    keep : int
        How many are kept.

    Examples
    --------
    >>> values = ByRow[str](keep=2)
    >>> for row, value in ((3, "c"), (1, "a"), (5, "e")):
    ...     values.add(row, value)
    >>> values.at(4), values.at(5), values.rows(2)
    ('a', 'e', [5])
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._values: dict[int, T] = {}
        self._order: list[int] = []

    def add(self, row: int, value: T) -> None:
        """Add the value of a row, or replace it."""
        if row not in self._values:
            insort(self._order, row)
        self._values[row] = value
        while len(self._order) > self._keep:
            gone = next(iter(self._values))
            del self._values[gone]
            del self._order[bisect_left(self._order, gone)]

    def get(self, row: int) -> T | None:
        """Return the value of a row."""
        return self._values.get(row)

    def at(self, row: int) -> T | None:
        """Return the value of the last row up to this one."""
        place = bisect_right(self._order, row)
        return self._values[self._order[place - 1]] if place else None

    def rows(self, first: int) -> list[int]:
        """List the rows from one on."""
        return self._order[bisect_left(self._order, first) :]


class TermsBook:
    """The terms of one plan, by the rows from which on they hold."""

    def __init__(self) -> None:
        self._terms: list[Terms] = []

    def add(self, terms: Terms) -> None:
        """Take terms; those for later rows, which do not follow from them, go."""
        rows = [one.row for one in self._terms]
        self._terms[bisect_left(rows, terms.row) :] = [terms]
        del self._terms[:-_MOST_TERMS]

    @property
    def newest(self) -> Terms | None:
        """The terms for the rows to come."""
        return self._terms[-1] if self._terms else None

    def of(self, row: int) -> Terms | None:
        """Return the terms that hold for a row; None where there are none."""
        place = bisect_right([one.row for one in self._terms], row)
        return self._terms[place - 1] if place else None


def hidden(sending: Sending, terms: Terms | None, winner: int, size: int) -> Float:
    """Return by how much silence may hide that the lead of a class over each other one fell.

    Parameters
    ----------
    sending : Sending
    terms : those that hold for the row
    winner : the class whose lead it is
    size : how many classes there are
    """
    if terms is None:
        return np.full(size, sending.unit)
    if not terms.allowed:
        return np.zeros(size)
    if terms.winner != winner:
        return np.full(size, np.inf)
    return sending.unit + np.array(terms.allowed)


def hides_more(
    sending: Sending, terms: Terms | None, sent: Sequence[float], now: Sequence[float]
) -> bool:
    """Whether silence about a row would hide more than it may, given what was sent last."""
    if sending.is_exact or (terms is not None and not terms.allowed):
        return tuple(sent) != tuple(now)
    change = np.subtract(now, sent)
    if terms is None:
        spread = np.ptp(change) if len(change) > 1 else abs(change[0])
        return bool(spread > sending.unit)
    fall = change - change[terms.winner]
    return bool(np.any(fall > sending.unit + np.array(terms.allowed)))


def _check(holds: bool, name: str, allowed: str, value: object) -> None:
    if not holds:
        raise ParameterError(f"{name!r} must be {allowed}. Got {value!r} instead.")
