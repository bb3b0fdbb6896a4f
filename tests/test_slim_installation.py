"""A node installed without what learns: what it needs, what it can do, and what it says."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import solah

ROOT = Path(__file__).parents[1]
SOURCES = Path(solah.__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT_OUT = (
    "joblib",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
    "threadpoolctl",
)
HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])

sys.meta_path.insert(0, Hidden())
"""


# Runs commands until one fails.
RUNS = """
import sys
from solah.cli.main import main

for command in sys.argv[1:]:
    if code := main(command.split()):
        print(command, file=sys.stderr)
        sys.exit(code)
"""


@pytest.fixture(scope="module")
def slim(tmp_path_factory):
    """Return what runs solah in a folder with a model and rows, without what learns."""
    from solah import RuleClassifier, datasets

    folder = tmp_path_factory.mktemp("slim")
    (folder / "sitecustomize.py").write_text(HIDING.format(names=LEFT_OUT))
    wine = datasets.load("wine")
    model = RuleClassifier(max_rules=6, interactions=0)
    model.fit(wine.table, wine.target).save(folder / "wine.json")
    asked = [feature.name for feature in model.model_.features]
    lines = [",".join(asked), ",".join("1.5" for _ in asked)]
    (folder / "rows.csv").write_text("\n".join(lines))

    def run(*commands):
        return subprocess.run(
            [sys.executable, "-c", RUNS, *commands],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(SOURCES)))},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def bounds(lines):
    return {line.partition(">=")[0]: line for line in lines}


def test_what_a_node_needs_has_the_bounds_of_the_package():
    text = (ROOT / "requirements-node.txt").read_text(encoding="utf-8")
    asked = bounds(line for line in text.splitlines() if not line.startswith("#"))
    extras = PROJECT["optional-dependencies"]
    known = bounds([*PROJECT["dependencies"], *extras["site"]])
    assert asked.items() <= known.items()
    assert {"cbor2", "cryptography", "paho-mqtt"} <= set(asked)


def test_what_decides_works_without_what_learns(slim):
    done = slim(
        "rules wine.json --limit 1",
        "explain wine.json --row proline=1000",
        "export wine.json -o firmware",
        "site plan wine.json -o plan.json",
        "diff wine.json wine.json",
        "site node --help",
        "info",
    )
    assert done.returncode == 0, done.stderr


def test_learning_and_files_say_what_to_install(slim):
    for line in ("fit rows.csv --target proline", "predict wine.json rows.csv"):
        done = slim(line)
        assert (done.returncode, done.stdout) == (2, "")
        assert "not installed: pip install solah\n" in done.stderr
        assert "Traceback" not in done.stderr
