"""Derive the state of a site, so that nothing dead is ever shown as live."""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from solah.model.policy import NO_ABSTAIN_REASON, name_reasons

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STATES = ("live", "degraded", "stale", "offline", "waiting", "disconnected")
NODE_STATES = ("online", "silent", "offline", "unknown")
SILENT_AFTER = 150.0
"""Seconds without a message after which an online node is silent; nodes send one a minute."""
DOUBTS = tuple(name_reasons(~NO_ABSTAIN_REASON))
"""Why decisions are withheld."""

_LEAST_STALE = 30.0  # seconds without a decision
_MISSED = 5
_MOST_REASONS = 10
_MAX_LETTERS = 120
# What a terminal would obey, what would turn a line around, and what cannot be written.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IS = {"silent": "is silent", "offline": "is offline", "unknown": "has sent no message"}


class Condition(NamedTuple):
    """How a site is doing.

    Attributes
    ----------
    state : ``live``; ``degraded`` if decisions come but something is missing; ``stale`` if they
        should come and do not; ``offline`` if no node is there; ``waiting`` before the first
        decision; ``disconnected`` if the broker cannot be reached
    reasons : why it is not live, in words
    """

    state: str
    reasons: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {"state": self.state, "reasons": list(self.reasons)}


def stale_after(arrivals: Iterable[float], keep_alive: float = 0.0) -> float:
    """Return after how many seconds without a decision a site is stale, given when some came.

    Five times the usual time between two messages, and at least half a minute; if nodes send on
    change, half a minute more than they may be silent.

    Examples
    --------
    >>> stale_after([0.0, 1.0, 2.0]), stale_after([0.0, 60.0, 120.0])
    (30.0, 300.0)
    >>> stale_after([0.0, 1.0, 2.0], keep_alive=60.0)
    90.0
    """
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    return max(_LEAST_STALE + keep_alive, _MISSED * median(gaps) if gaps else 0.0)


def condition_of(
    nodes: Sequence[Mapping[str, Any]], decisions: Mapping[str, Any], is_connected: bool | None
) -> Condition:
    """Derive the state of a site from the nodes and decisions of a snapshot.

    Parameters
    ----------
    nodes, decisions : those of :meth:`solah.site.observer.Observer.snapshot`
    is_connected : whether the watcher has a connection; None without a broker

    Examples
    --------
    >>> node = {"name": "cellar", "state": "silent", "is_planned": True, "decides": False}
    >>> condition_of([node], {"last_at": 7.0, "is_stale": False, "last_missing": []}, True)
    Condition(state='offline', reasons=('cellar is silent',))
    """
    if is_connected is False:
        return Condition("disconnected", ("the connection to the broker is lost",))
    planned = [node for node in nodes if node["is_planned"]] or nodes
    gone = [node for node in planned if node["state"] != "online"]
    reasons = tuple(f"{node['name']} {_IS[node['state']]}" for node in gone[:_MOST_REASONS])
    if len(gone) > _MOST_REASONS:
        reasons += (f"so are {len(gone) - _MOST_REASONS} others",)
    if decisions["last_at"] is None and all(node["state"] == "unknown" for node in planned):
        return Condition("waiting", ("no message yet",))
    if gone and len(gone) == len(planned):
        return Condition("offline", reasons)
    if decisions["last_at"] is None:
        return Condition("waiting", ("no decision yet", *reasons))
    if decisions["is_stale"]:
        return Condition("stale", ("no new decision comes", *reasons))
    if any(node["decides"] for node in gone):
        return Condition("stale", reasons)
    if decisions["last_missing"]:
        reasons += (f"the last decision lacked {', '.join(decisions['last_missing'][:5])}",)
    return Condition("degraded" if reasons else "live", reasons)


def standing(decision: Mapping[str, Any]) -> str | None:
    """Return the stable decision after a decision of a snapshot; None for "don't know".

    Without a policy, it is the decision itself.

    Examples
    --------
    >>> standing({"decision": "wet", "stable": ""}), standing({"decision": "wet", "stable": None})
    ('wet', None)
    """
    stable: str | None = decision["stable"]
    return str(decision["decision"]) if stable == "" else stable


def shown(text: str) -> str:
    r"""Make untrusted text safe to show anywhere.

    Examples
    --------
    >>> shown("a\x1b[2J") == "a\N{REPLACEMENT CHARACTER}[2J"
    True
    """
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text[:_MAX_LETTERS])
