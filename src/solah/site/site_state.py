"""Derive the state of a site, so that nothing dead is ever shown as live."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

State = Literal["live", "degraded", "stale", "offline", "waiting", "disconnected"]
STATES: tuple[State, ...] = ("live", "degraded", "stale", "offline", "waiting", "disconnected")

LEAST_STALE = 30.0
"""Seconds without a decision that never make a site stale by themselves."""
_MISSED = 5
_MOST_REASONS = 10


@dataclass(frozen=True)
class Condition:
    """How a site is doing.

    Attributes
    ----------
    state : ``live``; ``degraded``, where decisions come but something is missing; ``stale``, where
        they should come and do not; ``offline``, where no node is there; ``waiting``, before the
        first decision; ``disconnected``, where the broker cannot be reached, so that nobody knows
    reasons : why it is not live, in words
    """

    state: State
    reasons: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {"state": self.state, "reasons": list(self.reasons)}


def stale_after(arrivals: Iterable[float], keep_alive: float = 0.0) -> float:
    """Return after how many seconds without a decision a site is stale, given when some came.

    Five times the usual time between two messages, and at least half a minute; where nodes send on
    change, half a minute more than they may be silent.

    Examples
    --------
    >>> stale_after([0.0, 1.0, 2.0]), stale_after([0.0, 60.0, 120.0])
    (30.0, 300.0)
    >>> stale_after([0.0, 1.0, 2.0], keep_alive=60.0)
    90.0
    """
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    least = LEAST_STALE + keep_alive
    return max(least, _MISSED * median(gaps)) if gaps else least


def judge(
    nodes: Sequence[Mapping[str, Any]], decisions: Mapping[str, Any], is_connected: bool | None
) -> Condition:
    """Derive the state of a site from the nodes and decisions of a snapshot.

    Parameters
    ----------
    nodes, decisions : those of :meth:`solah.site.observer.Observer.snapshot`
    is_connected : whether who watches has a connection; None where there is no broker

    Examples
    --------
    >>> node = {"name": "cellar", "state": "silent", "is_planned": True, "decides": False}
    >>> judge([node], {"last_at": 7.0, "is_stale": False, "last_missing": []}, True)
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


_IS = {"silent": "is silent", "offline": "is offline", "unknown": "has sent no message"}
