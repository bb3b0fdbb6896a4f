"""``solah up``: run a whole network on this machine."""

import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.broker_options import OptionalPlanFile, Root, trusted
from solah.cli.node import Deadline, Rate, SiteFile, WireKind, refuse_beside_site
from solah.cli.options import ReadingOptions
from solah.cli.screen import Screen
from solah.cli.stopping import catch_ctrl_c
from solah.cli.verb import options_in
from solah.cli.watch import Seconds, Web, page, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.data import ReadOptions
    from solah.model import Model
    from solah.network.bundle import Bundle
    from solah.network.launching import Launcher

_network_option = options_in("The network")
_WORTH_A_RATE = 0.5  # seconds; what takes less comes in one piece

ReplayFile = Annotated[
    Path | None,
    _network_option(
        "--replay",
        metavar="FILE",
        help="The rows that are replayed, as if they were measured.",
        exists=True,
        dir_okay=False,
    ),
]
BrokerUrl = Annotated[
    str | None,
    _network_option(
        "--broker",
        metavar="URL",
        help="A broker that runs already; by default a small one is started.",
    ),
]


def up(
    reading: ReadingOptions,
    screen: Screen,
    site: SiteFile = None,
    plan: OptionalPlanFile = None,
    replay: ReplayFile = None,
    rate: Rate = None,
    broker: BrokerUrl = None,
    deadline: Deadline = 2.0,
    wire: WireKind = "json",
    root: Root = "solah",
    web: Web = None,
    seconds: Seconds = None,
) -> None:
    """Run a whole network on this machine, every node a process, with a live view.

    With a site file, nodes take what their sensors publish, until it is interrupted; a node that
    ends is started again, the broker may come later, and the file's alerts are raised. With --plan
    and --replay, every node measures its own columns of the rows, by default on a broker of its
    own. When all are decided, everything is stopped, and the number of decisions that are the
    model's own is shown; with the goal's column, also how many are right, or how far numbers are
    off.

    Example: solah up site.yaml --web 8765
    """
    from solah.exceptions import ParameterError

    catch_ctrl_c()
    if (site is None) == (plan is None):
        raise ParameterError("a network is described by a site file, or by --plan and --replay")
    if site is not None:
        own = {"replay": replay, "rate": rate, "broker": broker}
        changed = {"root": root != "solah", "deadline": deadline != 2.0, "wire": wire != "json"}
        refuse_beside_site({**own, **changed})
        _run_site(site, screen, web, seconds)
    elif replay is None:
        raise ParameterError("--plan needs --replay, the rows to measure; or give a site file")
    else:
        words = ["--deadline", str(deadline), "--wire", wire, "--root", root, *reading.words()]
        options = reading.read_options()
        _replay(screen, plan, replay, options, rate, broker, words, root, web)  # type: ignore[arg-type]


def _run_site(file: Path, screen: Screen, web: int | None, seconds: float | None) -> None:
    """Run a site until it is interrupted, or for some seconds."""
    from solah.network.launching import Launcher, Supervisor
    from solah.network.observing import Observer
    from solah.network.site import load_site
    from solah.network.site.feeding import check_sensors
    from solah.network.topics import Topics
    from solah.network.watching import alerting, subscribed

    site = load_site(file)
    bundle = site.bundle(trusted(list(site.trust)))
    check_sensors(site, bundle)
    topics = Topics(site.name, site.root)
    observer = Observer(topics)
    observer.adopt(bundle)
    site.state.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        client = stack.enter_context(subscribed(site.hub.find(), topics, observer, is_patient=True))
        stack.enter_context(page(observer, web, screen))
        if site.alerts is not None:
            stack.enter_context(alerting(observer, site.alerts, client, topics, screen.note))
        nodes = Launcher.of_site(bundle, file, site.state)
        stack.callback(nodes.stop)
        nodes.start()
        supervisor = Supervisor(nodes, time.monotonic(), screen.note)
        end = None if seconds is None else time.monotonic() + seconds

        def is_over() -> bool:
            supervisor.look(time.monotonic())
            return end is not None and time.monotonic() >= end

        show(observer, screen, is_over, in_lines=True)


def _replay(
    screen: Screen,
    plan: Path,
    replay: Path,
    options: "ReadOptions",
    rate: float | None,
    broker: str | None,
    words: list[str],
    root: str,
    web: int | None,
) -> None:
    """Let a network decide the rows of a table, and compare it with its model."""
    from solah.network.bundle import load_bundle
    from solah.network.client import find_broker
    from solah.network.observing import Observer
    from solah.network.topics import Topics
    from solah.network.watching import subscribed

    bundle = load_bundle(plan)
    decided = _Decided(_count_rows(replay, options))
    topics = Topics(bundle.plan.site, root)
    observer = Observer(topics)
    observer.adopt(bundle)
    with ExitStack() as stack:
        url = broker or stack.enter_context(_own_broker())
        also = decided.listener(topics.decisions)
        stack.enter_context(subscribed(find_broker(url), topics, observer, also))
        stack.enter_context(page(observer, web, screen))
        nodes = stack.enter_context(_nodes(bundle, plan, url, words))
        nodes.start(replay=replay, rate=rate)
        show(observer, screen, lambda: decided.is_over or _all_right(nodes))
    _tell(screen, bundle.model, replay, options, decided)


