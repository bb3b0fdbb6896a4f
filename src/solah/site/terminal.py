"""Show a snapshot of a network on a terminal; it can be read without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from solah.data.spelling import count
from solah.site.observed import standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    Picture = Mapping[str, Any]

_LAST = 8
_MOST_MISSING = 5
_MOST_SENSORS = 20
_BAR = 16
_MOST_INDENT = 18
_STATES = {"online": "green", "silent": "bold red", "offline": "bold red", "unknown": "yellow"}
_CONDITIONS = {"live": "bold green", "degraded": "bold yellow", "waiting": "bold yellow"}
_SILENT = {
    "missing": "missing; its average counts",
    "waiting": "no message yet",
    "inside": "stays in its node",
}


def render(snapshot: Picture, width: int) -> RenderableType:
    """Lay out how a network is doing.

    Parameters
    ----------
    snapshot : mapping
        As :meth:`solah.site.observer.Observer.snapshot` returns it.
    width : int
        The columns of the terminal.

    Returns
    -------
    renderable : what Rich prints
    """
    blocks = [
        _headline(snapshot),
        _block("Nodes", _nodes(snapshot, width)),
        _block("Sensors to look at", _sensors(snapshot, width)),
        _block("Last decisions", _decisions(snapshot, width)),
        _block(f"Probabilities of {_target(snapshot)}", _parts(snapshot, width)),
    ]
    return Group(*(line for block in blocks for line in block))


# --- the head --------------------------------------------------------------------------------


def _headline(snapshot: Picture) -> list[RenderableType]:
    decisions = snapshot["decisions"]
    lines = [
        Text.assemble((f"site {snapshot['site']}", "bold"), ": ", _condition(snapshot)),
        Text(_pace(decisions, snapshot["now"])),
        *(Text(f"alert {one['name']}: {one['text']}", "bold red") for one in snapshot["alerts"]),
    ]
    if snapshot["model"] is None:
        lines.append(
            Text("No plan was received yet: the broker keeps none for this site.", "yellow")
        )
    if decisions["missing"]:
        lines.append(Text(_lacking(decisions), "bold red"))
    if refused := _refused(snapshot["messages"]):
        lines.append(Text(refused, "yellow"))
    if shadow := snapshot["shadow"]:
        lines.append(Text(_compared(shadow)))
    return [*lines]


def _condition(snapshot: Picture) -> Text:
    """Return the state of the site, and why it is not live."""
    state, reasons = snapshot["condition"]["state"], snapshot["condition"]["reasons"]
    return Text(
        f"{state}; {', '.join(reasons)}" if reasons else state, _CONDITIONS.get(state, "bold red")
    )


def _compared(shadow: Picture) -> str:
    """Return how often the shadow model agrees."""
    if not shadow["rows"]:
        return f"shadow {shadow['hash'][:8]}: no row compared yet"
    rows = count(shadow["rows"], "row")
    said = f"shadow {shadow['hash'][:8]}: agrees on {shadow['agreed']} of {rows}"
    if shadow["apart"] is not None:
        return f"{said}, {shadow['apart']:.4g} apart on average"
    differing = (
        f"{one['decision']} / {one['shadow']} ({one['times']})" for one in shadow["differing"]
    )
    named = ", ".join([*differing][:_MOST_MISSING])
    return f"{said}; in use / shadow: {named}" if named else said


def _pace(decisions: Picture, now: float) -> str:
    latency = decisions["latency"]
    parts = [count(decisions["total"], "decision")]
    if decisions["last_at"] is not None:
        parts.append(f"the last {_ago(decisions['last_at'], now)}")
    parts.append(f"{decisions['rate']:.1f} a second")
    if latency:
        parts.append(
            f"latency {_duration(latency['p50'])} (p50), {_duration(latency['p99'])} (p99)"
        )
    return ", ".join(parts)


def _lacking(decisions: Picture) -> str:
    """Return how many decisions lacked values, and of which parts."""
    most = decisions["missing"][:_MOST_MISSING]
    whose = ", ".join(f"{one['part']} ({one['times']})" for one in most)
    more = len(decisions["missing"]) - len(most)
    return (
        f"{100 * decisions['incomplete']:.1f} % of the last {count(decisions['kept'], 'decision')} "
        f"lacked values of {whose}{f' and {more} more' if more else ''}"
    )


def _refused(messages: Picture) -> str:
    words = {
        "unreadable": "unreadable",
        "unfit": "not by the plan",
        "other_model": "of another model",
        "elsewhere": "of no known kind",
    }
    kinds = [f"{messages[kind]} {word}" for kind, word in words.items() if messages[kind]]
    return f"messages not taken: {', '.join(kinds)}" if kinds else ""


# --- tables ----------------------------------------------------------------------------------


def _block(title: str, grid: Table) -> list[RenderableType]:
    return [Text(), Text(title, "bold"), grid] if grid.row_count else []


def _grid(width: int, *columns: str) -> Table:
    """Begin a table with headings; one that ends in a blank is on the right."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.width = width
    for place, column in enumerate(columns):
        side = "right" if column.endswith(" ") else "left"
        grid.add_column(
            justify=side,  # type: ignore[arg-type]
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if place == len(columns) - 1 else None,
        )
    if any(columns):
        grid.add_row(*(Text(column.strip(), "dim") for column in columns))
    return grid


def _nodes(snapshot: Picture, width: int) -> Table:
    if not snapshot["nodes"]:
        return Table.grid()
    grid = _grid(width, "name", "state", "rows/s ", "readings/s ", "seen", "model")
    for node in snapshot["nodes"]:
        state = "no message yet" if node["state"] == "unknown" else node["state"]
        grid.add_row(
            Text(node["name"]),
            Text(state, _STATES[node["state"]]),
            f"{node['rate']:.1f}",
            f"{node['reading_rate']:.1f}",
            _ago(node["heard"], snapshot["now"]),
            Text(_model(node)),
        )
    return grid


