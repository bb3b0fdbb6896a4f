"""Measure the code: lines beside their budgets, how finely it is cut, and how much a fit runs.

python benchmarks/code_size.py [FOLDER OF ANOTHER STATE]
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Lines of all kinds that each part may take; parts in the order in which data pass them.
BUDGETS = {
    ("data", "datasets"): 2_000,  # cells to values, frames and files, named data sets
    ("kernels",): 2_000,  # NumPy oracles, and the C behind ctypes
    ("model",): 3_800,  # the model file, the program, the predictor
    ("labels",): 1_000,  # words and memberships
    ("dependence",): 1_600,  # distance correlation
    ("learn",): 7_000,  # rule models, trees, hierarchies, genetic search
    ("explain",): 3_200,  # rules, contributions, counterfactuals, importances
    ("edit",): 3_200,  # rules file, editor, diff
    ("estimators", "evaluation"): 3_600,  # the scikit-learn classes
    ("export",): 5_500,  # C, blobs, MicroPython, JavaScript, SQL, ONNX, simulators, online learning
    ("report", "plot"): 3_300,  # page, card, plots
    ("scale",): 1_600,  # passes over batches and Dask
    ("signals", "stream"): 3_200,
    ("site",): 8_000,  # MQTT sites
    ("cli",): 4_600,  # one file a command
}
OTHERS = "modules beside"
SHORT = 3  # lines of code in a body

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(tree: ast.Module) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def body_length(function: Function, lines: list[str]) -> int:
    """Count the lines of code in a body: no docstring, comments or blank lines."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    inside = lines[body[0].lineno - 1 : function.end_lineno]
    return sum(not line.strip().startswith("#") and bool(line.strip()) for line in inside)


def uses_of(tree: ast.Module) -> Counter[str]:
    """Count how often each name is used."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
    return found


def used_once(trees: list[ast.Module]) -> list[str]:
    """Name the private functions that are used at a single place."""
    uses = sum(map(uses_of, trees), Counter())
    names = [function.name for tree in trees for function in functions_of(tree)]
    return [name for name in names if name[0] == "_" and name[:2] != "__" and uses[name] == 1]


def imports_of(tree: ast.Module) -> Iterator[str]:
    """Give the dotted names that a module imports, those of members included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def with_one_importer(modules: dict[str, ast.Module]) -> list[str]:
    """Name the modules that a single other one imports."""
    importers: Counter[str] = Counter()
    for name, tree in modules.items():
        importers.update(set(imports_of(tree)) & modules.keys() - {name})
    packages = {name.rpartition(".")[0] for name in modules}
    return [name for name in modules if name not in packages and importers[name] == 1]


def passed_by(work: Callable[[], object]) -> tuple[int, int]:
    """Do some work; count the files and functions of solah that it passes."""
    seen = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<":
            seen.add(code)

    threading.setprofile(note)
    sys.setprofile(note)
    work()
    sys.setprofile(None)
    threading.setprofile(None)
    package = str(Path(importlib.import_module("solah").__file__).parent)
    own = [code for code in seen if code.co_filename.startswith(package)]
    return len({code.co_filename for code in own}), len(own)


def run_measures() -> dict[str, tuple[int, int]]:
    """Measure what needs the library: what fit and predict_proba pass, commands and options."""
    wine = importlib.import_module("sklearn.datasets").load_wine(as_frame=True)
    model = importlib.import_module("solah").RuleClassifier()
    passed = {"RuleClassifier().fit": passed_by(lambda: model.fit(wine.data, wine.target))}
    passed["predict_proba"] = passed_by(lambda: model.predict_proba(wine.data))
    app = importlib.import_module("solah.cli.main").app
    commands = [importlib.import_module("typer.main").get_command(app)]
    for one in commands:  # which grows by those below
        commands += getattr(one, "commands", {}).values()
    leaves = [one for one in commands if not getattr(one, "commands", {})]
    options = sum(one.param_type_name == "option" for leaf in leaves for one in leaf.params)
    return {**passed, "commands": (len(leaves), options)}


def measured_apart(root: Path) -> dict[str, tuple[int, int]]:
    """Do that in a process with the sources of a state."""
    command = [sys.executable, str(Path(__file__).resolve()), "--run"]
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    return json.loads(run.stdout.splitlines()[-1])


def count_lines(folder: Path) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py"))


def show(name: str, lines: int, budget: int, files: int) -> None:
    """Print a line of the table."""
    over = f"{lines - budget:,}" if lines > budget else ""
    print(f"{name:<24}{lines:>8,}{budget:>8,}{over:>8}{files:>8}")


def main(root: Path) -> None:
    home = root / "src" / "solah"
    texts = {path: path.read_text("utf-8") for path in sorted(home.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    budget_of = {package: packages for packages in BUDGETS for package in packages}
    lines, files = Counter(), Counter()
    for path, text in texts.items():
        packages = budget_of.get(path.relative_to(home).parts[0], (OTHERS,))
        lines[packages] += len(text.splitlines())
        files[packages] += 1
    print(f"{'':<24}{'lines':>8}{'budget':>8}{'over':>8}{'files':>8}")
    for packages in (*BUDGETS, (OTHERS,)):
        budget = BUDGETS.get(packages, lines[packages])
        show(", ".join(packages), lines[packages], budget, files[packages])
    show("all", lines.total(), sum(BUDGETS.values()), files.total())
    bodies = [
        body_length(function, texts[path].splitlines())
        for path, tree in trees.items()
        for function in functions_of(tree)
    ]
    short = sum(length <= SHORT for length in bodies) / len(bodies)
    print(
        f"{len(bodies):,} functions, {short:.0%} with a body of up to {SHORT} lines, the median "
        f"has {median(bodies):g}; {len(used_once([*trees.values()])):,} private ones are used once"
    )
    names = [".".join(("solah", *path.relative_to(home).with_suffix("").parts)) for path in texts]
    modules = {
        name.removesuffix(".__init__"): tree
        for name, tree in zip(names, trees.values(), strict=True)
    }
    sizes = [len(text.splitlines()) for text in texts.values()]
    print(
        f"{len(with_one_importer(modules))} modules with a single importer; the median file has "
        f"{median(sizes):g} lines, the largest {max(sizes)}"
    )
    measured = measured_apart(root)
    n_commands, n_options = measured.pop("commands")
    for what, (n_files, n_functions) in measured.items():
        print(f"{what} passes {n_files} files and {n_functions} functions")
    print(f"{n_commands} commands with {n_options} options")
    tests = sum(
        text.count("\ndef test_")
        for text in map(Path.read_text, (root / "tests").rglob("test_*.py"))
    )
    print(f"{count_lines(root / 'tests'):,} lines of tests, {tests:,} test functions")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run_measures()))
    else:
        main(Path(sys.argv[1]).resolve() if sys.argv[1:] else Path(__file__).resolve().parents[1])
