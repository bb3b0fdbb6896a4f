"""What an observer keeps of a network: nodes, outputs, decisions and rates, all bounded."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from solah.explain.novelty import name_reasons
from solah.model.policy import NO_ABSTAIN_REASON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.site.messages import SensorReport

WINDOW = 5.0
"""Seconds over which rates are measured."""
SILENT_AFTER = 150.0
"""Seconds without a message after which an online node is silent; nodes send one a minute."""
NODE_STATES = ("online", "silent", "offline", "unknown")
DOUBTS = tuple(name_reasons(~NO_ABSTAIN_REASON))
"""Why decisions are withheld."""

_BUCKETS_A_SECOND = 4
_MOST_LETTERS = 120
# What a terminal would obey, what would turn a line around, and what cannot be written.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass
class Rate:
    """Counts things, and how many came a second of late."""

    total: int = 0
    first: float | None = None
    buckets: deque[tuple[float, int]] = field(
        default_factory=lambda: deque(maxlen=int(WINDOW * _BUCKETS_A_SECOND) + 1)
    )

    def add(self, count: int, now: float) -> None:
        """Count some more."""
        self.total += count
        self.first = now if self.first is None else self.first
        start = now * _BUCKETS_A_SECOND // 1 / _BUCKETS_A_SECOND
        if self.buckets and self.buckets[-1][0] == start:
            count += self.buckets.pop()[1]
        self.buckets.append((start, count))

    def at(self, now: float) -> float:
        """Return how many came a second."""
        if self.first is None:
            return 0.0
        late = sum(count for start, count in self.buckets if now - WINDOW < start <= now)
        return round(late / min(max(now - self.first, 1.0), WINDOW), 2)


@dataclass
class WatchedNode:
    """A node, as known from its messages.

    Attributes
    ----------
    told : the state that its last status had
    told_at : when that status came; the broker may have kept it for long
    last_seen : when the last message came that the broker had not kept
    counters : what its process counted so far
    """

    told: str = "unknown"
    told_at: float = 0.0
    model: str = ""
    last_seen: float | None = None
    counters: Counter[str] = field(default_factory=Counter)
    sensors: dict[str, SensorReport] = field(default_factory=dict)
    rows: Rate = field(default_factory=Rate)
    readings: Rate = field(default_factory=Rate)

    def state(self, now: float) -> str:
        """Return ``online``, ``silent``, ``offline``, or else ``unknown``."""
        last = max(self.told_at, self.last_seen or 0.0)
        return "silent" if self.told == "online" and now - last > SILENT_AFTER else self.told


@dataclass(frozen=True)
class Output:
    """The output of a part of the model for a row.

    Attributes
    ----------
    belief : the probabilities; empty for a number
    decision : the class it would decide for, or the number
    certainty : the probability of that class; None for a number
    """

    belief: tuple[float, ...]
    decision: str
    certainty: float | None


@dataclass(frozen=True)
class WatchedPart:
    """The last output of a part, of which row, and when it came."""

    output: Output
    row: int
    received: float


@dataclass(frozen=True)
class WatchedDecision:
    """A decision.

    Attributes
    ----------
    row, time : the row's number, and when it was read
    decision : the class or the number
    place : the class's place in the model; None for a number, or where no model is known
    certainty : the probability of the class; None for a number
    missing : the parts that sent nothing in time
    known : the share of the model's knowledge that was reached
    latency : seconds from the reading to the message; None if clocks differ
    age : how old its oldest reading was, in seconds; None where nobody knows
    settled : of a model with a policy, the class that stands; None for "don't know", and empty
        where there is no policy
    abstain_reasons : why it is or could be withheld
    """

    row: int
    time: float
    decision: str
    place: int | None
    certainty: float | None
    missing: tuple[str, ...]
    known: float
    latency: float | None
    age: float | None = None
    settled: str | None = ""
    abstain_reasons: tuple[str, ...] = ()


def standing(decision: Mapping[str, Any]) -> str | None:
    """Return the stable decision after a decision of a snapshot; None for "don't know".

    Without a policy, it is the decision itself.

    Examples
    --------
    >>> standing({"decision": "wet", "settled": ""}), standing({"decision": "wet", "settled": None})
    ('wet', None)
    """
    settled: str | None = decision["settled"]
    return str(decision["decision"]) if settled == "" else settled


def shown(text: str) -> str:
    r"""Make untrusted text safe to show anywhere.

    Examples
    --------
    >>> shown("a\x1b[2J") == "a\N{REPLACEMENT CHARACTER}[2J"
    True
    """
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text[:_MOST_LETTERS])
