"""The measures of the code, on a small text and on the library."""

import ast
from pathlib import Path

from code_size import (
    BUDGETS,
    body_length,
    functions_of,
    main,
    passed_by,
    used_once,
    with_one_importer,
)

ROOT = Path(__file__).parents[2]
TEXT = '''"""A module."""


class Shelf:
    """Several
    lines."""

    def first(self):
        """Nothing to it."""
        return _once()

    def second(self):
        import json

        # Two lines of code beside the import.
        text = json.dumps(_twice())
        return text, _twice()


def _once(): ...
def _twice(): ...
'''


def test_bodies_and_private_functions():
    tree = ast.parse(TEXT)
    bodies = {one.name: body_length(one, TEXT.splitlines()) for one in functions_of(tree)}
    assert bodies == {"first": 1, "second": 3, "_once": 1, "_twice": 1}
    assert used_once([tree]) == ["_once"]


def test_modules_with_a_single_importer():
    texts = {"p": "", "p.a": "from p import b, c", "p.b": "from p.c import x", "p.c": "x = 1"}
    assert with_one_importer({name: ast.parse(text) for name, text in texts.items()}) == ["p.b"]


def test_what_some_work_passes():
    from solah import Hierarchy

    n_files, n_functions = passed_by(lambda: Hierarchy.parse("y <- a, b"))
    assert 0 < n_files <= n_functions < 100


def test_every_package_has_a_budget_and_all_fits_on_a_screen(capsys):
    main(ROOT)
    lines = capsys.readouterr().out.splitlines()
    packages = {path.name for path in (ROOT / "src" / "solah").iterdir() if path.is_dir()}
    known = {package for packages in BUDGETS for package in packages}
    assert {one for one in packages if (ROOT / "src/solah" / one / "__init__.py").exists()} <= known
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 110
