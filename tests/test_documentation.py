"""Every example in the docstrings, the README and docs/ runs and says what it says there.

In Markdown: ``python`` blocks run one after another in one namespace a page (a line ``# -> text``
after a ``print`` states its output); ``console`` blocks run their ``$`` lines as a shell would,
except for those that set up a machine (make, pip, git), which the other tests and CI do; ``json``
blocks must parse.
"""

import contextlib
import doctest
import importlib
import io
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import reproduction
import solah

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
    for command in re.findall(r"^\$ (.*)$", code, re.MULTILINE):
        if command.split()[0] in SETS_UP_A_MACHINE:
            continue
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{where}: {command}\n{done.stderr}"


def test_no_page_is_lost():
    """Every page of docs/ can be reached from its index."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert page.name == "index.md" or f"]({page.name})" in index


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), (page.name, target)
