"""Write the summary as a Markdown page, and a figure for each group."""

from __future__ import annotations

import json
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any

from comparison.sizes import RULE_UNITS
from reproduction.page import format_table
from solah.atomic import write_whole
from solah.report.markdown import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_GROUP_COLUMNS = (
    ("model", "model", "text"),
    ("accuracy", "accuracy", "share"),
    ("balanced_accuracy", "balanced", "share"),
    ("auc", "AUC", "share"),
    ("log_loss", "log-loss", "share"),
    ("brier", "Brier", "share"),
    ("calibration", "ECE", "share"),
    ("size", "size (median)", "count"),
    ("unit", "of", "text"),
    ("length", "conditions", "mean"),
    ("seconds", "fit s", "seconds"),
    ("rank_accuracy", "rank, accuracy", "mean"),
    ("rank_auc", "rank, AUC", "mean"),
)
_PARETO_COLUMNS = (
    ("size", "size (median)", "count"),
    ("unit", "of", "text"),
    ("model", "model", "text"),
    ("accuracy", "accuracy", "share"),
    ("auc", "AUC", "share"),
    ("front", "on the front", "text"),
)
_SET_COLUMNS = (
    ("name", "set", "text"),
    ("rows", "rows", "count"),
    ("features", "features", "count"),
    ("classes", "classes", "count"),
    ("folds", "folds", "count"),
    ("method", "split", "text"),
    ("notes", "notes", "text"),
)
_BY_SET = (("accuracy", "Accuracy", "share"), ("auc", "AUC", "share"), ("size", "Size", "count"))


def write_results(summary: dict[str, Any], folder: Path) -> tuple[list[Path], list[str]]:
    """Write the JSON file, the page and the figures; return the files, and notes."""
    folder.mkdir(parents=True, exist_ok=True)
    document, page = folder / "accuracy.json", folder / "accuracy.md"
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(document, f"{text}\n")
    figures, notes = _draw_all(summary, folder)
    write_whole(page, render_page(summary, {name: file.name for name, file in figures.items()}))
    return [document, page, *figures.values()], notes


def render_page(summary: dict[str, Any], figures: dict[str, str] | None = None) -> str:
    """Write the summary as Markdown.

    Parameters
    ----------
    summary : dict
        As :func:`comparison.summary.summarise` returns it, or as it comes back from its file.
    figures : dict of group name to file name, default=None

    Returns
    -------
    page : str
    """
    lines = ["# Accuracy against rules", "", *_introduction(summary), ""]
    lines += [*_notes(summary), *render_bars(summary), *render_timing(summary)]
    for name, group in summary["groups"].items():
        lines += render_group(name, summary)
        if name in (figures or {}):
            lines += [f"![{escape(group['title'])}: accuracy against rules]({figures[name]})", ""]
    lines += [*_by_set(summary), *_sets(summary), *_models(summary)]
    return "\n".join(lines).rstrip() + "\n"


def render_bars(summary: dict[str, Any]) -> list[str]:
    """Write what was aimed for."""
    if not summary["bars"]:
        return []
    rows = [
        (bar["what"], bar["aim"], bar["measured"], "held" if bar["holds"] else "**missed**")
        for bar in summary["bars"]
    ]
    return ["## What was aimed for", "", *_grid(("", "aim", "measured", ""), rows), ""]


def render_timing(summary: dict[str, Any]) -> list[str]:
    """Write how long the default takes to learn."""
    if not summary["timing"]:
        return []
    rows = [
        (
            one["what"],
            f"{one['seconds']:.2f}",
            f"{one['peer_seconds']:.2f}",
            f"{one['ratio']:.2f}",
        )
        for one in summary["timing"]
    ]
    titles = ("default fit on", "solah s", "HistGradientBoosting s", "ratio")
    return ["## Time to learn", "", *_grid(titles, rows, right=(1, 2, 3)), ""]


def render_group(name: str, summary: dict[str, Any]) -> list[str]:
    """Write the means over a group of sets, and the front of accuracy against rules."""
    group, models = summary["groups"][name], summary["models"]
    lines = [f"## {group['title']}", ""]
    if group["missing"]:
        lines += [f"Not measured: {', '.join(map(escape, group['missing']))}.", ""]
    if not group["models"]:
        return lines
    rows = [_group_row(model, group, models) for model in group["models"]]
    lines += [*_table(_GROUP_COLUMNS, rows), "", *_standing(group)]
    lines += [f"### {group['title']}: accuracy against rules", ""]
    ordered = sorted(
        (row for row in rows if row["unit"] in RULE_UNITS and row["size"] is not None),
        key=lambda row: row["size"],
    )
    return [*lines, *_table(_PARETO_COLUMNS, ordered), ""]


def _group_row(model: str, group: dict[str, Any], models: dict[str, Any]) -> dict[str, Any]:
    figures = group["models"][model]
    is_whole = figures["n_sets"] == len(group["sets"])
    part = "" if is_whole else f" ({figures['n_sets']} of {len(group['sets'])} sets)"
    return {
        **figures,
        "model": models[model]["title"] + part,
        "unit": models[model]["unit"],
        "rank_accuracy": group["ranks"]["accuracy"]["mean"].get(model),
        "rank_auc": group["ranks"]["auc"]["mean"].get(model),
        "front": "yes" if model in group["pareto"] else "",
    }


