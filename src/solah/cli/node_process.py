"""A node of a site as a process of its own: ``python -m solah.cli.node_process SETTINGS``.

The parser of the command line would take a third of a node's memory. So ``solah site run`` starts
nodes by this module, and ``solah site node`` turns into it once its words are checked.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from solah.cli.stopping import catch_ctrl_c, orderly_end
from solah.exceptions import ParameterError, SolahError, cut
from solah.safe_text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from solah.site.feed import Feed
    from solah.site.messages import Measured
    from solah.site.node import Node
    from solah.site.settings import Site

_FAILED = 2


@dataclass(frozen=True)
class NodeSettings:
    """The words of ``solah site node``, as JSON has them; None for what is not given.

    Attributes
    ----------
    name : the node's name in the plan
    site, plan : the file of either
    broker : the keywords of :func:`solah.site.client.find_broker`, with a plan
    trust : files of keys
    reading : the keywords of :class:`solah.data.ReadOptions`, for ``replay``
    """

    name: str
    site: str | None = None
    plan: str | None = None
    broker: Mapping[str, Any] = field(default_factory=dict)
    root: str = "solah"
    deadline: float = 2.0
    trust: tuple[str, ...] = ()
    allow_rollback: bool = False
    state: str | None = None
    home_assistant: bool = False
    expire_after: int = 300
    health: str | None = None
    log: Literal["text", "json"] = "text"
    is_quiet: bool = False
    replay: str | None = None
    replay_rate: float | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


def program(settings: NodeSettings) -> list[str]:
    """Return the program of a node and its words; no file of the current folder is imported."""
    given = {key: value for key, value in vars(settings).items() if value not in (None, (), {})}
    return [sys.executable, "-P", "-m", __name__, json.dumps(given)]


def make_node(
    settings: NodeSettings, log: Callable[[str], None]
) -> tuple[Node, Feed | None, Site | None]:
    """Read what a node works with; return it, and with a site file what brings its rows."""
    from solah.site.bundle import load_bundle
    from solah.site.client import find_broker
    from solah.site.core import NodeCore, Settings
    from solah.site.feed import Feed
    from solah.site.node import Node, NodeOptions
    from solah.site.site_file import load_site
    from solah.site.topics import Topics
    from solah.site.trust import load_trust

    state = None if settings.state is None else Path(settings.state)
    site = None if settings.site is None else load_site(settings.site)
    if site is not None:
        keys = load_trust(site.trust) if site.trust else None
        bundle, broker = site.bundle(keys), site.hub.find()
        site.state.mkdir(parents=True, exist_ok=True)
        state, root = state or site.state / f"{settings.name}.state", site.root
        deadline = site.deciding.deadline
    elif settings.plan is not None:
        keys = load_trust(settings.trust) if settings.trust else None
        bundle, broker = load_bundle(settings.plan, keys), find_broker(**settings.broker)
        root, deadline = settings.root, settings.deadline
    else:
        raise ParameterError("pass a site file, or --plan")
    core = NodeCore(bundle, settings.name, Settings(deadline=deadline))
    feed = Feed(site, bundle, core.name, log) if site is not None and core.plan.reads else None
    announced: list[tuple[str, bytes]] = []
    if core.decides:
        # The plan that the site begins with, so that one can go back to it.
        topics = Topics(bundle.plan.site, root)
        files = [settings.site, settings.plan, None if site is None else site.model]
        written = max(Path(one).stat().st_mtime_ns for one in files if one) // 1_000_000
        announced.append((f"{topics.history}/{written}", bundle.to_bytes()))
        if settings.home_assistant:
            from solah.site.home_assistant import discovery

            announced += discovery(topics, bundle, expire_after=settings.expire_after)
    options = NodeOptions(
        trust=keys,
        allow_rollback=settings.allow_rollback,
        state=state,
        root=root,
        announcements=tuple(announced),
        log=log,
        is_patient=site is not None,
        feed=feed,
    )
    return Node(core, broker, options), feed, site


def run(settings: NodeSettings) -> None:
    """Run a node until a signal ends it."""
    from solah.site.health import serving_health
    from solah.site.logs import stderr_log
    from solah.site.node import client_id
    from solah.site.topics import Topics

    log = stderr_log(settings.log, is_quiet=settings.is_quiet)
    node, feed, site = make_node(settings, log)
    with orderly_end(node.stop), serving_health(settings.health, lambda: node.health, log):
        if feed is None or site is None:
            node.run(None if settings.replay is None else _replayed(node, settings))
            return
        name = f"{client_id(Topics(site.name, site.root), settings.name)}:sensors"
        feed.start(site.broker_of(settings.name), name, node.fail)
        try:
            node.run(feed.rows_from)
        finally:
            feed.stop()


def _replayed(node: Node, settings: NodeSettings) -> Callable[[int], Iterable[Measured]] | None:
    """Return the rows of a table from one on; None where the node measures nothing."""
    from solah.data import ReadOptions
    from solah.site.row_sources import at_rate, replay

    core, file = node.core, settings.replay or ""
    words = {**settings.reading, "missing": frozenset(settings.reading.get("missing", ()))}
    wanted = [one for one in core.bundle.model.features if one.name in core.plan.reads]

    def rows_from(first: int) -> Iterable[Measured]:
        rows = replay(file, wanted, start=first, options=ReadOptions(**words))
        return at_rate(rows, settings.replay_rate, node.is_behind)

    return rows_from if wanted else None


def main() -> int:
    """Run the node that the only argument describes; return the exit code."""
    catch_ctrl_c()
    try:
        run(NodeSettings(**json.loads(sys.argv[1])))
    except (SolahError, OSError) as error:
        text = " ".join(str(error).split())
        print(cut(harmless(f"solah: error: {text}")), file=sys.stderr)
        return _FAILED
    return 0


def become(settings: NodeSettings) -> None:
    """Go on as this program, with its memory; where that cannot be, run the node here."""
    make_node(settings, lambda _: None)
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(sys.executable, program(settings))
    run(settings)


if __name__ == "__main__":
    sys.exit(main())
