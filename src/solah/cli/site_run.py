"""``solah site run``: run a whole site on this machine."""

import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import READ, option, read_file
from solah.cli.options import ReadingOptions
from solah.cli.screen import Screen
from solah.cli.site import (
    Deadline,
    HealthAddress,
    LogKind,
    PlanFile,
    ReplayRate,
    Root,
    Seconds,
    SiteFile,
    refuse_beside_site,
    refuse_without,
    trusted,
)
from solah.cli.site_node import EXPIRE_AFTER, ExpireAfter, HomeAssistant
from solah.cli.site_watch import AllowHost, Host, Web, page, refuse_without_page, show
from solah.cli.stopping import catch_ctrl_c

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from solah.data import ReadOptions, Table
    from solah.model import Model

_WORTH_A_RATE = 0.5  # seconds; what takes less comes in one piece

ReplayFile = Annotated[Path | None, read_file("Table whose rows are replayed as readings."), READ]
BrokerUrl = Annotated[str, option("Broker of a replay.", metavar="URL")]


def run(
    reading: ReadingOptions,
    screen: Screen,
    site: SiteFile = None,
    plan: PlanFile = None,
    replay: ReplayFile = None,
    replay_rate: ReplayRate = None,
    broker: BrokerUrl = "mqtt://localhost",
    deadline: Deadline = 2.0,
    root: Root = "solah",
    web: Web = None,
    host: Host = "127.0.0.1",
    allow_host: AllowHost = None,
    home_assistant: HomeAssistant = False,
    expire_after: ExpireAfter = EXPIRE_AFTER,
    health: HealthAddress = None,
    log: LogKind = "text",
    seconds: Seconds = None,
) -> None:
    """Run a whole site on this machine, with a live view.

    With a site file, one node receives the sensors' readings and decides, until interrupted. If the
    file places features on several nodes, each node is a process. A node that ends is restarted,
    and alerts are raised. With --plan and --replay, nodes measure the columns of a table, and the
    decisions are compared with the model's.

    Example: solah site run site.yaml --web 8765
    """
    from solah.exceptions import ParameterError
    from solah.site.logs import stderr_log

    catch_ctrl_c()
    if (site is None) == (plan is None):
        raise ParameterError("pass a site file, or --plan and --replay")
    refuse_without_page(web, host, allow_host)
    announce = {"home_assistant": home_assistant, "expire_after": expire_after}
    if site is not None:
        own = {"replay": replay, "replay_rate": replay_rate, "broker": broker != "mqtt://localhost"}
        changed = {"root": root != "solah", "deadline": deadline != 2.0, "read": reading.read}
        refuse_beside_site({**own, **changed})
        if not home_assistant:
            refuse_without("--home-assistant", {"expire_after": expire_after != EXPIRE_AFTER})
        nodes = {"log": log, **announce}
        write = stderr_log(log, is_quiet=screen.quiet)
        with ExitStack() as stack:
            _run_site(stack, site, screen, (web, host, allow_host), health, nodes, write, seconds)
        return
    if replay is None or plan is None:
        raise ParameterError("--plan requires --replay, the rows to measure")
    announce["expire_after"] = expire_after != EXPIRE_AFTER
    about = {"health": health, "log": log != "text", "seconds": seconds is not None}
    refuse_without("a site file", {**announce, **about})
    options = reading.read_options()
    shown = web, host, allow_host
    _replay(screen, plan, replay, options, replay_rate, broker, deadline, root, shown)


