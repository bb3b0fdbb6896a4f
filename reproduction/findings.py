"""Where our tables agree with the paper and where they do not, in sentences; and our targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.statistics import LEVEL
from reproduction.tables.layout import PRINTED
from reproduction.tables.trees import MEAN, SOLAH, TREE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reproduction.tables.layout import Row, Table

    Tables = Mapping[str, Table]

CLOSE = 0.02
"""An accuracy that differs from the paper's by no more than this agrees with it."""
TIMED = {"sms20", "sweep20", "sms14", "sweep14", "databases", "ldt", "high", "comparison"}
"""The total time has a target only if all of these were computed."""

_SETTINGS = ("PAPER", "default")


def find_out(tables: Tables) -> list[dict[str, str]]:
    """Compare our figures with the paper's.

    Parameters
    ----------
    tables : mapping of table name to table

    Returns
    -------
    findings : list of dicts with ``title`` and ``text``
        One for each of the tables that has something to compare.
    """
    finders: dict[str, Callable[[Table], Iterator[str]]] = {
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
    """Compare what was measured with our targets.

    Parameters
    ----------
    tables : mapping of table name to table
    seconds : mapping
        The processor time of the genetic search (``"optlah"``) and of everything else
        (``"others"``).

    Returns
    -------
    bars : list of dicts with ``what``, ``aim``, ``measured`` and ``holds``
        Those that follow from the given tables.
    """
    bars = _time_bars(seconds) if set(tables) >= TIMED else []
    if "ldt" in tables:
        bars += _mean_bar(tables["ldt"]["rows"])
    if "comparison-standing" in tables:
        bars += _search_bars(tables["comparison-standing"]["rows"])
    return bars


def _time_bars(seconds: Mapping[str, float]) -> list[dict[str, Any]]:
    others, total = seconds["others"] / 120, (seconds["others"] + seconds["optlah"]) / 120
    bars = [_below("processor time without OptLAH, on 2 processors", others, 10, "{:.1f} minutes")]
    if seconds["optlah"]:
        bars.append(_below("processor time in all, on 2 processors", total, 60, "{:.1f} minutes"))
    return bars


def _mean_bar(rows: list[Row]) -> list[dict[str, Any]]:
    means = {
        row["settings"]: row["accuracy"]
        for row in rows
        if (row["data"], row["model"]) == (MEAN, SOLAH)
    }
    if "PAPER" not in means:
        return []
    what = f"SOLAH's mean accuracy with PAPER (the paper: {means[PRINTED]:.3f})"
    return [_at_least(what, means["PAPER"], 0.80, "{:.3f}")]


def _search_bars(rows: list[Row]) -> list[dict[str, Any]]:
    """Compare SOLAH with the genetic search of the same settings, by time and by accuracy."""
    by_key = {row["key"]: row for row in rows}
    bars = []
    for settings in _SETTINGS:
        variant = settings.lower()
        if f"optlah {variant}" not in by_key:
            continue
        search, solah = by_key[f"optlah {variant}"], by_key[f"solah {variant}"]
        auto = by_key.get(f"solah-auto {variant}", solah)
        took = search["learning_seconds"] + search["choosing_seconds"]
        chosen = solah["learning_seconds"] + solah["choosing_seconds"]
        for what, own in (
            ("SOLAH auto", auto["learning_seconds"]),
            ("SOLAH with given k and theta", solah["learning_seconds"]),
            ("SOLAH including the choice of k and theta", chosen),
        ):
            what = f"{what}: speed against OptLAH ({settings})"
            bars.append(_at_least(what, took / own, 100, "{:,.0f} times"))
        for name, row in (("SOLAH", solah), ("SOLAH auto", auto)):
            what = f"{name}: mean accuracy behind OptLAH ({settings})"
            bars.append(_below(what, search["accuracy"] - row["accuracy"], 1.5, "{:.2f} points"))
    return bars


def _below(what: str, value: float, aim: float, form: str) -> dict[str, Any]:
    return _bar(what, value, f"under {form.format(aim)}", form, holds=value < aim)


def _at_least(what: str, value: float, aim: float, form: str) -> dict[str, Any]:
    return _bar(what, value, f"at least {form.format(aim)}", form, holds=value >= aim)


def _bar(what: str, value: float, aim: str, form: str, *, holds: bool) -> dict[str, Any]:
    return {"what": what, "aim": aim, "measured": form.format(value), "holds": bool(holds)}


def _study(table: Table) -> Iterator[str]:
    printed = {row["model"]: row for row in table["rows"] if row["settings"] == PRINTED}
    for row in table["rows"]:
        if row["settings"] == "PAPER" and row["model"] in printed:
            paper = printed[row["model"]]
            same = "the same" if row["branches"] == paper["branches"] else "different"
            yield (
                f"{row['model']}, PAPER: A {row['accuracy']:.4f} (paper "
                f"{paper['accuracy']:.4f}, {_nearness(row['accuracy'] - paper['accuracy'])}), "
                f"β {row['branches']:,.0f} (paper {paper['branches']:,}, {same})."
            )


def _nearness(difference: float) -> str:
    if abs(difference) <= CLOSE:
        return f"within {CLOSE}"
    return "above" if difference > 0 else "below"


def _sweep(table: Table) -> Iterator[str]:
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


def _properties(table: Table) -> Iterator[str]:
    known = [row for row in table["rows"] if "rows" in row]
    same = [row["data"] for row in known if row["difference"] == "nothing"]
    others = [row["data"] for row in known if row["difference"] != "nothing"]
    yield f"As in the paper: {_listed(same)}. Different: {_listed(others)}."


def _against_tree(table: Table) -> Iterator[str]:
    found = {
        (row["data"], row["model"], row["settings"]): row
        for row in table["rows"]
        if row.get("is_counted") and "accuracy" in row
    }
    sets = list(dict.fromkeys(data for data, _, _ in found))
    for model in (SOLAH, TREE):
        for settings in _SETTINGS:
            pairs = _pairs(found, sets, (model, settings), (model, PRINTED))
            near: dict[str, list[str]] = {f"within {CLOSE}": [], "above": [], "below": []}
            for name, own, printed in pairs:
                difference = own["accuracy"] - printed["accuracy"]
                near[_nearness(difference)].append(f"{name} ({difference:+.3f})")
            if pairs:
                close, above, below = map(_listed, near.values())
                yield (
                    f"{model}, {settings}: accuracy within {CLOSE} of the paper's on {close}; "
                    f"above it on {above}; below it on {below}."
                )
    for settings in (PRINTED, *_SETTINGS):
        pairs = _pairs(found, sets, (SOLAH, settings), (TREE, settings))
        if pairs:
            better = sum(own["accuracy"] > tree["accuracy"] for _, own, tree in pairs)
            ranked = sum(own["auc"] > tree["auc"] for _, own, tree in pairs)
            smaller = sum(own["branches"] < tree["branches"] for _, own, tree in pairs)
            yield (
                f"SOLAH against the single tree, {settings}, {len(pairs)} databases: A is larger "
                f"on {better}, AUC on {ranked}, β is smaller on {smaller}."
            )
    for row in table["rows"]:
        if row["data"] == MEAN:
            yield (
                f"Mean of the paper's databases, {row['model']}, {row['settings']}: "
                f"A {row['accuracy']:.3f}, AUC {row['auc']:.3f}."
            )


def _pairs(
    found: dict[tuple[str, str, str], Row],
    sets: list[str],
    one: tuple[str, str],
    other: tuple[str, str],
) -> list[tuple[str, Row, Row]]:
    """Match two rows of each data set, by model and settings, where both are there."""
    return [
        (name, found[name, *one], found[name, *other])
        for name in sets
        if (name, *one) in found and (name, *other) in found
    ]


def _standing(table: Table) -> Iterator[str]:
    ranked = [row for row in table["rows"] if "rank" in row]
    if not ranked:
        return
    ranked.sort(key=lambda row: float(row["rank"]))
    order = ", ".join(f"{row['model']} ({row['rank']:.2f})" for row in ranked)
    yield f"By mean rank, best first: {order}."
    difference, p_value = table["facts"]["critical_difference"], table["facts"]["p_value"]
    if p_value is None:
        return
    if p_value >= LEVEL:
        yield f"Friedman's test finds no difference (p = {p_value:.2g})."
        return
    for row in ranked:
        if row["key"].startswith("solah "):
            worse = [o["model"] for o in ranked if o["rank"] - row["rank"] > difference]
            better = [o["model"] for o in ranked if row["rank"] - o["rank"] > difference]
            yield (
                f"{row['model']} is better than {_listed(worse)} and worse than "
                f"{_listed(better)} by more than the critical difference, and comparable to the "
                "others."
            )


def _listed(names: list[Any]) -> str:
    return ", ".join(map(str, names)) if names else "none"
