"""``solah evaluate``: cross-validate models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import option
from solah.cli.fit import read_problem
from solah.cli.options import By, ColumnOptions, Data, Groups, Jobs, Positive, ReadingOptions, Seed
from solah.cli.parameters import ModelOptions
from solah.cli.screen import Screen, plural
from solah.cli.signals import SignalOptions

if TYPE_CHECKING:
    from solah.cli.problem import Problem
    from solah.data import Column
    from solah.evaluation import CrossValidation, Plan

Folds = Annotated[int, option("Number of folds.", min=2, metavar="N")]
Repeats = Annotated[
    int, option("Number of repetitions, each with other folds.", min=1, metavar="N")
]


def evaluate(
    data: Data,
    columns: ColumnOptions,
    options: ModelOptions,
    signals: SignalOptions,
    reading: ReadingOptions,
    screen: Screen,
    folds: Folds = 10,
    repeats: Repeats = 1,
    seed: Seed = 0,
    groups: Groups = None,
    by: By = None,
    positive: Positive = None,
    jobs: Jobs = None,
) -> None:
    """Cross-validate models: each fold is predicted by a model fitted to the others.

    Example: solah evaluate patients.csv --target diagnosis --drop id --model tree,rules
    """
    from solah.cli.parameters import make_models, name_models
    from solah.cli.problem import refuse_idle_positive, split_names
    from solah.cli.views import facts, groups_of, heading, scores_of
    from solah.evaluation import Plan
    from solah.report import describe_scores

    signals.refuse_idle()
    problem = read_problem(data, columns, signals, reading, groups, is_evaluated=True)
    for note in problem.notes:
        screen.note(note)
    named = split_names(columns.leave_out if by is None else by, problem.data.names)
    of_groups = [problem.data.column(name) for name in named]
    refuse_idle_positive(positive, named, problem.task)
    models = make_models(options, problem.task, problem.kinds, problem.names, jobs=jobs)
    scores = measure(problem, models, Plan(folds, repeats, seed), screen)
    measured = [_measure_by(column, problem, scores, positive) for column in of_groups]
    for note in scores.notes:
        screen.note(note)
    if screen.json:
        shape = {
            "data": problem.source,
            "rows": problem.features.n_rows,
            "identifiers": list(problem.identifiers),
        }
        screen.document({**shape, **describe_scores(scores), "by": measured})
    times = "" if repeats == 1 else f", {plural(repeats, 'time')}"
    n_folds = 1 + max(one.fold for one in scores.folds)
    split = f"{plural(n_folds, 'fold')}{times} ({scores.method}), seed {seed}"
    screen.say(facts({**problem.facts(), "model": name_models(models), "split": split}), "")
    screen.result(scores_of(scores))
    screen.say("", "Mean ± standard deviation over the folds.")
    for by_model in measured:
        for name, described in by_model.items():
            model = f", {name}" if len(by_model) > 1 else ""
            screen.result("", heading(f"By {described['column']}{model}, on held-out rows"), "")
            screen.result(*groups_of(described))


def measure(
    problem: "Problem", estimators: Mapping[str, Any], plan: "Plan", screen: Screen
) -> "CrossValidation":
    """Cross-validate with a progress bar."""
    from solah.evaluation import cross_validate

    with screen.progress(plan.folds * plan.repeats * len(estimators), "folds") as advance:
        return cross_validate(
            estimators,
            problem.features,
            problem.target.values,
            plan,
            groups=problem.groups,
            on_fold=lambda _: advance(1),
        )


def _measure_by(
    column: "Column", problem: "Problem", scores: "CrossValidation", positive: str | None
) -> dict[str, dict[str, Any]]:
    """Measure each model's predictions of held-out rows, by the values of a column.

    Each row counts once: of repeats, the first.
    """
    import numpy as np

    from solah.evaluation import measure_groups
    from solah.model import Task
    from solah.report import describe_groups

    found = {}
    for name in scores.estimators:
        tested = [
            fold.tested for fold in scores.folds if fold.estimator == name and fold.repeat == 0
        ]
        rows = np.concatenate([one.rows for one in tested])
        decided = np.concatenate([one.decided for one in tested])
        truth, of_rows = problem.target.values[rows], replace(column, values=column.values[rows])
        if problem.task is Task.REGRESSION:
            measured = measure_groups(of_rows, truth, decided)
        else:
            classes = np.unique(truth)
            beliefs = np.concatenate([one.probabilities for one in tested])
            predicted = classes[decided]
            measured = measure_groups(
                of_rows, truth, predicted, beliefs, classes.tolist(), positive
            )
        found[name] = describe_groups(measured)
    return found
