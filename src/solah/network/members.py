"""Let several processes share the work of one node, each row being decided by one of them.

The broker gives every message of readings to one of the members (a shared subscription of MQTT 5),
so this is for a node that decides alone: parts of a row from several nodes would end up at several
members. A member that stops hands over to the others; what was on its way to one that is killed
waits at the broker until it is there again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.network.bundle import BundleError

if TYPE_CHECKING:
    from solah.network.bundle import Bundle
    from solah.network.topics import Topics


def shared_topic(topics: Topics, node: str) -> str:
    """Name where readings come in of which each goes to one member.

    Examples
    --------
    >>> from solah.network.topics import Topics
    >>> shared_topic(Topics("house"), "hub")
    '$share/hub/solah/house/hub/in'
    """
    return f"$share/{node}/{topics.readings(node)}"


def check_shareable(bundle: Bundle) -> None:
    """Refuse a plan whose rows cannot be decided by one member or another.

    Raises
    ------
    BundleError
        It needs several nodes, or what is decided depends on the rows before.
    """
    nodes, model = bundle.plan.nodes, bundle.model
    if len(nodes) > 1:
        raise BundleError(
            f"the plan has the nodes {', '.join(node.name for node in nodes)}, and all parts of a "
            "row must meet in one process; members can share a node that measures and decides alone"
        )
    if model.policy is not None and model.policy.remembers:
        raise BundleError(
            "the model's policy settles decisions by the rows before, which other members have; "
            "leave that out of its policy, or run the node without members"
        )
    if model.signals is not None:
        raise BundleError(
            "the model decides on windows of samples, which must meet in one process; run the node "
            "without members"
        )
