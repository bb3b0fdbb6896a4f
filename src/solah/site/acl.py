"""Write the ACL file of a mosquitto broker: who may publish and subscribe to what.

Each node has a user of its name, who may do what the plan asks of the node and nothing more. So a
node that was broken into can lie about its own readings, and about nothing else.
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
    operator: str = OPERATOR,
    watcher: str = WATCHER,
    sensors: Mapping[str, Iterable[str]] | None = None,
    commands: Mapping[str, Iterable[str]] | None = None,
) -> str:
    """Write the ACL file for mosquitto.

    Parameters
    ----------
    plan : Plan
    topics : Topics
        The topics of the plan's site.
    operator : str, default="operator"
        The user who may swap the model or try one out, and subscribe to everything.
    watcher : str, default="watcher"
        The user who may subscribe to everything but readings, and publish alerts.
    sensors : mapping of node to topics, default=None
        What sensors publish that a node takes from this broker; topics may have wildcards.
    commands : mapping of node to topics, default=None
        By which topics of this broker a node asks sensors for something.

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
    _check_root(topics.root)
    _check_names(plan, topics)
    _check_users(plan, operator, watcher)
    deciding = plan.nodes[0].name
    rights = {node.name: _node_rights(node, topics, node.name == deciding) for node in plan.nodes}
    if plan.sending is not None:
        for node in plan.nodes:
            may = _write if node.name == deciding else _read
            rights[node.name] = [*rights[node.name], may(topics.terms)]
    for name, taken in (sensors or {}).items():
        rights[name] = [*rights[name], *(_read(_checked(topic)) for topic in taken)]
    for name, given in (commands or {}).items():
        rights[name] = [*rights[name], *(_write(_checked(topic)) for topic in given)]
    rights[operator] = _operator_rights(topics)
    rights[watcher] = _watcher_rights(topics)
    about = f"# Rights of the users at the site {plan.site!r}; for acl_file of mosquitto.conf."
    users = ("\n".join([f"user {user}", *lines]) for user, lines in rights.items())
    return "\n\n".join([about, *users]) + "\n"


def _check_root(root: str) -> None:
    """Refuse what would make one line into several, or one topic into many."""
    if not root or not root.isprintable() or set(root) & set("+#"):
        raise ParameterError(
            "what topics begin with must be plain text without '+' and '#'. "
            f"Got {shorten(root)} instead."
        )


def _checked(topic: str) -> str:
    """Refuse a sensor's topic that would not be one line, or would be read otherwise."""
    if not topic.isprintable() or topic != topic.strip():
        raise ParameterError(
            "a topic that stands in an ACL file must be plain text without blanks at its ends. "
            f"Got {shorten(topic)} instead."
        )
    return topic


def _check_names(plan: Plan, topics: Topics) -> None:
    """Refuse names that bring lines of their own, in plans that were not made by `make_plan`."""
    sources = (home for node in plan.nodes for _, home in node.hears)
    for name in (plan.site, topics.site, *(node.name for node in plan.nodes), *sources):
        check_name(name)


def _check_users(plan: Plan, operator: str, watcher: str) -> None:
    """Refuse a name for two users: one of them would have the rights of both."""
    users = [check_name(operator), check_name(watcher), *(node.name for node in plan.nodes)]
    for place, name in enumerate(users):
        if name in users[:place]:
            raise ParameterError(
                f"two users of the broker would be called {name!r}; give the node, the operator or "
                "the watcher another name"
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
