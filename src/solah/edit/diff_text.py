"""The differences between two models and between their decisions, as objects and as text."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from solah.data.spelling import count, spell_number
from solah.model.json_fields import record_of
from solah.model.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


_MOST_DIGITS = 17
_MOST_NAMED = 8


def instead(new: float, old: float, decimals: int = 2, *, signed: bool = False) -> str:
    """Write a number and the one that it replaces.

    Examples
    --------
    >>> instead(0.62, 0.71), instead(1.3001, 1.3002, signed=True)
    ('0.62 instead of 0.71', '+1.3001 instead of +1.3002')
    """
    sign = "+" if signed else ""
    return _apart(
        new, old, lambda x, more: f"{round(x, decimals + more) + 0.0:{sign}.{decimals + more}f}"
    )


def measure_instead(new: float, old: float, *, signed: bool = False) -> str:
    """Write a measured number and the one that it replaces, with four digits at least.

    Examples
    --------
    >>> measure_instead(1500.0, 1400.0), measure_instead(0.30001, 0.3)
    ('1500 instead of 1400', '0.30001 instead of 0.3')
    """
    sign = "+" if signed else ""
    return _apart(new, old, lambda x, more: f"{x:{sign}.{4 + more}g}")


def _apart(new: float, old: float, write: Callable[[float, int], str]) -> str:
    for more in range(_MOST_DIGITS):
        both = write(new, more), write(old, more)
        if both[0] != both[1]:
            break
    else:
        both = repr(new), repr(old)
    return f"{both[0]} instead of {both[1]}"


def named(names: Sequence[str]) -> str:
    """List names, of very many the first ones."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


Part = Literal["target", "feature", "words", "group", "rule", "tree", "policy", "figures"]


@dataclass(frozen=True)
class Difference:
    """One difference.

    Attributes
    ----------
    part : the kind of thing that differs
    name : its name: of a feature, a group, a node
    text : the difference as a sentence
    size : of rules in log-odds or in the unit of the target, of words as a share of the feature's
        range, of features as a share of importance (1 for those that came or went); else 0
    details : the figures behind the sentence, ready for JSON
    """

    part: Part
    name: str
    text: str
    size: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Flip:
    """A row on which two models decide differently.

    Attributes
    ----------
    row : its number, from 1
    before, after : the decisions: classes, or numbers
    target : the true class or number; None if unknown
    probability_before, probability_after : the probability of each decision; None for a number
    """

    row: int
    before: str | float
    after: str | float
    target: str | float | None
    probability_before: float | None = None
    probability_after: float | None = None


Pair = tuple[float | None, float | None]


@dataclass(frozen=True)
class ClassChange:
    """The changes for a class; each is a pair of before and after.

    Attributes
    ----------
    name : the class
    n_rows : the number of its rows
    decided : the number of rows that are decided for it
    recall : the share of its rows that are decided for it; None without such rows
    precision : the share of the rows decided for it that are of it; None without such rows
    calibration_error : the expected calibration error of its probability
    """

    name: str
    n_rows: int
    decided: tuple[int, int]
    recall: Pair
    precision: Pair
    calibration_error: Pair


