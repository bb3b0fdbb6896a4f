"""What differs between two models, and between their decisions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.model import Provenance

Part = Literal["goal", "attribute", "words", "group", "rule", "tree", "policy", "figures"]


@dataclass(frozen=True)
class Difference:
    """One thing that differs.

    Attributes
    ----------
    part : what kind of thing
    name : its name: an attribute's, a group's, a tree's
    text : the difference as a sentence
    size : how large it is: of rules in log-odds or in the unit of the goal, of words as a share of
        the attribute's range, of attributes as a share of what was learnt (1 for those that came
        or went); 0 where there is no measure
    details : the figures behind the sentence, ready for JSON
    """

    part: Part
    name: str
    text: str
    size: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**vars(self), "details": dict(self.details)}

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Flip:
    """A row on which two models decide differently.

    Attributes
    ----------
    row : its number, from 1
    before, after : the decisions; classes, or estimates of a number
    truth : what is true; None if it is not known
    belief_before, belief_after : the belief in each decision; None for a number
    """

    row: int
    before: str | float
    after: str | float
    truth: str | float | None
    belief_before: float | None = None
    belief_after: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class ClassScoresOf:
    """How well one of the models decides on the rows of which the truth is known.

    Attributes
    ----------
    accuracy, log_loss, brier : as in :class:`solah.evaluation.ClassScores`
    calibration_error : the expected calibration error of the belief in the decision
    """

    accuracy: float
    log_loss: float
    brier: float
    calibration_error: float


@dataclass(frozen=True)
class ClassChange:
    """What changes for a class; each is a pair of before and after.

    Attributes
    ----------
    name : the class
    n_rows : how many rows are of it; it is no pair
    decided : how many rows are decided for it
    recall : the share of its rows that is decided for it; None if it has none
    precision : the share of the rows decided for it that is of it; None if there are none
    calibration_error : the expected calibration error of the belief in it
    """

    name: str
    n_rows: int
    decided: tuple[int, int]
    recall: tuple[float | None, float | None]
    precision: tuple[float | None, float | None]
    calibration_error: tuple[float | None, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "class": self.name,
            "rows": self.n_rows,
            "decided": list(self.decided),
            "recall": list(self.recall),
            "precision": list(self.precision),
            "calibration_error": list(self.calibration_error),
        }


@dataclass(frozen=True)
class Decisions:
    """What two models decide on the same rows.

    Attributes
    ----------
    n_rows : how many rows there are
    n_known : of how many both models know the true class
    flips : the rows that are decided differently
    before, after : the scores on the rows of which the truth is known; None if there are none
    classes : what changes for each class that both models know
    flattered : which of both models were learnt from these rows, as far as documents tell
    """

    n_rows: int
    n_known: int
    flips: tuple[Flip, ...]
    before: ClassScoresOf | None
    after: ClassScoresOf | None
    classes: tuple[ClassChange, ...]
    flattered: tuple[bool, bool] = (False, False)

    @property
    def n_flips(self) -> int:
        """How many rows are decided differently."""
        return len(self.flips)

    @cached_property
    def ways(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """How many rows flip which way: all, those that are right now, those that were."""
        pairs = Counter((str(one.before), str(one.after)) for one in self.flips)
        right = Counter(
            (str(one.before), str(one.after)) for one in self.flips if one.after == one.truth
        )
        wrong = Counter(
            (str(one.before), str(one.after)) for one in self.flips if one.before == one.truth
        )
        return {way: (number, right[way], wrong[way]) for way, number in pairs.most_common()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "rows": self.n_rows,
            "with_truth": self.n_known,
            "flips": [one.to_dict() for one in self.flips],
            "before": self.before and dict(vars(self.before)),
            "after": self.after and dict(vars(self.after)),
            "classes": [one.to_dict() for one in self.classes],
            "learnt_from_these_rows": list(self.flattered),
        }


@dataclass(frozen=True)
class Estimates:
    """What two models estimate of the same rows.

    Attributes
    ----------
    n_rows, n_known : how many rows there are, and of how many the truth is known
    flips : the rows whose estimate moves, those first that move most
    mean_move : how far an estimate moves on average
    r2, mae : before and after; None if no truth is known, or of R² a single one
    flattered : which of both models were learnt from these rows, as far as documents tell
    """

    n_rows: int
    n_known: int
    flips: tuple[Flip, ...]
    mean_move: float
    r2: tuple[float | None, float | None]
    mae: tuple[float | None, float | None]
    flattered: tuple[bool, bool] = (False, False)

    @property
    def n_flips(self) -> int:
        """Of how many rows the estimate moves."""
        return len(self.flips)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "rows": self.n_rows,
            "with_truth": self.n_known,
            "mean_move": self.mean_move,
            "moves": [one.to_dict() for one in self.flips],
            "r2": list(self.r2),
            "mae": list(self.mae),
            "learnt_from_these_rows": list(self.flattered),
        }


@dataclass(frozen=True)
class ModelDiff:
    """What differs between a model and another that takes its place.

    Attributes
    ----------
    differences : what differs, part by part, the largest first
    decisions : what changes on rows; None if there were none
    edits : what people changed since, as sentences: those that only the second model has
    learnt_from : what each of both was learnt from, where its document tells
    """

    differences: tuple[Difference, ...]
    decisions: Decisions | Estimates | None = None
    edits: tuple[str, ...] = ()
    learnt_from: tuple[Provenance | None, Provenance | None] = (None, None)

    @property
    def is_empty(self) -> bool:
        """Whether the models are the same."""
        return not self.differences

    def of(self, part: Part) -> tuple[Difference, ...]:
        """Return the differences of one kind."""
        return tuple(one for one in self.differences if one.part == part)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        from solah.model.provenance import provenance_record

        before, after = (one and provenance_record(one) for one in self.learnt_from)
        return {
            "differ": not self.is_empty,
            "differences": [one.to_dict() for one in self.differences],
            "decisions": self.decisions and self.decisions.to_dict(),
            "edits": list(self.edits),
            "learnt_from": {"before": before, "after": after},
        }

    def __str__(self) -> str:
        from solah.difference.as_text import sections

        blocks = (
            "\n".join([section.title, *(f"  {line}" for line in section.lines)])
            for section in sections(self)
        )
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        from solah.difference.as_text import sections
        from solah.explain.html import render

        return render("diff.html.j2", sections=sections(self))
