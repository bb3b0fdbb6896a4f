"""The tree options in, an estimator out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.exceptions import DataError
from solah.kernels.choose import available_threads
from solah.model import Task
from solah.paper import PAPER
from solah.tree import LinguisticTreeClassifier, LinguisticTreeRegressor

if TYPE_CHECKING:
    from solah.cli.options import TreeOptions
    from solah.cli.problems import Problem

Tree = LinguisticTreeClassifier | LinguisticTreeRegressor


def make_tree(problem: Problem, options: TreeOptions, jobs: int | None) -> Tree:
    """Choose the estimator by the task, and set it as the user says."""
    is_classifier = problem.task is Task.CLASSIFICATION
    if options.class_weight and not is_classifier:
        raise DataError("--class-weight is for classes, and the target is taken as a number")
    estimator = LinguisticTreeClassifier if is_classifier else LinguisticTreeRegressor
    return estimator.with_settings(
        PAPER if options.paper else {},
        kinds=dict(problem.kinds),
        n_jobs=jobs or available_threads(),
        **options.given(),
    )
