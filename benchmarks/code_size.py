"""Measure the code: its lines, functions, parameters, and how much of it a command runs.

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
import tempfile
import threading
from collections import Counter
from pathlib import Path
from statistics import median

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
KINDS = ("code", "docstring", "comment", "blank")
SHORT = 4
COPIES = 120  # of the rows of wine, so that files are passed over instead of read into memory


def line_kinds(text):
    """Tell of each line whether it is code, of a docstring, a comment or blank."""
    firsts = [line.strip()[:1] for line in text.splitlines()]
    kinds = ["blank" if not first else "comment" if first == "#" else "code" for first in firsts]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node):
            first, last = node.body[0].lineno, node.body[0].end_lineno
            kinds[first - 1 : last] = ["docstring"] * (last - first + 1)
    return kinds


def functions_of(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)]


def body_lengths(text):
    """Count the lines of code in the body of each function."""
    kinds = line_kinds(text)
    spans = [(one.body[0].lineno - 1, one.end_lineno) for one in functions_of(text)]
    return [kinds[first:last].count("code") for first, last in spans]


def lazy_imports(text):
    """Count the imports inside functions."""
    inside = {node for function in functions_of(text) for node in ast.walk(function)}
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in inside)


def patched_constants(text):
    """Name the constants of modules that a test sets by ``monkeypatch.setattr``."""
    names = [
        argument.value.rpartition(".")[2]
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "setattr"
        for argument in call.args[:2]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return {name for name in names if name.isupper()}


def parameters():
    """Count the parameters of each public estimator, and of the objects that nest in them."""
    solah = importlib.import_module("solah")
    public = {name: getattr(solah, name) for name in solah.__all__}
    return {
        name: len(inspect.signature(one).parameters)
        for name, one in public.items()
        if inspect.isclass(one) and hasattr(one, "get_params")
    }


def passed_by(work):
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


def command(arguments):
    """Return the work of a command; it ends this process if it fails."""
    command_line = importlib.import_module("solah.cli.main")

    def run():
        if failed := command_line.main(arguments):
            sys.exit(failed)

    return run


def predicting(name):
    """Return the work of ``predict_proba`` on a data frame, which is not the first one."""
    wine = importlib.import_module("sklearn.datasets").load_wine(as_frame=True)
    if name == "loaded model":
        model = importlib.import_module("solah").load_model("m.json")
    else:
        model = getattr(importlib.import_module("solah"), name)(max_rules=20)
        model.fit(wine.data, wine.target)
    model.predict_proba(wine.data)
    return lambda: model.predict_proba(wine.data)


def traces(sources):
    """Count what commands and predictions pass, each in a fresh process."""
    wine = importlib.import_module("sklearn.datasets").load_wine(as_frame=True).frame
    ways = {
        "solah fit wine.csv": ("fit", "wine.csv", "-t", "target", "-o", "m.json"),
        "solah fit part*.csv": ("fit", "part*.csv", "-t", "target", "-o", "many.json"),
        "solah predict": ("predict", "m.json", "wine.csv", "-o", "decided.csv"),
        "predict_proba(frame), estimator": ("RuleClassifier",),
        "predict_proba(frame), loaded": ("loaded model",),
    }
    with tempfile.TemporaryDirectory() as folder:
        wine.to_csv(f"{folder}/wine.csv", index=False)
        for part in range(COPIES):
            wine.sample(frac=1, random_state=part).to_csv(f"{folder}/part{part}.csv", index=False)
        for name, words in ways.items():
            command = [sys.executable, str(Path(__file__).resolve()), "--trace", *words]
            place = {"cwd": folder, "env": os.environ | {"PYTHONPATH": str(sources)}}
            run = subprocess.run(command, stdout=subprocess.PIPE, check=True, **place)
            yield name, json.loads(run.stdout.splitlines()[-1])


def main(root):
    sources, by_package = {}, {}
    for path in sorted((root / "src" / "solah").rglob("*.py")):
        home = path.relative_to(root / "src" / "solah").parts
        sources[path] = path.read_text("utf-8")
        name = home[0] if len(home) > 1 else "(modules)"
        by_package.setdefault(name, Counter()).update(line_kinds(sources[path]))
    by_package["all"] = sum(by_package.values(), Counter())
    print("lines         ", *(f"{kind:>9}" for kind in KINDS))
    for name, counts in by_package.items():
        print(f"{name:<14}", *(f"{counts[kind]:>9,}" for kind in KINDS))
    bodies = [length for text in sources.values() for length in body_lengths(text)]
    short = f"{sum(length < SHORT for length in bodies):,} with a body of fewer than {SHORT} lines"
    print(f"{len(bodies):,} functions, {short}; the median has {median(bodies):g}")
    lazy = sum(lazy_imports(text) for path, text in sources.items() if "cli" not in path.parts)
    print(f"{lazy} imports inside functions, outside cli")
    tests = (path.read_text("utf-8") for path in (root / "tests").rglob("*.py"))
    constants = sorted(set().union(*map(patched_constants, tests)))
    print(f"{len(constants)} constants patched in tests: {', '.join(constants)}")
    sys.path.insert(0, str(root / "src"))
    for name, count in parameters().items():
        print(f"{name:<34}{count:>3} parameters")
    for name, (n_files, n_functions) in traces(root / "src"):
        print(f"{name:<34}{n_files:>3} files, {n_functions} functions")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        words = sys.argv[2:]
        print(json.dumps(passed_by(predicting(*words) if len(words) == 1 else command(words))))
    else:
        main(Path(sys.argv[1]).resolve() if sys.argv[1:] else Path(__file__).resolve().parents[1])
