"""``solah demo``: the main job on a small data set, command by command."""

from pathlib import Path

from solah.cli.evaluate import evaluate
from solah.cli.explain import explain
from solah.cli.fit import fit
from solah.cli.options import ColumnOptions, OutputFolder, ReadingOptions
from solah.cli.parameters import ModelOptions
from solah.cli.report import report
from solah.cli.rules import print_rules
from solah.cli.screen import Screen
from solah.cli.signals import SignalOptions

_DATA = "wine"
_MAX_RULES = 10
_FOLDS = 5


def demo(screen: Screen, output: OutputFolder = Path("solah-demo")) -> None:
    """Train on the wine data, show the model, measure it, and write a report.

    Each step is a command, which is printed before its output.

    Example: solah demo --output my-folder
    """
    from solah.cli.views import heading

    output.mkdir(parents=True, exist_ok=True)
    model, page = output / "model.json", output / "report.html"
    columns, reading, signals = ColumnOptions(), ReadingOptions(), SignalOptions()
    shown = Screen(quiet=screen.quiet or screen.json, verbose=screen.verbose)
    quiet = Screen(quiet=True)

    def step(title: str, command: str) -> None:
        screen.say("", heading(title), f"$ solah {command}", "")

    screen.say("Which of three growers made this wine? 178 wines, 13 measurements of each.")
    limit = f"--max-rules {_MAX_RULES}"
    step("1. Train", f"fit {_DATA} {limit} -o {model}")
    fit(_DATA, columns, ModelOptions(max_rules=_MAX_RULES), signals, reading, quiet, output=model)
    screen.say(f"{_MAX_RULES} rules at most; without the limit, solah takes as many as help.")
    step("2. Read all its rules", f"rules {model}")
    if not screen.json:
        print_rules(model, shown)
    step("3. Explain a prediction", f"explain {model} {_DATA} --row 1")
    if not screen.json:
        explain(model, reading, shown, data=_DATA, row=["1"])
    step(
        "4. Measure on held-out wines",
        f"evaluate {_DATA} --folds {_FOLDS} --model tree,rules {limit}",
    )
    models = ModelOptions(model=["tree", "rules"], max_rules=_MAX_RULES)
    if not screen.json:
        evaluate(_DATA, columns, models, signals, reading, shown, folds=_FOLDS)
    step("5. See all of it in the browser", f"report {model} {_DATA} -o {page}")
    report(model, reading, quiet, data=_DATA, output=page)
    if screen.json:
        screen.document({"model": str(model), "report": str(page)})
    screen.say(
        f"Written to {page}",
        "",
        heading("Try next"),
        f"  solah predict {model} {_DATA}",
        f"  solah export {model} {_DATA} --arithmetic q15 -o firmware",
        "  solah fit your.csv --target COLUMN -o model.json",
    )
