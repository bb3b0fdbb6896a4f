"""Lays out measures of estimators, and of groups of rows, as tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from solah.data.spelling import spell_number, spell_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.evaluation.groups import ClassGroup, Groups, NumberGroup, Rate

    Spread = Mapping[str, float | None]


_NAMES_AND_DECIMALS = {
    "accuracy": ("accuracy", 3),
    "auc": ("AUC", 3),
    "log_loss": ("log-loss", 3),
    "brier": ("Brier score", 3),
    "r2": ("R²", 3),
    "mae": ("mean absolute error", 4),
    "n_clusters": ("clusters (K)", 1),
    "n_levels": ("levels", 1),
    "n_rules": ("rules", 1),
    "n_branches": ("branches", 1),
    "seconds": ("seconds to learn", 3),
}


def name_measure(measure: str) -> str:
    """Return how people call a measure."""
    return _NAMES_AND_DECIMALS[measure][0]


def spell_spread(measure: str, spread: Spread) -> str:
    """Write a mean and its deviation with the decimals that are worth showing."""
    mean, deviation = spread["mean"], spread["deviation"]
    if mean is None or deviation is None:
        return "unknown"
    decimals = _NAMES_AND_DECIMALS[measure][1]
    return f"{mean:,.{decimals}f} ± {deviation:,.{decimals}f}"


def score_rows(
    by_estimator: Mapping[str, Mapping[str, Spread]],
) -> Iterator[tuple[str, list[str]]]:
    """Lay estimators side by side: a measure's name, and what each estimator has of it."""
    for measure in _NAMES_AND_DECIMALS:
        if any(measure in spreads for spreads in by_estimator.values()):
            yield (
                name_measure(measure),
                [
                    spell_spread(measure, spreads[measure]) if measure in spreads else "-"
                    for spreads in by_estimator.values()
                ],
            )


FEW_ROWS = 30
"""A group with fewer rows than this is shown with a caution."""

_MOST_CLASSES = 6
_UNKNOWN = "-"


def describe_groups(measured: Groups) -> dict[str, Any]:
    """Describe what was measured by a column, ready for JSON."""
    return {
        "column": measured.column,
        "classes": list(measured.classes),
        "positive": measured.positive or None,
        "few_rows": FEW_ROWS,
        "groups": [_describe(one, measured) for one in measured.groups],
        "all": _describe(measured.whole, measured),
    }


def _describe(group: ClassGroup | NumberGroup, measured: Groups) -> dict[str, Any]:
    classes = measured.classes
    shown = {"group": group.name, "rows": group.n_rows, "few": group.n_rows < FEW_ROWS}
    if not classes:
        names = ("mae", "mean_error", "low", "high")
        return {**shown, **{name: getattr(group, name) for name in names}}
    group = cast("ClassGroup", group)
    described = {
        **shown,
        "accuracy": _rate(group.accuracy),
        "decided": _by_class(group.decided, classes),
        "recall": _by_class(group.recall, classes),
        "believed": dict(zip(classes, group.mean_probabilities, strict=False)),
        "calibration_error": group.calibration_error,
        "log_loss": group.log_loss,
        "brier": group.brier,
    }
    if measured.positive:
        positive = classes.index(measured.positive)
        described["false_positive"] = _rate(group.recall[1 - positive].rest)
        described["false_negative"] = _rate(group.recall[positive].rest)
    return described


def _rate(rate: Rate) -> dict[str, Any]:
    return {name: getattr(rate, name) for name in ("share", "low", "high", "hits", "of")}


def _by_class(rates: Sequence[Rate], classes: Sequence[str]) -> dict[str, Any]:
    return {name: _rate(rate) for name, rate in zip(classes, rates, strict=True)}


def group_table(described: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Lay groups out as a table: its head, and a line for each group and for all rows."""
    lines = [*described["groups"], described["all"]]
    measures = _measures(described)
    head = [described["column"], "rows", *(name for name, _ in measures)]
    return head, [
        [
            one["group"] if one is not described["all"] else "all rows",
            f"{spell_whole(one['rows'])}{' *' if one['few'] else ''}",
            *(_spell(one, where) for _, where in measures),
        ]
        for one in lines
    ]


def group_notes(described: Mapping[str, Any]) -> list[str]:
    """Return the notes on the table: its counts, small groups, and gaps that may be chance."""
    notes = []
    classes = described["classes"]
    if classes:
        notes.append("In brackets: where the true share lies in 95 of 100 cases (Wilson).")
    if yes := described["positive"]:
        (no,) = (one for one in classes if one != yes)
        notes.append(
            f"False positives: of those that are {no}, decided {yes}. "
            f"False negatives: of those that are {yes}, decided {no}."
        )
    if any(one["few"] for one in described["groups"]):
        notes.append(f"* fewer than {described['few_rows']} rows: too few for a conclusion.")
    if classes:
        notes += _gaps(described)
    return notes


def _gaps(described: Mapping[str, Any]) -> list[str]:
    """Name the two groups that are farthest apart in each rate, if chance does not explain it."""
    groups = [one for one in described["groups"] if not one["few"]]
    n_gaps, told = 0, []
    for name, where in _measures(described):
        if where[0] == "calibration_error":
            continue
        rates = {one["group"]: rate for one in groups if (rate := _at(one, where))["of"]}
        if len(rates) < 2:
            continue
        n_gaps += 1
        high, low = (choose(rates, key=lambda one: rates[one]["share"]) for choose in (max, min))
        if rates[high]["low"] > rates[low]["high"]:
            gap = rates[high]["share"] - rates[low]["share"]
            told.append(
                f"{name[0].upper()}{name[1:]}: {gap:.3f} more for “{high}” than for “{low}”; "
                "their intervals do not overlap."
            )
    if n_gaps and not told:
        return ["All intervals overlap: the differences between the groups may be chance."]
    return told


def _measures(described: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """List the columns of the table, and the keys of their values."""
    classes = described["classes"]
    if not classes:
        return [("mean absolute error", ("mae",)), ("estimate less target", ("mean_error",))]
    shown: list[tuple[str, tuple[str, ...]]] = [("accuracy", ("accuracy",))]
    if positive := described["positive"]:
        shown += [
            (f"decided {positive}", ("decided", positive)),
            ("false positives", ("false_positive",)),
            ("false negatives", ("false_negative",)),
        ]
    else:
        some = classes[:_MOST_CLASSES]
        shown += [(f"found of {one}", ("recall", one)) for one in some]
        shown += [(f"decided {one}", ("decided", one)) for one in some]
    return [*shown, ("calibration error", ("calibration_error",))]


def _at(group: Mapping[str, Any], where: tuple[str, ...]) -> Any:
    found: Any = group
    for key in where:
        found = found[key]
    return found


def _spell(group: Mapping[str, Any], where: tuple[str, ...]) -> str:
    value = _at(group, where)
    if where == ("mean_error",) and value is not None:
        low, high = group["low"], group["high"]
        signed = partial(spell_number, sign="+")
        ends = "" if low is None else f" ({signed(low)} to {signed(high)})"
        return signed(value) + ends
    if value is None:
        return _UNKNOWN
    if isinstance(value, float):
        return spell_number(value) if where == ("mae",) else f"{value:.3f}"
    if value["share"] is None:
        return _UNKNOWN
    return f"{value['share']:.3f} ({value['low']:.2f} to {value['high']:.2f})"
