"""``solah evaluate``: score models on rows that they have not seen."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.model_options import ModelOptions, SeveralModels
from solah.cli.options import By, ColumnOptions, Data, Groups, Jobs, Positive, ReadingOptions
from solah.cli.screen import Screen
from solah.cli.signals import SignalOptions, refuse_idle_signals
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.cli.models import Estimator
    from solah.cli.problems import Problem
    from solah.cli.sources import Source
    from solah.data import Column
    from solah.evaluation import CrossValidation, Plan

_split_option = options_in("Splitting")

Folds = Annotated[
    int, _split_option(min=2, metavar="N", help="How many parts; each is tested once.")
]
Repeats = Annotated[int, _split_option(min=1, metavar="N", help="How often to shuffle and split.")]
Seed = Annotated[int, _split_option(min=0, metavar="N", help="What the shuffling starts from.")]


@many_options(
    *("target", "drop", "leave_out", "by", "model", "max_rules", "max_attributes", "interactions"),
    *("class_weight", "folds", "repeats", "seed", "groups", "settings", "jobs", "json"),
    settings=True,
)
def evaluate(
    data: Data,
    columns: ColumnOptions,
    choice: SeveralModels,
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
    """Measure how well models decide on rows that they did not learn from.

    The rows are split into folds: each fold is tested with a model learnt from the others. With
    --by, error rates are told for the rows with each value of a column, too.

    Example: solah evaluate patients.csv --target diagnosis --drop id --model tree,solah
    """
    from solah.cli.models import make_models
    from solah.cli.problems import pose, refuse_idle_positive, split_names
    from solah.cli.signals import read_windows
    from solah.cli.sources import read_source
    from solah.evaluation import Plan

    refuse_idle_signals(signals)
    if signals.are_wanted:
        source = read_windows(data, columns, signals, reading, groups)
        _refuse_one_group(source)
        problem = pose(source, replace(columns, drop=None))
    else:
        source = read_source(data, reading.read_options())
        problem = pose(source, columns, groups)
    for note in problem.notes:
        screen.note(note)
    named = split_names(columns.leave_out if by is None else by, source.table.names)
    known_by = [source.table.column(name) for name in named]
    refuse_idle_positive(positive, named, problem.task)
    models = make_models(problem, choice.wishes, options, jobs)
    scores = measure(problem, models, Plan(folds, repeats, seed), screen)
    measured_by = [_measure_by(column, problem, scores, positive) for column in known_by]
    _show(screen, problem, models, scores, measured_by)


def _refuse_one_group(source: "Source") -> None:
    """Refuse windows that can only be tested on samples that were learnt from."""
    from solah.exceptions import DataError

    if source.groups is not None and len(set(source.groups.tolist())) < 2:
        raise DataError(
            "all windows are of one recording or group, and those of one share samples, so that "
            "scores would be too good; evaluate on two recordings at least"
        )


def measure(
    problem: "Problem", estimators: "Mapping[str, Estimator]", plan: "Plan", screen: Screen
) -> "CrossValidation":
    """Cross-validate with a progress bar."""
    from solah.evaluation import cross_validate

    with screen.progress(plan.folds * plan.repeats * len(estimators), "folds") as advance:
        return cross_validate(
            estimators,
            problem.attributes,
            problem.goal.values,
            plan,
            groups=problem.groups,
            on_fold=lambda _: advance(1),
        )


def _measure_by(
    column: "Column", problem: "Problem", scores: "CrossValidation", positive: str | None
) -> dict[str, dict[str, Any]]:
    """Measure, for each model, the decisions on rows held out, by the values of a column.

    Each row counts once: of repeats, the first.
    """
    import numpy as np

    from solah.data.spelling import spell
    from solah.evaluation import measure_class_groups, measure_number_groups
    from solah.model import Task
    from solah.report import describe_groups

    found = {}
    for name in scores.estimators:
        tested = [
            fold.tested for fold in scores.folds if fold.estimator == name and fold.repeat == 0
        ]
        rows = np.concatenate([one.rows for one in tested])
        decided = np.concatenate([one.decided for one in tested])
        truth, of_rows = problem.goal.values[rows], replace(column, values=column.values[rows])
        if problem.task is Task.REGRESSION:
            measured = measure_number_groups(of_rows, truth, decided)
        else:
            classes, places = np.unique(truth, return_inverse=True)
            beliefs = np.concatenate([one.beliefs for one in tested])
            names = [spell(state) for state in classes.tolist()]
            measured = measure_class_groups(of_rows, places, decided, beliefs, names, positive)
        found[name] = describe_groups(measured)
    return found


def _show(
    screen: Screen,
    problem: "Problem",
    estimators: "Mapping[str, Estimator]",
    scores: "CrossValidation",
    measured_by: list[dict[str, dict[str, Any]]],
) -> None:
    from solah.cli.models import spell_models
    from solah.cli.problems import spell_identifiers
    from solah.cli.views import facts, groups_of, heading, scores_of
    from solah.cli.wording import plural
    from solah.report import describe_scores

    plan = scores.plan
    times = "" if plan.repeats == 1 else f", {plural(plan.repeats, 'time')}"
    split = f"{plural(plan.folds, 'fold')}{times} ({scores.method}), seed {plan.seed}"
    for note in scores.notes:
        screen.note(note)
    if screen.json:
        shape = {
            "data": problem.source,
            "rows": problem.attributes.n_rows,
            "identifiers": list(problem.identifiers),
        }
        screen.document({**shape, **describe_scores(scores), "by": measured_by})
    shown = {
        "data": problem.shape,
        "goal": problem.aim,
        "identifiers": spell_identifiers(problem.identifiers),
        "model": spell_models(scores.estimators, estimators),
        "split": split,
    }
    screen.say(facts({name: value for name, value in shown.items() if value is not None}), "")
    screen.result(scores_of(scores))
    screen.say("", "Mean ± standard deviation over the folds.")
    for by_model in measured_by:
        for name, described in by_model.items():
            model = f", {name}" if len(by_model) > 1 else ""
            screen.result("", heading(f"By {described['column']}{model}, on rows held out"), "")
            screen.result(*groups_of(described))