def _sensors(snapshot: Picture, width: int) -> Table:
    """List the features that are unknown, or whose messages were not all taken."""
    troubled = [
        (node["name"], one, trouble)
        for node in snapshot["nodes"]
        for one in node["sensors"]
        if (trouble := {what: n for what, n in one["counts"].items() if what != "taken"})
        or not one["is_known"]
    ]
    if not troubled:
        return Table.grid()
    grid = _grid(
        width, "feature", "node", "reading", "age ", "messages that were not plainly taken"
    )
    for node_name, one, trouble in troubled[:_MOST_SENSORS]:
        grid.add_row(
            Text(one["feature"]),
            Text(node_name),
            Text(_reading_state(one), "" if one["is_known"] else "bold red"),
            "-" if one["age"] is None else _duration(one["age"]),
            Text(", ".join(f"{n} {what.replace('_', ' ')}" for what, n in trouble.items())),
        )
    return grid


def _reading_state(sensor: Picture) -> str:
    if sensor["is_known"]:
        return "known"
    if sensor["age"] is None:
        return "none came"
    is_too_old = sensor["max_age"] is not None and sensor["age"] > sensor["max_age"]
    return "too old" if is_too_old else "unknown"


def _model(node: Picture) -> str:
    if not node["is_planned"]:
        return "not in the plan"
    if not node["model"]:
        return "-"
    return f"{node['model'][:8]}{'' if node['has_newest'] else ', not the newest'}"


def _decisions(snapshot: Picture, width: int) -> Table:
    last = snapshot["decisions"]["last"][:_LAST]
    if not last:
        return Table.grid()
    has_ages = any(one["age"] is not None for one in last)
    has_policy = any(one["settled"] != "" for one in last)
    columns = ("decision", "probability ", "latency ", "known ")
    stands, oldest = ["stable"] * has_policy, ["oldest "] * has_ages
    why = "missing; reasons" if has_policy else "missing"
    grid = _grid(width, "row ", *stands, *columns, *oldest, why)
    for one in last:
        age = "-" if one["age"] is None else _duration(one["age"])
        grid.add_row(
            str(one["row"]),
            *([_standing(one)] if has_policy else []),
            Text(one["decision"], "" if has_policy else "bold"),
            "-" if one["certainty"] is None else f"{one['certainty']:.2f}",
            "-" if one["latency"] is None else _duration(one["latency"]),
            f"{100 * one['known']:.0f} %",
            *([age] if has_ages else []),
            _lacks(one),
        )
    return grid


def _standing(decision: Picture) -> Text:
    """Name the stable decision after a decision."""
    stands = standing(decision)
    return Text("don't know", "bold yellow") if stands is None else Text(stands, "bold")


def _lacks(decision: Picture) -> Text:
    """Name what a decision lacked, and why it is or could be withheld."""
    missing, abstain_reasons = (
        ", ".join(decision["missing"]),
        ", ".join(decision["abstain_reasons"]),
    )
    between = "; " if missing and abstain_reasons else ""
    return Text.assemble((missing, "bold red"), between, (abstain_reasons, "yellow"))


def _parts(snapshot: Picture, width: int) -> Table:
    parts = snapshot["parts"]
    if not parts:
        return Table.grid()
    grid = _grid(width, "", "", "", "")
    for lead, part in _outline(parts):
        bar, decision = _output(part)
        grid.add_row(
            Text.assemble((lead, "dim"), part["name"]), Text(part["node"], "dim"), bar, decision
        )
    return grid


def _outline(parts: Sequence[Picture]) -> Iterator[tuple[str, Picture]]:
    """Go from the root down; what is deeper than the page is wide is at its edge."""
    waiting = [(parts[-1], "", "")]
    while waiting:
        part, lead, below = waiting.pop()
        yield lead[-_MOST_INDENT:], part
        *others, last = [parts[place] for place in part["hears"]] or [None]
        if last is not None:
            waiting.append((last, f"{below}└─ ", f"{below}   "))
            waiting += [(one, f"{below}├─ ", f"{below}│  ") for one in reversed(others)]


def _output(part: Picture) -> tuple[Text, Text]:
    """Show the output of a part as a bar and in words."""
    if part["state"] != "heard":
        style = "bold red" if part["state"] == "missing" else "dim"
        return Text("·" * _BAR, "dim"), Text(_SILENT[part["state"]], style)
    if part["certainty"] is None:
        return Text(), Text(part["says"])
    filled = round(_BAR * part["certainty"])
    bar = Text.assemble(("█" * filled, "cyan"), ("░" * (_BAR - filled), "dim"))
    return bar, Text(f"{part['certainty']:.2f} {part['says']}")


# --- format --------------------------------------------------------------------------------


def _target(snapshot: Picture) -> str:
    return snapshot["model"]["target"] if snapshot["model"] else ""


def _ago(seen: float | None, now: float) -> str:
    if seen is None:
        return "never"
    return "now" if now - seen < 1 else f"{_duration(now - seen)} ago"


def _duration(seconds: float) -> str:
    if abs(seconds) < 1:
        return f"{1000 * seconds:.0f} ms"
    if abs(seconds) < 120:
        return f"{seconds:.{int(abs(seconds) < 10)}f} s"
    return f"{seconds / 60:.0f} min" if abs(seconds) < 7200 else f"{seconds / 3600:.0f} h"
