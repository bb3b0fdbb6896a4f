"""``solah evaluate``: score models on rows that they have not seen."""

from typing import TYPE_CHECKING, Annotated

from solah.cli.model_options import ModelOptions, SeveralModels
from solah.cli.options import ColumnOptions, Data, Jobs, ReadingOptions
from solah.cli.screen import Screen
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.cli.models import Estimator
    from solah.cli.problems import Problem
    from solah.evaluation import CrossValidation, Plan

_split_option = options_in("Splitting")

Folds = Annotated[
    int, _split_option(min=2, metavar="N", help="How many parts; each is tested once.")
]
Repeats = Annotated[int, _split_option(min=1, metavar="N", help="How often to shuffle and split.")]
Seed = Annotated[int, _split_option(min=0, metavar="N", help="What the shuffling starts from.")]
Groups = Annotated[
    str | None,
    _split_option(
        metavar="COL", help="Rows with the same value here, such as a user, stay together."
    ),
]


@many_options(
    *("target", "drop", "model", "max_rules", "max_attributes", "interactions", "class_weight"),
    *("folds", "repeats", "seed", "groups", "settings", "jobs", "json"),
)
def evaluate(
    data: Data,
    columns: ColumnOptions,
    choice: SeveralModels,
    options: ModelOptions,
    reading: ReadingOptions,
    screen: Screen,
    folds: Folds = 10,
    repeats: Repeats = 1,
    seed: Seed = 0,
    groups: Groups = None,
    jobs: Jobs = None,
) -> None:
    """Measure how well models decide on rows that they did not learn from.

    The rows are split into folds: each fold is tested with a model learnt from the others.

    Example: solah evaluate patients.csv --target diagnosis --drop id --model tree,solah
    """
    from solah.cli.models import make_models
    from solah.cli.problems import pose
    from solah.cli.sources import read_source
    from solah.evaluation import Plan

    problem = pose(read_source(data, reading.read_options()), columns, groups)
    models = make_models(problem, choice.wishes, options, jobs)
    scores = measure(problem, models, Plan(folds, repeats, seed), screen)
    _show(screen, problem, models, scores)


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


def _show(
    screen: Screen,
    problem: "Problem",
    estimators: "Mapping[str, Estimator]",
    scores: "CrossValidation",
) -> None:
    from solah.cli.models import spell_models
    from solah.cli.problems import spell_identifiers
    from solah.cli.views import facts, scores_of
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
        screen.document({**shape, **describe_scores(scores)})
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
