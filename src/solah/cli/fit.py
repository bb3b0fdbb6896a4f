"""``solah fit``: a table in, a model document out."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from solah.cli.options import ColumnOptions, Data, Jobs, OutputFile, ReadingOptions, TreeOptions
from solah.cli.screen import Screen

if TYPE_CHECKING:
    from solah.cli.problems import Problem
    from solah.model import Model


def fit(
    data: Data,
    columns: ColumnOptions,
    tree: TreeOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFile = Path("model.json"),
    jobs: Jobs = None,
) -> None:
    """Learn a linguistic decision tree and write it as a model document.

    Example: solah fit patients.csv --target diagnosis --drop id -o model.json
    """
    from solah.cli.problems import pose
    from solah.cli.sources import read_source
    from solah.cli.trees import make_tree

    problem = pose(read_source(data, reading.read_options()), columns)
    estimator = make_tree(problem, tree, jobs)
    start = perf_counter()
    estimator.fit(problem.attributes, problem.goal)
    seconds = perf_counter() - start
    estimator.save(output)
    if screen.json:
        screen.document(_document(problem, estimator.model_, seconds, output))
    _show(screen, problem, estimator.model_, seconds, output)
    screen.say(
        "",
        f"To print it: solah rules {output}",
        "To measure it on unseen rows: solah evaluate, with the same data and options",
    )


def _document(problem: "Problem", model: "Model", seconds: float, output: Path) -> dict[str, Any]:
    from solah.report import describe_goal

    return {
        "model": str(output),
        "data": problem.source,
        "rows": problem.attributes.n_rows,
        "kinds": {name: kind.value for name, kind in problem.kinds.items()},
        "goal": describe_goal(model.goal),
        "rules": model.n_rules,
        "branches": model.n_branches,
        "depth": _depth(model),
        "seconds": seconds,
    }


def _show(screen: Screen, problem: "Problem", model: "Model", seconds: float, output: Path) -> None:
    from solah.cli.views import facts
    from solah.cli.wording import plural

    sizes = plural(model.n_rules, "rule"), plural(model.n_branches, "branch", "branches")
    longest = plural(_depth(model), "condition")
    screen.say(
        facts(
            {
                "data": problem.shape,
                "goal": problem.aim,
                "tree": f"{', '.join(sizes)}, at most {longest} a rule",
                "time": f"{seconds:.2f} s",
                "written": output,
            }
        )
    )


def _depth(model: "Model") -> int:
    return max(tree.shape.depth for tree in model.trees)