class _Decided:
    """Gathers the decisions on a number of rows."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.rows: dict[int, tuple[str, bool]] = {}
        self.begun = self.ended = 0.0
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        return len(self.rows) >= self.n_rows

    def listener(self, decisions: str) -> Any:
        """Return what is told every message of the site."""
        from solah.network.messages import MessageError, decode_decisions

        def take(topic: str, payload: bytes) -> None:
            if topic != decisions:
                return
            try:
                rows = decode_decisions(payload).rows
            except MessageError:
                return
            with self._lock:
                self.begun = self.begun or time.monotonic()
                self.ended = time.monotonic()
                for row in rows:
                    if row.sequence < self.n_rows:
                        self.rows.setdefault(row.sequence, (row.decision, bool(row.missing)))

        return take


@contextmanager
def _own_broker() -> "Iterator[str]":
    from solah.network.broker import EmbeddedBroker

    broker = EmbeddedBroker()
    try:
        yield broker.start().url
    finally:
        broker.stop()


@contextmanager
def _nodes(bundle: "Bundle", plan: Path, url: str, words: list[str]) -> "Iterator[Launcher]":
    from solah.network.launching import Launcher

    with tempfile.TemporaryDirectory() as folder:
        nodes = Launcher(bundle, plan, url, Path(folder), words)
        try:
            yield nodes
        finally:
            nodes.stop()


def _all_right(nodes: "Launcher") -> bool:
    """Complain of a node that ended by itself; never say that all is over."""
    from solah.exceptions import SolahError

    for name, code in nodes.ended().items():
        lines = nodes.log(name).strip().splitlines() or [f"it ended with code {code}"]
        raise SolahError(f"node {name!r} has failed: {lines[-1]}")
    return False


def _count_rows(file: Path, options: "ReadOptions") -> int:
    from solah.data import iter_tables

    return sum(table.n_rows for table in iter_tables(file, options=options))


def _tell(
    screen: Screen, model: "Model", file: Path, options: "ReadOptions", decided: _Decided
) -> None:
    from solah.cli.views import facts, heading
    from solah.data.spelling import spell_number

    found = _compare(model, file, options, decided)
    if screen.json:
        screen.document(found)
    screen.say(heading("What the network decided"))
    spelt = {
        "rows": f"{found['decided']:,} of {found['rows']:,}",
        "decisions a second": "" if not found["rate"] else f"{found['rate']:,.0f}",
        "with something missing": f"{found['incomplete']:,}",
        "decided as the model": _percent(found["as_the_model"]),
        "right": _percent(found["accuracy"]),
        "off on average": "" if found["mean_error"] is None else spell_number(found["mean_error"]),
    }
    screen.result(facts({name: value for name, value in spelt.items() if value}))


def _compare(
    model: "Model", file: Path, options: "ReadOptions", decided: _Decided
) -> dict[str, Any]:
    """Compare the network's decisions with the model's, and with the truth where it is known."""
    from solah.data import iter_tables, to_numbers, to_text
    from solah.data.spelling import spell
    from solah.model.document import Task
    from solah.model.predictor import Predictor

    is_number = model.goal.task is Task.REGRESSION
    read, spelt = (to_numbers, repr) if is_number else (to_text, spell)
    alike, right, known, first = 0, 0, 0, 0
    errors: list[float] = []
    for table in iter_tables(file, options=options):
        own = [spelt(one) for one in Predictor(model).predict(table).tolist()]
        truth = (
            read(table.column(model.goal.name)).values.tolist()
            if model.goal.name in table.names
            else [None] * table.n_rows
        )
        for place in range(table.n_rows):
            decision, _ = decided.rows.get(first + place, (None, False))
            alike += decision == own[place]
            true = truth[place]
            if true is None or true != true:
                continue
            known += 1
            right += decision == true
            if is_number and decision is not None:
                errors.append(abs(float(decision) - true))
        first += table.n_rows
    n_decided, seconds = len(decided.rows), decided.ended - decided.begun
    return {
        "rows": decided.n_rows,
        "decided": n_decided,
        "rate": n_decided / seconds if seconds >= _WORTH_A_RATE else None,
        "incomplete": sum(missing for _, missing in decided.rows.values()),
        "as_the_model": alike / n_decided if n_decided else None,
        "accuracy": right / known if known and not is_number else None,
        "mean_error": sum(errors) / len(errors) if errors else None,
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"
