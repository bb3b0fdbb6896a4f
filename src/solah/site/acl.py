"""Write the ACL file of a mosquitto broker: who may publish and subscribe to what.

Each node has a user of its name, with the rights that the plan requires. So a node that was broken
into can lie about its own readings, and about nothing else. The user ``operator`` may publish
models and subscribe to everything. ``watcher`` may subscribe to all but readings, and publish
alerts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, shorten
from solah.site.plan import check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from solah.site.plan import NodePlan, Plan
    from solah.site.topics import Topics

OPERATOR = "operator"
WATCHER = "watcher"
_ANY = "+"


def acl_text(
    plan: Plan,
    topics: Topics,
    *,
    sensors: Mapping[str, Iterable[str]] | None = None,
    commands: Mapping[str, Iterable[str]] | None = None,
) -> str:
    """Write the ACL file for mosquitto.

    Parameters
    ----------
    plan : Plan
    topics : Topics
        The topics of the plan's site.
    sensors : mapping of node to topics, default=None
        The topics of sensors that a node takes from this broker; they may have wildcards.
    commands : mapping of node to topics, default=None
        The topics of this broker by which a node sends commands to sensors.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from solah.site.plan import NodePlan, Plan
    >>> from solah.site.topics import Topics
    >>> only = NodePlan("cellar", runs=("y",), reads=("alcohol",), hears=(), sends=())
    >>> print(acl_text(Plan("house", (only,)), Topics("house")).partition("user operator")[0])
    # Rights of the users at the site 'house'; for acl_file of mosquitto.conf.
    <BLANKLINE>
    user cellar
    topic write solah/house/cellar/status
    topic write solah/house/cellar/out
    topic write solah/house/decision
    topic write solah/house/progress
    topic write solah-history/house/+
    topic write solah/house/shadow-decision
    topic write solah/house/cellar/shadow-out
    topic read solah/house/cellar/in
    topic read solah/house/cellar/ask
    topic read solah/house/model
    topic read solah/house/progress
    topic read solah/house/shadow-model
    topic read solah/house/cellar/shadow-ask
    <BLANKLINE>
    """
    _check(topics.root, "the first part of topics", is_topic=False)
    sources = (home for node in plan.nodes for _, home in node.hears)
    for name in (plan.site, topics.site, *(node.name for node in plan.nodes), *sources):
        check_name(name)
    names = [OPERATOR, WATCHER, *(node.name for node in plan.nodes)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ParameterError(
            f"two users of the broker would be called {min(twice)!r}; give the node another name"
        )
    deciding = plan.nodes[0].name
    rights = {
        node.name: [*_node_rights(node, topics, node.name == deciding)] for node in plan.nodes
    }
    if plan.sending is not None:
        for node in plan.nodes:
            rights[node.name].append((_write if node.name == deciding else _read)(topics.terms))
    for given, may in ((sensors, _read), (commands, _write)):
        for name, of_node in (given or {}).items():
            for topic in of_node:
                _check(topic, "a topic in an ACL file", is_topic=True)
                rights[name].append(may(topic))
    rights[OPERATOR] = [*_operator_rights(topics)]
    rights[WATCHER] = [*_watcher_rights(topics)]
    about = f"# Rights of the users at the site {plan.site!r}; for acl_file of mosquitto.conf."
    users = ("\n".join([f"user {user}", *lines]) for user, lines in rights.items())
    return "\n\n".join([about, *users]) + "\n"


def _check(text: str, what: str, *, is_topic: bool) -> None:
    """Refuse what would make one line into several, or one topic into many."""
    is_plain = text.isprintable() and text == text.strip()
    if not is_plain or (not is_topic and (not text or set(text) & set("+#"))):
        without = "blanks at its ends" if is_topic else "'+' and '#'"
        raise ParameterError(
            f"{what} must be plain text without {without}. Got {shorten(text)} instead."
        )


def _node_rights(node: NodePlan, topics: Topics, decides: bool) -> Iterable[str]:
    name = node.name
    sources = sorted({home for _, home in node.hears})
    yield _write(topics.status(name))
    yield _write(topics.said(name))
    if decides:
        yield _write(topics.decisions)
        yield _write(topics.progress)
        yield _write(f"{topics.history}/{_ANY}")
        yield _write(topics.shadow.decisions)
    yield _write(topics.shadow.said(name))
    for lane in (topics, topics.shadow):
        yield from (_write(lane.asked(other)) for other in sources)
    yield _read(topics.readings(name))
    yield _read(topics.asked(name))
    yield _read(topics.model)
    yield _read(topics.progress)
    yield _read(topics.shadow.model)
    yield _read(topics.shadow.asked(name))
    for lane in (topics, topics.shadow):
        yield from (_read(lane.said(other)) for other in sources)


def _operator_rights(topics: Topics) -> Iterable[str]:
    yield _write(topics.model)
    yield _write(topics.shadow.model)
    yield _write(f"{topics.history}/{_ANY}")
    yield _read(f"{topics.history}/{_ANY}")
    yield from _watcher_rights(topics)
    yield _read(topics.readings(_ANY))


def _watcher_rights(topics: Topics) -> Iterable[str]:
    for topic in (topics.alert, topics.alerts):
        yield _write(topic)
        yield _read(topic)
    for topic in (topics.model, topics.decisions, topics.progress, topics.terms):
        yield _read(topic)
    for of_node in (topics.status, topics.said, topics.asked):
        yield _read(of_node(_ANY))
    shadow = topics.shadow
    for topic in (shadow.model, shadow.decisions, shadow.said(_ANY), shadow.asked(_ANY)):
        yield _read(topic)


def _write(topic: str) -> str:
    return f"topic write {topic}"


def _read(topic: str) -> str:
    return f"topic read {topic}"
