"""Tables in, what agrees with the paper and what does not out: sentences made from the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.tables.layout import PRINTED
from reproduction.tables.trees import MEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Tables = Mapping[str, dict[str, Any]]
    Row = dict[str, Any]

CLOSE = 0.02
_CLOSE_BY = f"within {CLOSE}"
TIMED = {"sms20", "sweep20", "sms14", "sweep14", "databases", "ldt", "high", "comparison"}
"""The time is held against its aim where all of these were computed."""

_SETTINGS = ("PAPER", "default")


def find_out(tables: Tables) -> list[dict[str, str]]:
    """Compare our figures with the paper's.

    Parameters
    ----------
    tables : mapping of table name to table

    Returns
    -------
    findings : list of dicts with ``title`` and ``text``
        Only of the tables that are there.
    """
    finders: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
        "sms20": _study,
        "sweep20": _sweep,
        "sms14": _study,
        "sweep14": _sweep,
        "databases": _properties,
        "ldt": _against_tree,
        "comparison-standing": _standing,
    }
    return [
        {"title": tables[name]["title"], "text": " ".join(finder(tables[name]))}
        for name, finder in finders.items()
        if name in tables
    ]


def find_bars(tables: Tables, seconds: Mapping[str, float]) -> list[dict[str, Any]]:
    """Hold what was measured against what was aimed for.

    Parameters
    ----------
    tables : mapping of table name to table
    seconds : mapping
        The processor time of the genetic search (``"optlah"``) and of all else (``"others"``).

    Returns
    -------
    bars : list of dicts with ``what``, ``aim``, ``measured`` and ``holds``
        Only of the tables that are there.
    """
    bars = _time_bars(seconds) if set(tables) >= TIMED else []
    if "ldt" in tables:
        bars += _mean_bar(tables["ldt"]["rows"])
    if "comparison-standing" in tables:
        bars += _search_bars(tables["comparison-standing"]["rows"])
    return bars


def _time_bars(seconds: Mapping[str, float]) -> list[dict[str, Any]]:
    others, total = seconds["others"] / 120, (seconds["others"] + seconds["optlah"]) / 120
    what = "processor time of all{}, shared by 2 processors"
    bars = [_bar(what.format(" but OptLAH"), others, "<", 10, "{:.1f} minutes")]
    if seconds["optlah"]:
        bars.append(_bar(what.format(""), total, "<", 60, "{:.1f} minutes"))
    return bars


def _bar(what: str, value: float, relation: str, aim: float, spelling: str) -> dict[str, Any]:
    holds = value < aim if relation == "<" else value >= aim
    sign = "under" if relation == "<" else "at least"
    return {
        "what": what,
        "aim": f"{sign} {spelling.format(aim)}",
        "measured": spelling.format(value),
        "holds": bool(holds),
    }


def _mean_bar(rows: list[Row]) -> list[dict[str, Any]]:
    means = {
        row["settings"]: row for row in rows if row["data"] == MEAN and row["model"] == "SOLAH"
    }
    if "PAPER" not in means:
        return []
    printed = means[PRINTED]["accuracy"]
    what = f"SOLAH's mean accuracy with PAPER (the paper: {printed:.3f})"
    return [_bar(what, means["PAPER"]["accuracy"], ">=", 0.80, "{:.3f}")]


def _search_bars(rows: list[Row]) -> list[dict[str, Any]]:
    """Compare SOLAH with the genetic search of the same settings: time, and accuracy."""
    by_key = {row["key"]: row for row in rows}
    bars = []
    for variant, settings in (("paper", "PAPER"), ("default", "default")):
        if f"optlah {variant}" not in by_key:
            continue
        search, solah = by_key[f"optlah {variant}"], by_key[f"solah {variant}"]
        auto = by_key.get(f"solah-auto {variant}", solah)
        took = search["learning_seconds"] + search["choosing_seconds"]
        chosen = solah["learning_seconds"] + solah["choosing_seconds"]
        for what, own in (
            ("SOLAH auto is faster than OptLAH", auto["learning_seconds"]),
            ("SOLAH with k and theta given is faster than OptLAH", solah["learning_seconds"]),
            ("SOLAH with the choosing is faster than OptLAH", chosen),
        ):
            bars.append(_bar(f"{what} ({settings})", took / own, ">=", 100, "{:,.0f} times"))
        for name, row in (("SOLAH", solah), ("SOLAH auto", auto)):
            behind = search["accuracy"] - row["accuracy"]
            what = f"{name}'s mean accuracy behind OptLAH's ({settings})"
            bars.append(_bar(what, behind, "<", 1.5, "{:.2f} points"))
    return bars


def _study(table: dict[str, Any]) -> Iterator[str]:
    rows = table["rows"]
    printed = {row["model"]: row for row in rows if row["settings"] == PRINTED}
    for row in rows:
        if row["settings"] == "PAPER" and row["model"] in printed:
            yield _line_against(row["model"], row, printed[row["model"]])


def _line_against(name: str, row: Row, printed: Row) -> str:
    same = "the same" if row["branches"] == printed["branches"] else "not the same"
    return (
        f"{name}, PAPER: A {row['accuracy']:.4f} (the paper {printed['accuracy']:.4f}, "
        f"{_nearness(row['accuracy'] - printed['accuracy'])}), β {row['branches']:,.0f} "
        f"(the paper {printed['branches']:,}, {same})."
    )


def _nearness(difference: float) -> str:
    if abs(difference) <= CLOSE:
        return _CLOSE_BY
    return "above" if difference > 0 else "below"


def _sweep(table: dict[str, Any]) -> Iterator[str]:
    printed = {row["k"]: row for row in table["rows"] if row["settings"] == PRINTED}
    for settings in _SETTINGS:
        ours = {row["k"]: row for row in table["rows"] if row["settings"] == settings}
        pairs = [(k, ours[k], printed[k]) for k in printed if k in ours]
        if not pairs:
            continue
        close = [k for k, own, other in pairs if abs(own["accuracy"] - other["accuracy"]) <= CLOSE]
        same_k = [k for k, own, other in pairs if own["clusters"] == other["clusters"]]
        same_beta = [k for k, own, other in pairs if own["branches"] == other["branches"]]
        yield (
            f"{settings}: A is within {CLOSE} of the paper's for {_of_k(close)}; K is the "
            f"same for {_of_k(same_k)}; β is the same for {_of_k(same_beta)}."
        )


def _of_k(values: list[int]) -> str:
    return f"k = {_listed(values)}" if values else "no k"


def _properties(table: dict[str, Any]) -> Iterator[str]:
    known = [row for row in table["rows"] if "rows" in row]
    same = [row["data"] for row in known if row["difference"] == "nothing"]
    others = [row["data"] for row in known if row["difference"] != "nothing"]
    yield f"As the paper has them: {_listed(same)}. Different: {_listed(others)}."


def _against_tree(table: dict[str, Any]) -> Iterator[str]:
    rows = [row for row in table["rows"] if row.get("is_counted") and "accuracy" in row]
    found = {(row["data"], row["model"], row["settings"]): row for row in rows}
    sets = list(dict.fromkeys(row["data"] for row in rows))
    for model in ("SOLAH", "single tree"):
        for settings in _SETTINGS:
            yield from _against_printed(found, sets, model, settings)
    for settings in (PRINTED, *_SETTINGS):
        yield from _solah_against_tree(found, sets, settings)
    for row in table["rows"]:
        if row["data"] == MEAN:
            yield (
                f"Mean of the paper's databases, {row['model']}, {row['settings']}: "
                f"A {row['accuracy']:.3f}, AUC {row['auc']:.3f}."
            )


def _against_printed(
    found: dict[tuple[str, str, str], Row], sets: list[str], model: str, settings: str
) -> Iterator[str]:
    near: dict[str, list[str]] = {_CLOSE_BY: [], "above": [], "below": []}
    for name in sets:
        own, other = found.get((name, model, settings)), found[name, model, PRINTED]
        if own is not None:
            difference = own["accuracy"] - other["accuracy"]
            near[_nearness(difference)].append(f"{name} ({difference:+.3f})")
    if any(near.values()):
        yield (
            f"{model}, {settings}, accuracy within {CLOSE} of the paper's: "
            f"{_listed(near[_CLOSE_BY])}; above it: {_listed(near['above'])}; below it: "
            f"{_listed(near['below'])}."
        )


def _solah_against_tree(
    found: dict[tuple[str, str, str], Row], sets: list[str], settings: str
) -> Iterator[str]:
    pairs = [
        (found[name, "SOLAH", settings], found[name, "single tree", settings])
        for name in sets
        if (name, "SOLAH", settings) in found and (name, "single tree", settings) in found
    ]
    if pairs:
        better = sum(own["accuracy"] > tree["accuracy"] for own, tree in pairs)
        ranked = sum(own["auc"] > tree["auc"] for own, tree in pairs)
        smaller = sum(own["branches"] < tree["branches"] for own, tree in pairs)
        yield (
            f"SOLAH against the single tree, {settings}, of {len(pairs)}: A is larger on {better}, "
            f"AUC on {ranked}, β is smaller on {smaller}."
        )


def _standing(table: dict[str, Any]) -> Iterator[str]:
    ranked = [row for row in table["rows"] if "rank" in row]
    if not ranked:
        return
    ranked.sort(key=lambda row: float(row["rank"]))
    order = ", ".join(f"{row['model']} ({row['rank']:.2f})" for row in ranked)
    yield f"By mean rank, the best first: {order}."
    difference, p_value = table["facts"]["critical_difference"], table["facts"]["p_value"]
    if p_value is None:
        return
    if p_value >= 0.05:
        yield f"Friedman's test finds no difference at all (p = {p_value:.2g})."
        return
    for row in ranked:
        if row["key"].startswith("solah "):
            others = [other for other in ranked if other is not row]
            worse = [o["model"] for o in others if o["rank"] - row["rank"] > difference]
            better = [o["model"] for o in others if row["rank"] - o["rank"] > difference]
            yield (
                f"{row['model']} is better than {_listed(worse)} and worse than "
                f"{_listed(better)} by more than the critical difference; to all others it is "
                "comparable."
            )


def _listed(names: list[Any]) -> str:
    return ", ".join(map(str, names)) if names else "none"