@dataclass(frozen=True)
class Decisions:
    """The decisions of two models on the same rows, or their predictions of a number.

    Attributes
    ----------
    n_rows : the number of rows
    n_known : the number of rows with a true class that both models know, or with a true number
    flips : the rows that are decided differently; of a number, the largest move first
    metrics : before and after, on the rows with a known class: ``accuracy``, ``log_loss``,
        ``brier``, ``calibration_error`` (of the probability of the decision), or ``r2`` and
        ``mae``; empty without such rows
    classes : the changes for each class of both models
    mean_move : the mean absolute move of a number; None for classes
    trained_on : which of both models were trained on these rows, as far as their files report
    """

    n_rows: int
    n_known: int
    flips: tuple[Flip, ...]
    metrics: Mapping[str, Pair]
    classes: tuple[ClassChange, ...] = ()
    mean_move: float | None = None
    trained_on: tuple[bool, bool] = (False, False)

    @property
    def n_flips(self) -> int:
        """The number of rows that are decided differently."""
        return len(self.flips)

    def ways(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield how rows flip, and how often: all, those now right, those right before."""
        for way, number in Counter((one.before, one.after) for one in self.flips).most_common():
            targets = [one.target for one in self.flips if (one.before, one.after) == way]
            yield f"{way[0]} to {way[1]}", number, targets.count(way[1]), targets.count(way[0])


@dataclass(frozen=True)
class ModelDiff:
    """The differences between a model and another that takes its place.

    Attributes
    ----------
    differences : part by part, the largest first
    decisions : the changes on rows; None without rows
    edits : edits that only the second model has, as sentences
    training_data : the training data of each model, where its file reports them
    """

    differences: tuple[Difference, ...]
    decisions: Decisions | None = None
    edits: tuple[str, ...] = ()
    training_data: tuple[Provenance | None, Provenance | None] = (None, None)

    @property
    def is_empty(self) -> bool:
        """Whether the models are the same."""
        return not self.differences

    def of(self, part: Part) -> tuple[Difference, ...]:
        """Return the differences of one kind."""
        return tuple(one for one in self.differences if one.part == part)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        before, after = (one and record_of(one) for one in self.training_data)
        found = {
            "differ": not self.is_empty,
            "differences": self.differences,
            "decisions": self.decisions,
            "edits": self.edits,
            "training_data": {"before": before, "after": after},
        }
        plain: dict[str, Any] = json.loads(json.dumps(found, default=asdict, allow_nan=False))
        return plain

    def __str__(self) -> str:
        blocks = (
            "\n".join([section.title, *(f"  {line}" for line in section.lines)])
            for section in sections(self)
        )
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        return render("diff.html.j2", sections=sections(self))


# --- as text ----------------------------------------------------------------------------------

_TITLES: dict[Part, str] = {
    "target": "Target",
    "feature": "Features",
    "words": "Words",
    "group": "Groups",
    "rule": "Rules, the largest change first",
    "tree": "Trees",
    "policy": "Policy and training domain",
    "figures": "Counts and marks",
}
_METRICS = {
    "accuracy": ("accuracy", ".4f"),
    "log_loss": ("log-loss", ".4f"),
    "brier": ("Brier score", ".4f"),
    "calibration_error": ("calibration error", ".4f"),
    "r2": ("R²", ".4f"),
    "mae": ("mean absolute error", ".4g"),
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
    """Write a comparison as sections, with a maximum number of lines of a kind; None is all."""
    found = [] if diff.differences else [Section("The models are the same", ())]
    if any(diff.training_data):
        before, after = (spell_origin(one or Provenance()) for one in diff.training_data)
        both = (f"both: {after}",) if before == after else (f"before: {before}", f"after: {after}")
        found.append(Section("Training data", both))
    if diff.edits:
        found.append(Section("Edits", _some(diff.edits, most)))
    for part, title in _TITLES.items():
        if lines := [one.text for one in diff.of(part)]:
            found.append(Section(title, _some(lines, most)))
    return found if diff.decisions is None else [*found, *_on_rows(diff.decisions, most_flips)]


def spell_origin(origin: Provenance) -> str:
    """Describe the training data of a model."""
    parts = [
        origin.source,
        f"of {origin.modified}" if origin.modified else "",
        "" if origin.rows is None else f"{origin.rows:,} row{'' if origin.rows == 1 else 's'}",
        f"digest {origin.digest}" if origin.digest else "",
    ]
    return ", ".join(filter(None, parts)) or "unknown"


def _some(lines: Sequence[str], most: int | None) -> tuple[str, ...]:
    left = 0 if most is None else len(lines) - most
    return (*lines,) if left <= 0 else (*lines[:most], f"and {left} more")


def _on_rows(found: Decisions, most: int | None) -> Iterator[Section]:
    n_flips = f"{found.n_flips:,} of {count(found.n_rows, 'row')}"
    flips, metrics = _some([*map(_flip, found.flips)], most), [*_metrics(found)]
    if found.mean_move is not None:
        move = f"on average by {spell_number(found.mean_move)}"
        yield Section(f"Predictions that move: {n_flips}", (move, *metrics, *flips))
        return
    ways = [
        f"{way}: {count(number, 'row')}"
        + (f" ({right} now right, {wrong} now wrong)" if right or wrong else "")
        for way, number, right, wrong in found.ways()
    ]
    share = f" ({100 * found.n_flips / found.n_rows:.1f}%)" if found.n_flips else ""
    yield Section(f"Predictions that flip: {n_flips}{share}", (*ways, *flips))
    if metrics:
        title = f"Metrics, on {count(found.n_known, 'row')} with a known class"
        yield Section(title, tuple(metrics))
        yield Section("By class", tuple(_by_class(found)))


def _metrics(found: Decisions) -> Iterator[str]:
    for key, (before, after) in found.metrics.items():
        name, form = _METRICS[key]
        if before is not None and after is not None:
            yield f"{name}: {after:{form}}, before {before:{form}} ({after - before:+{form}})"
    who = {
        (True, True): "both models were trained on these rows, so the metrics are too good",
        (True, False): "the first model was trained on these rows, so its metrics are too good",
        (False, True): "the second model was trained on these rows, so its metrics are too good",
    }.get(found.trained_on)
    if found.metrics and who is not None:
        yield who


def _flip(flip: Flip) -> str:
    def write(decision: str | float, probability: float | None) -> str:
        text = decision if isinstance(decision, str) else spell_number(decision)
        return text if probability is None else f"{text} ({probability:.2f})"

    target = "" if flip.target is None else f", target {write(flip.target, None)}"
    before, after = (
        write(flip.before, flip.probability_before),
        write(flip.after, flip.probability_after),
    )
    return f"row {flip.row}: {before} becomes {after}{target}"


def _by_class(found: Decisions) -> Iterator[str]:
    for one in found.classes:
        parts = [f"predicted {one.decided[1]:,}, before {one.decided[0]:,}"]
        for name in ("recall", "precision", "calibration_error"):
            before, after = (
                "unknown" if share is None else f"{share:.3f}" for share in getattr(one, name)
            )
            parts.append(f"{name.replace('_', ' ')} {after}, before {before}")
        yield f"{one.name} ({count(one.n_rows, 'row')}): {'; '.join(parts)}"
