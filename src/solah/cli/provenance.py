"""Tell what a model was learnt from, for its document."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solah.cli.problems import Problem
from solah.model import OutOfFold, Provenance
from solah.model.encode import encode_goal
from solah.model.provenance import digest_columns, digest_data
from solah.safe_text import file_name

if TYPE_CHECKING:
    from solah.cli.models import Estimator
    from solah.cli.scale import ScanProblem


def provenance_of(
    data: str, problem: Problem | ScanProblem, n_rows: int | None, estimator: Estimator
) -> Provenance:
    """Tell what was learnt from, as far as it is known.

    Rows that are passed over are not read once more for their digest.
    """
    file = Path(data)
    known = Provenance(
        source=file_name(problem.source),
        modified=_modified(file) if file.is_file() else "",
        rows=n_rows,
        left_out=problem.left_out,
        out_of_fold=out_of_fold(estimator, problem),
    )
    if not isinstance(problem, Problem):
        return known
    return replace(
        known,
        digest=digest_data(problem.data),
        columns=digest_columns(estimator.model_, problem.data, problem.goal),
        classes=_class_counts(problem, estimator),
    )


def out_of_fold(estimator: Estimator, problem: Problem | ScanProblem) -> OutOfFold | None:
    """Return what the number of rules that was chosen is worth on rows held out.

    Of windows of one recording, nothing: they share samples, and scores would be too good.
    """
    chosen = next((step for step in getattr(estimator, "path_", ()) if step.is_chosen), None)
    is_window = isinstance(problem, Problem) and problem.signals is not None
    if chosen is None or (is_window and problem.n_groups < 2):
        return None
    if hasattr(estimator, "classes_"):
        return OutOfFold(accuracy=chosen.quality, log_loss=chosen.loss)
    return OutOfFold(r2=chosen.quality, rmse=chosen.loss)


def _class_counts(problem: Problem, estimator: Estimator) -> tuple[int, ...]:
    goal = estimator.model_.goal
    if not goal.states:
        return ()
    places = encode_goal(problem.goal, goal)
    return tuple(np.bincount(places, minlength=goal.size).tolist())


def _modified(file: Path) -> str:
    """Return when a file was changed last, in UTC."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
