"""Try a model out beside the one in use: it gets the same readings, and nobody acts on it.

Its nodes talk on topics of their own (``shadow-out``, ``shadow-ask``, ``shadow-decision``), so that
nothing of it reaches the model in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.model.document import Task
from solah.site.bundle import BundleError, read_bundle
from solah.site.compact_messages import decode_rows
from solah.site.comparison import Comparison
from solah.site.core import NodeCore
from solah.site.messages import MessageError, decode_ask
from solah.site.trust import refuse_older

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.site.bundle import Bundle
    from solah.site.core import Outbox, Settings
    from solah.site.messages import Beliefs, Decisions
    from solah.site.trust import Trust

_MOST_CLASSES = 20


class Shadow:
    """A node's part of a model that is tried out.

    Parameters
    ----------
    bundle : Bundle
    name : str
        The node's.
    settings : Settings
    """

    def __init__(self, bundle: Bundle, name: str, settings: Settings) -> None:
        self.core = NodeCore(bundle, name, settings)
        is_number = bundle.model.target.task is Task.REGRESSION
        self._comparison = Comparison(is_number=is_number)

    def take(self, node: str, what: str, payload: bytes, now: float) -> None:
        """Take in what other nodes send about the shadow model."""
        if what == "out":
            self.core.hear(beliefs_of(node, payload, self.core.bundles), now)
        elif what == "ask":
            self.core.repeat(decode_ask(payload))

    def advance(self, now: float) -> Outbox:
        """Evaluate what can be evaluated; return the messages to send."""
        outbox = self.core.advance(now)
        for decided in outbox.decisions:
            for row in decided.rows:
                self._comparison.shadow(row.sequence, row.decision)
        return outbox

    def compare(self, decided: Decisions) -> None:
        """Take the decisions of the model in use."""
        for row in decided.rows:
            self._comparison.act(row.sequence, row.decision)

    def counters(self) -> dict[str, int]:
        """Return what the node's status tells: rows decided by both, alike, and otherwise."""
        if not self.core.decides:
            return {}
        differing = [*self._comparison.by_decision().items()][:_MOST_CLASSES]
        return {
            "shadow_rows": self._comparison.rows,
            "shadow_agreed": self._comparison.agreed,
            **{f"shadow_differs_{decision}": times for decision, times in differing},
        }


def next_shadow(
    current: Shadow | None,
    payload: bytes,
    core: NodeCore,
    trust: Trust | None,
) -> Shadow | None:
    """Return what is tried out after a message on ``shadow-model``; an empty one ends it.

    Parameters
    ----------
    current : what is tried out now
    payload : the message
    core : the node's part of the model in use
    trust : whose plans are taken; None where everyone's are

    Raises
    ------
    BundleError
        The plan is not to be trusted, of another site, or not meant as a shadow.
    """
    if not payload:
        return None
    bundle = read_bundle(payload, trust)
    if bundle.plan.site != core.bundle.plan.site:
        raise BundleError(f"the plan is of the site {bundle.plan.site!r}")
    if not bundle.is_shadow:
        raise BundleError("the plan is to be used, and was published to be compared only")
    if bundle.plan.sending is not None:
        raise BundleError("a plan that sends on change cannot be tried out; plan it without")
    if trust is not None and current is not None:
        refuse_older(bundle, current.core.bundle)
    if bundle.hash in {one.as_shadow().hash for one in core.bundles}:
        return None  # it is in use already
    if current is not None and current.core.bundle.hash == bundle.hash:
        return current
    if all(node.name != core.name for node in bundle.plan.nodes):
        return None  # this node has no part in it
    return Shadow(bundle, core.name, core.settings)


def beliefs_of(node: str, payload: bytes, bundles: Sequence[Bundle]) -> Beliefs:
    """Read beliefs that came on the topic of a node, and that it must have sent itself."""
    beliefs = decode_rows(payload, node, bundles)
    if beliefs.node != node:
        raise MessageError(f"{beliefs.node!r} publishes on the topic of {node!r}")
    return beliefs