def _run_site(
    stack: ExitStack,
    file: Path,
    screen: Screen,
    web: tuple[int | None, str, list[str] | None],
    address: str | None,
    settings: "Mapping[str, object]",
    log: "Callable[[str], None]",
    seconds: float | None,
) -> None:
    """Run a site until it is interrupted, or for some seconds."""
    from solah.site.health import Health, serving_health
    from solah.site.logs import Event
    from solah.site.observer import Observer
    from solah.site.site_check import check_site
    from solah.site.site_file import load_site
    from solah.site.supervisor import Launcher, Supervisor
    from solah.site.topics import Topics
    from solah.site.watch import alerting, subscribed

    site = load_site(file)
    bundle = site.bundle(trusted(list(site.trust)))
    check_site(site, bundle)
    topics = Topics(site.name, site.root)
    observer = Observer(topics)
    observer.adopt(bundle)
    site.state.mkdir(parents=True, exist_ok=True)
    hub = site.hub.find()
    client = stack.enter_context(subscribed(hub, topics, observer, is_patient=True))
    stack.enter_context(page(observer, web[0], screen, log, *web[1:]))
    text = f"decisions are published at {topics.decisions}"
    log(Event(text, "decisions_published", topic=topics.decisions))
    if site.alerts is not None:
        stack.enter_context(alerting(observer, site.alerts, client, topics, log))
    nodes = Launcher.of_site(bundle, file, site.state, **settings)
    stack.callback(nodes.stop)
    nodes.start()
    supervisor = Supervisor(nodes, time.monotonic(), log)

    def check() -> Health:
        is_there = observer.is_connected is True
        return Health(True, is_there and not nodes.ended(), {"site": site.name})

    stack.enter_context(serving_health(address, check, log))
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
    broker: str,
    deadline: float,
    root: str,
    web: tuple[int | None, str, list[str] | None],
) -> None:
    """Let a site predict the rows of a table, and compare it with its model."""
    from solah.cli.views import facts, heading
    from solah.data import read_table
    from solah.data.spelling import spell_number
    from solah.exceptions import SolahError
    from solah.site.bundle import load_bundle
    from solah.site.client import find_broker
    from solah.site.observer import Observer
    from solah.site.supervisor import Launcher
    from solah.site.topics import Topics
    from solah.site.watch import subscribed

    bundle = load_bundle(plan)
    table = read_table(replay, options=options)
    decided = _Decided(table.n_rows)
    topics = Topics(bundle.plan.site, root)
    observer = Observer(topics)
    observer.adopt(bundle)
    with ExitStack() as stack:
        also = decided.listener(topics.decisions)
        stack.enter_context(subscribed(find_broker(broker), topics, observer, also))
        stack.enter_context(page(observer, web[0], screen, None, *web[1:]))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        read = {**vars(options), "missing": sorted(options.missing)}
        nodes = Launcher(
            bundle, plan, broker, Path(folder), deadline=deadline, root=root, reading=read
        )
        stack.callback(nodes.stop)
        nodes.start(replay=replay, rate=rate)

        def is_over() -> bool:
            for name, code in nodes.ended().items() if not decided.is_over else ():
                lines = nodes.log(name).strip().splitlines() or [f"it ended with code {code}"]
                raise SolahError(f"node {name!r} has failed: {lines[-1]}")
            return decided.is_over

        show(observer, screen, is_over)
    found = _compare(bundle.model, table, decided)
    if screen.json:
        screen.document(found)
    screen.say(heading("Decisions of the site"))
    lines = {"rows": f"{found['decided']:,} of {found['rows']:,}"}
    if found["rate"]:
        lines["decisions per second"] = f"{found['rate']:,.0f}"
    lines["with something missing"] = f"{found['incomplete']:,}"
    for what, name in {"same as the model": "as_the_model", "correct": "accuracy"}.items():
        if found[name] is not None:
            lines[what] = f"{found[name]:.2%}"
    if found["mean_error"] is not None:
        lines["mean error"] = spell_number(found["mean_error"])
    screen.result(facts(lines))


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
        """Return a receiver of every message of the site."""
        from solah.site.messages import MessageError, decode_decisions

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


def _compare(model: "Model", table: "Table", decided: _Decided) -> dict[str, Any]:
    """Compare the decisions of a site with the model's, and with the target if there is one."""
    from solah.data import to_numbers, to_text
    from solah.data.spelling import spell
    from solah.model.document import Task
    from solah.model.predictor import Predictor

    is_number, name = model.target.task is Task.REGRESSION, model.target.name
    own = map(repr if is_number else spell, Predictor(model).predict(table).tolist())
    read = to_numbers if is_number else to_text
    has_truth = name in table.names
    truth = read(table.column(name)).values.tolist() if has_truth else [None] * table.n_rows
    found = [decided.rows.get(row, (None, False))[0] for row in range(table.n_rows)]
    alike = sum(one == other for one, other in zip(found, own, strict=True))
    known = [(one, true) for one, true in zip(found, truth, strict=True) if true == true]
    known = [(one, true) for one, true in known if true is not None]
    errors = [abs(float(one) - true) for one, true in known if is_number and one is not None]
    n_decided, seconds = len(decided.rows), decided.ended - decided.begun
    return {
        "rows": decided.n_rows,
        "decided": n_decided,
        "rate": n_decided / seconds if seconds >= _WORTH_A_RATE else None,
        "incomplete": sum(missing for _, missing in decided.rows.values()),
        "as_the_model": alike / n_decided if n_decided else None,
        "accuracy": sum(one == true for one, true in known) / len(known)
        if known and not is_number
        else None,
        "mean_error": sum(errors) / len(errors) if errors else None,
    }
