"""Writes what differs between two models as lines of text, under headings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.data.spelling import count, spell_number
from solah.difference.values import Decisions, Estimates
from solah.model import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.difference.values import Flip, ModelDiff, Part

_TITLES: dict[Part, str] = {
    "goal": "What is decided",
    "attribute": "Attributes",
    "words": "Words",
    "group": "Groups",
    "rule": "Rules, the largest change first",
    "tree": "Trees",
    "policy": "When it decides",
    "figures": "Figures",
}
MOST_LINES = 20
MOST_FLIPS = 10


@dataclass(frozen=True)
class Section:
    """Some lines under a heading."""

    title: str
    lines: tuple[str, ...]


def sections(
    diff: ModelDiff, most: int | None = MOST_LINES, most_flips: int | None = MOST_FLIPS
) -> list[Section]:
    """Write a comparison as sections.

    Parameters
    ----------
    diff : ModelDiff
    most : int, default=20
        How many differences of one kind to list; None lists all.
    most_flips : int, default=10
        How many rows to list; None lists all.
    """
    found = [] if diff.differences else [Section("The models are the same", ())]
    if any(diff.learnt_from):
        found.append(Section("Learnt from", tuple(_origins(*diff.learnt_from))))
    if diff.edits:
        found.append(Section("Edits", tuple(_some(diff.edits, most))))
    for part, title in _TITLES.items():
        lines = [one.text for one in diff.of(part)]
        if lines:
            found.append(Section(title, tuple(_some(lines, most))))
    if isinstance(diff.decisions, Decisions):
        found += _decision_sections(diff.decisions, most_flips)
    elif isinstance(diff.decisions, Estimates):
        found.append(_estimate_section(diff.decisions, most_flips))
    return found


def _origins(before: Provenance | None, after: Provenance | None) -> Iterator[str]:
    first, second = (spell_origin(one or Provenance()) for one in (before, after))
    if first == second and after is not None:
        yield f"both: {second}"
        return
    yield f"before: {first}"
    yield f"after: {second}"


def spell_origin(origin: Provenance) -> str:
    """Write what a model was learnt from."""
    parts = [
        origin.source,
        f"of {origin.modified}" if origin.modified else "",
        "" if origin.rows is None else f"{origin.rows:,} row{'' if origin.rows == 1 else 's'}",
        f"digest {origin.digest}" if origin.digest else "",
    ]
    return ", ".join(filter(None, parts)) or "not told"


def _some(lines: Sequence[str], most: int | None) -> list[str]:
    left = 0 if most is None else len(lines) - most
    return [*lines] if left <= 0 else [*lines[:most], f"and {left} more"]


# --- on rows ---------------------------------------------------------------------------------


def _decision_sections(found: Decisions, most: int | None) -> Iterator[Section]:
    share = f" ({100 * found.n_flips / found.n_rows:.1f} %)" if found.n_flips else ""
    title = f"Decisions that flip: {found.n_flips:,} of {count(found.n_rows, 'row')}{share}"
    ways = [_way(*way, *counts) for way, counts in found.ways.items()]
    rows = _some([_flip(flip) for flip in found.flips], most)
    yield Section(title, (*ways, *rows))
    if found.before is None or found.after is None:
        return
    title = f"Scores, on {count(found.n_known, 'row')} of which the truth is known"
    lines = (
        f"{name}: {after:.4f}, before {before:.4f} ({after - before:+.4f})"
        for name, before, after in (
            ("accuracy", found.before.accuracy, found.after.accuracy),
            ("log-loss", found.before.log_loss, found.after.log_loss),
            ("Brier score", found.before.brier, found.after.brier),
            (
                "calibration error",
                found.before.calibration_error,
                found.after.calibration_error,
            ),
        )
    )
    yield Section(title, (*lines, *_flattery(found)))
    yield Section("By class", tuple(_by_class(found)))


def _flattery(found: Decisions | Estimates) -> list[str]:
    """Say which model was learnt from the rows, so that the figures flatter it."""
    who = {
        (True, True): "both models were learnt from these rows: the figures flatter them",
        (True, False): "the first model was learnt from these rows: the figures flatter it",
        (False, True): "the second model was learnt from these rows: the figures flatter it",
    }.get(found.flattered)
    return [] if who is None else [who]


def _way(before: str, after: str, number: int, right: int, wrong: int) -> str:
    known = f" ({right} now right, {wrong} now wrong)" if right or wrong else ""
    return f"{before} to {after}: {count(number, 'row')}{known}"


def _flip(flip: Flip) -> str:
    truth = "" if flip.truth is None else f", truly {flip.truth}"
    return (
        f"row {flip.row}: {flip.before} ({flip.belief_before:.2f}) becomes {flip.after} "
        f"({flip.belief_after:.2f}){truth}"
    )


def _by_class(found: Decisions) -> Iterator[str]:
    for one in found.classes:
        parts = [f"decided for {one.decided[1]:,}, before {one.decided[0]:,}"]
        for name, (before, after) in (
            ("recall", one.recall),
            ("precision", one.precision),
            ("calibration error", one.calibration_error),
        ):
            parts.append(f"{name} {_share(after)}, before {_share(before)}")
        yield f"{one.name} ({count(one.n_rows, 'row')}): {'; '.join(parts)}"


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _estimate_section(found: Estimates, most: int | None) -> Section:
    title = f"Estimates that move: {found.n_flips:,} of {count(found.n_rows, 'row')}"
    lines = [f"on average by {spell_number(found.mean_move)}"]
    for name, (before, after), decimals in (
        ("R²", found.r2, ".4f"),
        ("mean absolute error", found.mae, ".4g"),
    ):
        if before is not None and after is not None:
            change = f"{after - before:+{decimals}}"
            lines.append(f"{name}: {after:{decimals}}, before {before:{decimals}} ({change})")
    lines += _flattery(found) if found.n_known else []
    rows = [
        f"row {one.row}: {spell_number(float(one.before))} becomes {spell_number(float(one.after))}"
        + ("" if one.truth is None else f", truly {spell_number(float(one.truth))}")
        for one in found.flips
    ]
    return Section(title, (*lines, *_some(rows, most)))
