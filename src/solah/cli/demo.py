"""``solah demo``: the main job on a small data set, from the table to the report."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from solah.cli.options import ColumnOptions, OutputFolder
from solah.cli.parameters import OneModel, SeveralModels
from solah.cli.screen import Screen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from solah.cli.problem import Problem
    from solah.model import Model

_DATA = "wine"
_MAX_RULES = 10
_FOLDS = 5
_INDENT = 2
_BAR = 30


def demo(screen: Screen, output: OutputFolder = Path("solah-demo")) -> None:
    """Train on the wine data, show the model, measure it, and write a report.

    Example: solah demo --output my-folder
    """
    from solah.atomic import write_whole
    from solah.cli.evaluate import measure
    from solah.cli.parameters import make_models
    from solah.cli.problem import pose, read_source
    from solah.cli.views import heading, scores_of
    from solah.data import ReadOptions
    from solah.evaluation import Plan
    from solah.model import save_document
    from solah.report import render_page, summarise_page

    problem = pose(read_source(_DATA, ReadOptions()), ColumnOptions())
    screen.say(
        heading("Which of three growers made this wine?"),
        f"{problem.attributes.n_rows} wines, {len(problem.kinds)} measurements of each.",
    )
    (default,) = make_models(problem, OneModel()).values()
    start = perf_counter()
    default.fit(problem.attributes, problem.goal)
    screen.say("", heading(f"1. Train: how few rules suffice? {perf_counter() - start:.2f} s"))
    screen.say(
        _indented(_path(default.path_)),
        "",
        "Cross-validated. The default is the fewest rules within tolerance of the best;",
        f"here {_MAX_RULES} are taken, so that all of them can be read.",
    )
    options = SeveralModels(model=["tree", "rules"], max_rules=_MAX_RULES)
    few = make_models(problem, options)
    model = few["rules"].fit(problem.attributes, problem.goal).model_

    _show_model(screen, model, problem)

    estimators = {"one tree": few["tree"], "rules that add up": few["rules"]}
    scores = measure(problem, estimators, Plan(folds=_FOLDS), screen)
    screen.say("", heading(f"6. Measure on held-out wines: {_FOLDS} folds"))
    screen.result(_indented(scores_of(scores)))

    files = {"model": output / "model.json", "report": output / "report.html"}
    summary = summarise_page(
        model,
        problem.attributes,
        problem.goal,
        source=problem.source,
        scores=scores,
        path=default.path_,
    )
    output.mkdir(parents=True, exist_ok=True)
    save_document(model, files["model"])
    write_whole(files["report"], render_page(summary))
    if screen.json:
        screen.document({**{what: str(file) for what, file in files.items()}, "summary": summary})
    screen.say(
        "",
        heading("7. Written"),
        f"  {files['model']}   the rules",
        f"  {files['report']}  all about them: a page for the browser, with a what-if",
        "",
        heading("Try next"),
        f"  solah explain {files['model']} wine --row 60",
        f"  solah rules {files['model']} --class class_0 --limit 5",
        f"  solah predict {files['model']} wine",
        f"  solah export {files['model']} wine --arithmetic q15 -o firmware",
        "  solah fit your.csv --target COLUMN -o model.json",
    )


def _show_model(screen: Screen, model: "Model", problem: "Problem") -> None:
    """Show the features, words and rules of a model, and one prediction."""
    from rich.text import Text

    from solah.cli.views import explanation_lines, heading, rule_sentence, words_of
    from solah.explain import Explainer, rules_of
    from solah.report import importance_by_name

    n_all = len(problem.kinds)
    shares = importance_by_name(model)
    ordered = sorted(shares, key=lambda name: -shares[name])
    screen.say("", heading(f"2. Feature importance: {len(ordered)} of {n_all} features"))
    screen.say(
        *(
            _indented(
                Text.assemble(
                    f"{name:<30}{100 * shares[name]:>4.0f}%  ",
                    ("█" * round(_BAR * shares[name] / shares[ordered[0]]), "dim"),
                )
            )
            for name in ordered
        ),
        "",
        f"The other {n_all - len(ordered)} need not be measured at all.",
    )
    screen.say("", heading("3. Words, and where they apply"), _indented(words_of(model.attributes)))

    rules = rules_of(model)
    screen.say("", heading(f"4. Rules: all {model.n_rules}"), _indented(rules.start))
    screen.say(*map(_indented, map(rule_sentence, rules)))
    screen.say("", "Each rule adds its weights to the class scores, and the highest score wins.")

    (explanation,) = Explainer(model, changes=True).of_table(problem.attributes.rows(0, 1))
    screen.say("", heading("5. One wine: why?"))
    screen.say(*map(_indented, explanation_lines(explanation, None)))


def _path(path: Sequence[Any]) -> "RenderableType":
    """Show the metrics of numbers of rules, up to the default."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for _ in range(4):
        grid.add_column(justify="right")
    grid.add_column(style="dim")
    grid.add_row("rules", "features", "accuracy", "log-loss", "")
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
    return grid


def _indented(content: "RenderableType") -> "RenderableType":
    from rich.padding import Padding

    return Padding(content, (0, 0, 0, _INDENT), expand=False)