def _standing(group: dict[str, Any]) -> list[str]:
    ranks = group["ranks"]["accuracy"]
    if ranks["p_value"] is None:
        return []
    return [
        f"Friedman's test of the ranks by accuracy: p = {ranks['p_value']:.2g}; ranks that differ "
        f"by less than {ranks['critical_difference']:.2f} do not differ at the level of 0.05 "
        "(Nemenyi).",
        "",
    ]


def _introduction(summary: dict[str, Any]) -> list[str]:
    settings, machine = summary["settings"], summary["machine"]
    seeds = ", ".join(map(str, settings["seeds"]))
    return [
        "`benchmarks/accuracy.py` wrote this page and the figures behind it "
        "([accuracy.json](accuracy.json)). "
        f"solah {escape(summary['solah'])}, Python {escape(machine['python'])}, "
        f"NumPy {escape(machine['numpy'])}, scikit-learn {escape(machine['scikit-learn'])}, "
        f"{machine['processors']} processors.",
        "",
        f"- {settings['folds']} folds, stratified, shuffled with the seeds {seeds}; the same for "
        "all models. Where a set has groups, a group is never split between learning and test. "
        "Whatever a model chooses, it chooses on the training rows.",
        f"- Of a set with more than {settings['rows']:,} rows a seeded sample of that many is "
        "taken, the same share of each class (and group).",
        "- A set's figure is the mean over all folds and seeds; a group's is the mean over its "
        "sets, of sizes the median. AUC is the rank AUC, for several classes the mean over one "
        "class against the others; the Brier score is halved, so that it is at most 1; ECE is the "
        "expected calibration error of the decisions, in ten bins.",
        "- The size is in each model's own unit (below); conditions are the mean number of "
        "conditions of a rule or leaf. The time to learn is on one processor that other work may "
        "share.",
    ]


def _notes(summary: dict[str, Any]) -> list[str]:
    lines = [f"- {escape(note)}" for note in summary["notes"]]
    return [*lines, ""] if lines else []


def _by_set(summary: dict[str, Any]) -> Iterator[str]:
    models = summary["models"]
    for measure, title, kind in _BY_SET:
        columns = [("name", "set", "text")]
        columns += [(model, facts["title"], kind) for model, facts in models.items()]
        rows = [
            {"name": name, **{m: means[measure] for m, means in facts["models"].items()}}
            for name, facts in summary["sets"].items()
        ]
        yield from (f"## {title} by set", "", *_table(columns, rows), "")


def _sets(summary: dict[str, Any]) -> list[str]:
    rows = [
        {**facts, "name": name, "notes": "; ".join(facts["notes"])}
        for name, facts in summary["sets"].items()
    ]
    return ["## The sets", "", *_table(_SET_COLUMNS, rows), ""]


def _models(summary: dict[str, Any]) -> list[str]:
    # The description of a model is our own Markdown.
    lines = [
        f"- **{escape(model['title'])}** ({escape(model['made_with'])}): {model['about']}. "
        f"Size: {model['unit']}."
        for model in summary["models"].values()
    ]
    return ["## The models", "", *lines]


def _table(columns: Iterable[tuple[str, str, str]], rows: list[dict[str, Any]]) -> list[str]:
    keyed = [{"key": key, "title": title, "kind": kind} for key, title, kind in columns]
    titles, spelt = format_table({"columns": keyed, "rows": rows})
    right = [j for j, column in enumerate(keyed) if column["kind"] != "text"]
    return _grid(titles, [[escape(cell) for cell in row] for row in spelt], right)


def _grid(
    titles: Iterable[str], rows: Iterable[Iterable[str]], right: Iterable[int] = ()
) -> list[str]:
    """Lay cells out as a Markdown table that is readable as plain text too."""
    lines = [list(titles), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    to_right = set(right)
    rule = [
        "-" * (width - 1) + ":" if j in to_right else "-" * width for j, width in enumerate(widths)
    ]
    padded = [
        [
            cell.rjust(width) if j in to_right else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    return [f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:])]


def _draw_all(summary: dict[str, Any], folder: Path) -> tuple[dict[str, Path], list[str]]:
    if find_spec("matplotlib") is None:
        return {}, ["no figure, matplotlib is not installed: pip install matplotlib"]
    figures = {}
    for name, group in summary["groups"].items():
        if group["pareto"]:
            figures[name] = folder / f"accuracy-{name}.svg"
            _draw(group, summary["models"], figures[name])
    return figures, []


def _draw(group: dict[str, Any], models: dict[str, Any], file: Path) -> None:
    """Draw accuracy over the number of rules or leaves, the front as a line."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = [
        (model, figures["size"], figures["accuracy"])
        for model, figures in group["models"].items()
        if models[model]["unit"] in RULE_UNITS and figures["size"]
    ]
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(xscale="log", xlabel="rules or leaves (median)", ylabel="accuracy")
    for model, size, accuracy in shown:
        axes.plot(size, accuracy, "o", color="C0" if models[model]["is_ours"] else "0.5")
        axes.annotate(
            models[model]["title"], (size, accuracy), (4, 4), textcoords="offset points", size=8
        )
    front = [(size, accuracy) for model, size, accuracy in shown if model in group["pareto"]]
    axes.plot(*zip(*sorted(front), strict=True), color="0.8", zorder=0)
    axes.margins(x=0.15)  # room for the names
    axes.set_title(group["title"], size=10)
    svg = StringIO()
    with rc_context({"svg.hashsalt": "solah", "svg.fonttype": "none"}):  # the same every time
        figure.savefig(svg, format="svg", metadata={"Date": None})
    write_whole(file, svg.getvalue())
