"""Every example in the docstrings, the README and docs/ runs and says what it says there.

In Markdown: ``python`` blocks run one after another in one namespace per page (a line ``# -> text``
after a ``print`` states its output). ``console`` blocks run their ``$`` lines, and the lines below
a command must be in its output, in that order. A plain ``solah`` command runs in this process, any
other in a shell. Commands that set up a machine (make, pip, git) are left to other tests. ``json``
blocks must parse.
"""

import contextlib
import doctest
import importlib
import io
import json
import pkgutil
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import reproduction
import solah
from solah.cli.main import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    module.name
    for package in (solah, reproduction)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("_native")
]
SETS_UP_A_MACHINE = ("make", "pip", "git", "python3")
SHELL = re.compile(r" [|&>;]|\|\||\$")  # what only a shell understands


@pytest.mark.parametrize("package", sorted({".".join(name.split(".")[:2]) for name in MODULES}))
def test_the_examples_of_a_package_run(package):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for name in MODULES:
        if f"{name}.".startswith(f"{package}."):
            module = importlib.import_module(name)
            assert doctest.testmod(module, optionflags=flags).failed == 0, name


def blocks(page):
    """List the fenced blocks of a page with their language and line number."""
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: f.start()].count("\n") + 1, f[1], f[2]) for f in fences]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    namespace = {"__name__": "__main__"}
    for line, language, code in blocks(page):
        where = f"{page.name}:{line}"
        assert language in ("python", "console", "json", "text"), f"{where}: name the language"
        if language == "python":
            run_python(code, namespace, where)
        elif language == "console":
            run_console(code, where)
        elif language == "json":
            json.loads(code)


def run_python(code, namespace, where):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, where, "exec"), namespace)
    expected = re.findall(r"^# ->(?: (.*))?$", code, re.MULTILINE)
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == expected, where


def run_console(code, where):
    for command, stated in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
        if command.split()[0] in SETS_UP_A_MACHINE:
            continue
        returned, output = run_command(command)
        assert returned == 0, f"{where}: {command}\n{output}"
        lines = iter(line.rstrip() for line in output.splitlines())
        for line in filter(None, stated.splitlines()):
            assert line.rstrip() in lines, f"{where}: {command}: not in its output: {line}"


def run_command(command):
    """Run a command; return its exit code and what it prints."""
    if not command.startswith("solah ") or SHELL.search(command):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        return main(shlex.split(command)[1:]), printed.getvalue()


def test_no_page_is_lost():
    """Every page of docs/ can be reached from its index."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert page.name == "index.md" or f"]({page.name})" in index


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
            there = page.parent / target if target else page
            if not target.startswith("http"):
                assert there.exists(), (page.name, target)
                known = anchors(there) if there.suffix == ".md" else {anchor}
                assert not anchor or anchor in known, (page.name, target, anchor)


def test_the_figures_of_the_readme_are_those_of_the_benchmark():
    """The claim about accuracy quotes the stored output of benchmarks/accuracy.py."""
    found = json.loads((ROOT / "docs/figures/accuracy/accuracy.json").read_text(encoding="utf-8"))
    eight = found["groups"]["eight"]["models"]
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    (claim,) = re.findall(r"\*\*Accurate with few rules\*\*: (.*?) \(\[benchmarks", text)
    assert claim == (
        f"mean accuracy {eight['solah']['accuracy']:.3f} with {eight['solah']['size']:.0f} rules "
        f"on eight public data sets, {eight['solah-20']['accuracy']:.3f} with at most 20. A random "
        f"forest reaches {eight['forest']['accuracy']:.3f} with {eight['forest']['size']:,.0f} "
        f"leaves, a pruned tree {eight['pruned-tree']['accuracy']:.3f}"
    )
    assert found["settings"] == {"folds": 10, "seeds": [0], "rows": 20_000}
