"""Show a snapshot of a network on a terminal; it can be read without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from solah.data.spelling import count
from solah.site.site_state import standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

_LAST = 8
_MOST_MISSING = 5
_MOST_SENSORS = 20
_STYLES = {
    "online": "green",
    "unknown": "yellow",
    "live": "bold green",
    "degraded": "bold yellow",
    "waiting": "bold yellow",
}
_REFUSED = {
    "unreadable": "unreadable",
    "unfit": "not by the plan",
    "other_model": "of another model",
    "elsewhere": "of no known kind",
}


def render(snapshot: Mapping[str, Any], width: int) -> RenderableType:
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
    tables = (
        ("Nodes", *_nodes(snapshot)),
        ("Sensors to look at", *_sensors(snapshot)),
        ("Last decisions", *_decisions(snapshot)),
    )
    lines: list[RenderableType] = [*_head(snapshot)]
    for title, columns, rows in tables:
        if rows:
            lines += [Text(), Text(title, "bold"), _grid(width, columns, rows)]
    return Group(*lines)


def _head(snapshot: Mapping[str, Any]) -> Iterator[Text]:
    decisions, (state, reasons) = snapshot["decisions"], snapshot["condition"].values()
    condition = Text("; ".join([state, *([", ".join(reasons)] if reasons else [])]))
    condition.stylize(_STYLES.get(state, "bold red"))
    yield Text.assemble((f"site {snapshot['site']}", "bold"), ": ", condition)
    pace = [count(decisions["total"], "decision")]
    if decisions["last_at"] is not None:
        pace.append(f"the last {_ago(decisions['last_at'], snapshot['now'])}")
    pace.append(f"{decisions['rate']:.1f} a second")
    if latency := decisions["latency"]:
        pace.append(f"latency {_duration(latency['p50'])} (p50), {_duration(latency['p99'])} (p99)")
    yield Text(", ".join(pace))
    for one in snapshot["alerts"]:
        yield Text(f"alert {one['name']}: {one['text']}", "bold red")
    if snapshot["model"] is None:
        yield Text("No plan was received yet: the broker keeps none for this site.", "yellow")
    if missing := decisions["missing"]:
        whose = ", ".join(f"{one['part']} ({one['times']})" for one in missing[:_MOST_MISSING])
        more = len(missing) - _MOST_MISSING
        yield Text(
            f"{100 * decisions['incomplete']:.1f} % of the last "
            f"{count(decisions['kept'], 'decision')} lacked values of {whose}"
            f"{f' and {more} more' if more > 0 else ''}",
            "bold red",
        )
    messages = snapshot["messages"]
    if refused := [
        f"{messages[kind]} {words}" for kind, words in _REFUSED.items() if messages[kind]
    ]:
        yield Text(f"messages not taken: {', '.join(refused)}", "yellow")
    if shadow := snapshot["shadow"]:
        yield Text(_shadow(shadow))


def _shadow(shadow: Mapping[str, Any]) -> str:
    """Return how often the shadow agrees."""
    if not shadow["rows"]:
        return f"shadow {shadow['hash'][:8]}: no row compared yet"
    rows = count(shadow["rows"], "row")
    agreed = f"shadow {shadow['hash'][:8]}: agrees on {shadow['agreed']} of {rows}"
    if shadow["apart"] is not None:
        return f"{agreed}, {shadow['apart']:.4g} apart on average"
    differing = [
        f"{one['decision']} / {one['shadow']} ({one['times']})"
        for one in shadow["differing"][:_MOST_MISSING]
    ]
    return f"{agreed}; in use / shadow: {', '.join(differing)}" if differing else agreed


# --- tables ----------------------------------------------------------------------------------

Rows = list["Sequence[str | Text]"]


def _grid(width: int, columns: Sequence[str], rows: Rows) -> Table:
    """Lay out a table; a column whose heading ends in a blank is aligned on the right."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.width = width
    for place, column in enumerate(columns):
        grid.add_column(
            justify="right" if column.endswith(" ") else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if place == len(columns) - 1 else None,
        )
    grid.add_row(*(Text(column.strip(), "dim") for column in columns))
    for row in rows:
        grid.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return grid


def _nodes(snapshot: Mapping[str, Any]) -> tuple[Sequence[str], Rows]:
    rows: Rows = []
    for node in snapshot["nodes"]:
        state = "no message yet" if node["state"] == "unknown" else node["state"]
        model = f"{node['model'][:8]}{'' if node['has_newest'] else ', not the newest'}"
        model = model if node["model"] else "-"
        rows.append(
            (
                node["name"],
                Text(state, _STYLES.get(node["state"], "bold red")),
                f"{node['rate']:.1f}",
                f"{node['reading_rate']:.1f}",
                _ago(node["heard"], snapshot["now"]),
                model if node["is_planned"] else "not in the plan",
            )
        )
    return ("name", "state", "rows/s ", "readings/s ", "seen", "model"), rows


def _sensors(snapshot: Mapping[str, Any]) -> tuple[Sequence[str], Rows]:
    """List the features that are missing, or whose messages were not all taken."""
    rows: Rows = []
    for node in snapshot["nodes"]:
        for one in node["sensors"]:
            refused = [(what, n) for what, n in one["counts"].items() if what != "taken"]
            if refused or not one["is_known"]:
                is_old = one["age"] is not None and one["age"] > (one["max_age"] or float("inf"))
                state = "too old" if is_old else "none came" if one["age"] is None else "missing"
                rows.append(
                    (
                        one["feature"],
                        node["name"],
                        "known" if one["is_known"] else Text(state, "bold red"),
                        "-" if one["age"] is None else _duration(one["age"]),
                        ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in refused),
                    )
                )
    return ("feature", "node", "reading", "age ", "messages not taken"), rows[:_MOST_SENSORS]


def _decisions(snapshot: Mapping[str, Any]) -> tuple[Sequence[str], Rows]:
    last = snapshot["decisions"]["last"][:_LAST]
    has_ages = any(one["age"] is not None for one in last)
    has_policy = any(one["stable"] != "" for one in last)
    rows: Rows = []
    for one in last:
        stable = standing(one)
        policy = [Text("don't know", "bold yellow") if stable is None else Text(stable, "bold")]
        missing, reasons = ", ".join(one["missing"]), ", ".join(one["abstain_reasons"])
        rows.append(
            (
                str(one["row"]),
                *(policy if has_policy else []),
                Text(one["decision"], "" if has_policy else "bold"),
                "-" if one["certainty"] is None else f"{one['certainty']:.2f}",
                "-" if one["latency"] is None else _duration(one["latency"]),
                f"{100 * one['completeness']:.0f} %",
                *(["-" if one["age"] is None else _duration(one["age"])] if has_ages else []),
                Text.assemble(
                    (missing, "bold red"), "; " * bool(missing and reasons), (reasons, "yellow")
                ),
            )
        )
    columns = (
        *("row ", *(["stable"] if has_policy else []), "decision", "probability ", "latency "),
        *("completeness ", *(["oldest "] if has_ages else [])),
        "missing; reasons" if has_policy else "missing",
    )
    return columns, rows


# --- format ----------------------------------------------------------------------------------


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
