"""``solah demo``: the main job on a small data set, from the table to the report."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.model_options import ModelOptions
from solah.cli.options import ColumnOptions
from solah.cli.screen import Screen, output_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from solah.cli.problems import Problem
    from solah.evaluation import CrossValidation
    from solah.learn.objective import PathStep
    from solah.model import Model

_DATA = "wine"
_MAX_RULES = 10
_FOLDS = 5
_INDENT = 2
_BAR = 30

Folder = Annotated[
    Path,
    output_option(
        "-o",
        "--output",
        metavar="DIR",
        help="Where to write the model and the report.",
        file_okay=False,
    ),
]


def demo(screen: Screen, output: Folder = Path("solah-demo")) -> None:
    """Learn from the wine data, show what was learnt, measure it, and write a report.

    Example: solah demo --output my-folder
    """
    from solah.cli.evaluate import measure
    from solah.cli.models import make_models
    from solah.cli.problems import pose
    from solah.cli.sources import read_source
    from solah.cli.views import heading
    from solah.data import ReadOptions
    from solah.evaluation import Plan

    problem = pose(read_source(_DATA, ReadOptions()), ColumnOptions())
    screen.say(
        heading("Which of three growers made this wine?"),
        f"{problem.attributes.n_rows} wines, {len(problem.kinds)} measurements of each.",
    )
    (default,) = make_models(problem, ["solah"], ModelOptions(), None).values()
    start = perf_counter()
    default.fit(problem.attributes, problem.goal)
    _show_path(screen, default.path_, perf_counter() - start)
    few = make_models(problem, ["tree", "solah"], ModelOptions(max_rules=_MAX_RULES), None)
    estimator = few["solah"].fit(problem.attributes, problem.goal)
    model = estimator.model_
    _show_attributes(screen, model, problem)
    _show_words(screen, model)
    _show_rules(screen, model)
    _show_decision(screen, model, problem)
    estimators = {"one tree": few["tree"], "rules that add up": few["solah"]}
    scores = measure(problem, estimators, Plan(folds=_FOLDS), screen)
    _show_scores(screen, scores)
    _write(screen, output, problem, estimator, default.path_, scores)
    _show_next(screen, output)


def _show_path(screen: Screen, path: "Sequence[PathStep]", seconds: float) -> None:
    """Show what numbers of rules are worth."""
    from rich.table import Table

    from solah.cli.views import heading

    grid = Table.grid(padding=(0, 2))
    for _ in range(4):
        grid.add_column(justify="right")
    grid.add_column(style="dim")
    grid.add_row("rules", "measurements", "accuracy", "log-loss", "")
    for step in sorted(path, key=lambda step: step.max_rules):
        remark = "taken here" if step.max_rules == _MAX_RULES else ""
        grid.add_row(
            f"{step.n_rules:.0f}",
            f"{step.n_attributes:.0f}",
            f"{step.quality:.3f}",
            f"{step.loss:.3f}",
            "the default" if step.is_chosen else remark,
        )
        if step.is_chosen:
            break
    screen.say("", heading(f"1. Learn: how few rules suffice? {seconds:.2f} s"))
    screen.say(
        _indented(grid),
        "",
        "Measured on wines not learnt from. The default is the fewest rules that cannot",
        f"be told from the best; here {_MAX_RULES} are taken, so that all of them can be read.",
    )


def _show_attributes(screen: Screen, model: "Model", problem: "Problem") -> None:
    """Show which measurements matter, and how many are not needed."""
    from rich.table import Table
    from rich.text import Text

    from solah.cli.views import heading
    from solah.report import importance_by_name

    shares = importance_by_name(model)
    ordered = sorted(shares, key=lambda name: -shares[name])
    grid = Table.grid(padding=(0, 2))
    for name in ordered:
        length = round(_BAR * shares[name] / shares[ordered[0]])
        grid.add_row(Text(name), f"{100 * shares[name]:.0f} %", Text("█" * length, "dim"))
    n_all = len(problem.kinds)
    screen.say("", heading(f"2. Which measurements matter: {len(ordered)} of {n_all}"))
    screen.say(_indented(grid))
    screen.say("", f"The other {n_all - len(ordered)} need not be measured at all.")


def _show_words(screen: Screen, model: "Model") -> None:
    from solah.cli.views import heading, words_of

    screen.say("", heading("3. Words, and where they apply"))
    screen.say(_indented(words_of(model.attributes)))


def _show_rules(screen: Screen, model: "Model") -> None:
    from solah.cli.views import heading, rule_sentence
    from solah.explain import rules_of

    rules = rules_of(model)
    screen.say("", heading(f"4. Rules: all {model.n_rules}"), _indented(rules.start))
    screen.say(*map(_indented, map(rule_sentence, rules)))
    screen.say("", "Every rule adds evidence for a grower, and the sum decides.")


def _show_decision(screen: Screen, model: "Model", problem: "Problem") -> None:
    from solah.cli.views import explanation_lines, heading
    from solah.explain import Explainer

    (explanation,) = Explainer(model, changes=True).of_table(problem.attributes.rows(0, 1))
    screen.say("", heading("5. One wine: why?"))
    screen.say(*map(_indented, explanation_lines(explanation, None)))


def _show_scores(screen: Screen, scores: "CrossValidation") -> None:
    from solah.cli.views import heading, scores_of

    screen.say("", heading(f"6. Measure on unseen wines: {scores.plan.folds} folds"))
    screen.result(_indented(scores_of(scores)))


def _write(
    screen: Screen,
    folder: Path,
    problem: "Problem",
    estimator: Any,
    path: "Sequence[PathStep]",
    scores: "CrossValidation",
) -> None:
    from solah.atomic import write_whole
    from solah.cli.views import heading
    from solah.model import save_document
    from solah.report import render_page, summarise_page

    model_file, report_file = folder / "model.json", folder / "report.html"
    summary = summarise_page(
        estimator.model_,
        problem.attributes,
        problem.goal,
        source=problem.source,
        scores=scores,
        path=path,
    )
    folder.mkdir(parents=True, exist_ok=True)
    save_document(estimator.model_, model_file)
    write_whole(report_file, render_page(summary))
    if screen.json:
        files = {"model": str(model_file), "report": str(report_file)}
        screen.document({**files, "summary": summary})
    screen.say("", heading("7. Written"))
    screen.say(
        f"  {model_file}   the rules",
        f"  {report_file}  all about them: a page for the browser, with a what-if",
    )


def _show_next(screen: Screen, folder: Path) -> None:
    from solah.cli.views import heading

    model = folder / "model.json"
    screen.say("", heading("Try next"))
    screen.say(
        *(
            f"  {command}"
            for command in (
                f"solah explain {model} wine --row 60",
                f"solah rules {model} --class class_0 --limit 5",
                f"solah predict {model} wine",
                f"solah export {model} wine --numbers q15 -o firmware",
                "solah fit your.csv --target COLUMN -o model.json",
            )
        )
    )


def _indented(content: "RenderableType") -> "RenderableType":
    from rich.padding import Padding

    return Padding(content, (0, 0, 0, _INDENT), expand=False)
