"""``solah demo``: the main job on a small data set, from the table to the report."""

from pathlib import Path
from textwrap import indent
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.model_options import HierarchyOptions, TreeOptions
from solah.cli.options import ColumnOptions
from solah.cli.screen import Screen, output_option

if TYPE_CHECKING:
    from rich.console import RenderableType

    from solah.cli.problems import Problem
    from solah.evaluation import CrossValidation
    from solah.model import Model

_DATA = "wine"
_MAX_RULES = 20
_N_RULES = 3
_INDENT = 2

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
    few = TreeOptions(max_rules=_MAX_RULES)
    models = make_models(problem, ["tree", "solah"], HierarchyOptions(), few, None)
    start = perf_counter()
    estimator = models["solah"].fit(problem.attributes, problem.goal)
    model = estimator.model_
    _show_structure(screen, model, perf_counter() - start)
    _show_rules(screen, model)
    estimators = {"one tree": models["tree"], "hierarchy": models["solah"]}
    scores = measure(problem, estimators, Plan(), screen)
    _show_scores(screen, scores)
    _write(screen, output, problem, estimator, scores)
    _show_next(screen, output)


def _show_structure(screen: Screen, model: "Model", seconds: float) -> None:
    from solah.cli.views import heading
    from solah.report import draw_trees

    n_trees = len(model.trees)
    drawing = draw_trees(model, screen.width - _INDENT)
    screen.say("", heading(f"1. Learn: {n_trees} trees that organised themselves, {seconds:.2f} s"))
    screen.say(indent(drawing, " " * _INDENT))
    screen.say(
        "",
        "Every tree gives evidence from its measurements. The evidence is added up,",
        "each with its weight, and the sum decides.",
    )


def _show_rules(screen: Screen, model: "Model") -> None:
    from solah.cli.views import facts, heading, rule_sentence, words_of
    from solah.explain import rules_of
    from solah.report import importance_by_name, strongest

    shares = importance_by_name(model)
    heaviest = sorted(shares, key=lambda name: -shares[name])[:_N_RULES]
    best = [
        rule
        for rule in strongest(rules_of(model), 1)
        if {condition.attribute for condition in rule.conditions} & set(heaviest)
    ][:_N_RULES]
    most = max(model.attributes, key=lambda attribute: shares[attribute.name])
    screen.say("", heading(f"2. Read: {len(best)} of {model.n_rules} rules"))
    screen.say(_indented(facts({rule.tree: rule_sentence(rule) for rule in best})))
    share = f"{100 * shares[most.name]:.0f} %"
    screen.say("", f"{most.name} matters most ({share} of what was learnt). Its words:")
    screen.say(_indented(words_of([most])))


def _show_scores(screen: Screen, scores: "CrossValidation") -> None:
    from solah.cli.views import heading, scores_of

    screen.say("", heading(f"3. Measure on unseen wines: {scores.plan.folds} folds"))
    screen.result(_indented(scores_of(scores)))


def _write(
    screen: Screen,
    folder: Path,
    problem: "Problem",
    estimator: Any,
    scores: "CrossValidation",
) -> None:
    from solah.atomic import write_whole
    from solah.cli.views import heading
    from solah.model import save_document
    from solah.report import describe_choice, render_page, summarise_page

    model_file, report_file = folder / "model.json", folder / "report.html"
    summary = summarise_page(
        estimator.model_,
        problem.attributes,
        problem.goal,
        source=problem.source,
        scores=scores,
        choice=describe_choice(estimator),
    )
    folder.mkdir(parents=True, exist_ok=True)
    save_document(estimator.model_, model_file)
    write_whole(report_file, render_page(summary))
    if screen.json:
        files = {"model": str(model_file), "report": str(report_file)}
        screen.document({**files, "summary": summary})
    screen.say("", heading("4. Written"))
    screen.say(
        f"  {model_file}   the hierarchy",
        f"  {report_file}  all about it: a page for the browser, with a what-if",
    )


def _show_next(screen: Screen, folder: Path) -> None:
    from solah.cli.views import heading

    model = folder / "model.json"
    screen.say("", heading("Try next"))
    screen.say(
        *(
            f"  {command}"
            for command in (
                f"solah explain {model} wine --row 1",
                f"solah rules {model} --class class_0 --limit 5",
                f"solah predict {model} wine",
                "solah evaluate wine --model tree,solah --max-rules 10",
                "solah fit your.csv --target COLUMN -o model.json",
            )
        )
    )


def _indented(content: "RenderableType") -> "RenderableType":
    from rich.padding import Padding

    return Padding(content, (0, 0, 0, _INDENT), expand=False)
