"""What the package imports is what it declares, and the oldest versions are known."""

import ast
import sys

import pytest

from oldest import PROJECT, oldest

SOURCES = sorted((PROJECT.parent / "src").rglob("*.py"))
NAMES = {"sklearn": "scikit-learn", "yaml": "pyyaml", "paho": "paho-mqtt"}


def imports(tree):
    """Return the modules that a file imports by an import statement, and their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.fixture(scope="module")
def imported():
    """Return what each source imports."""
    return {path: set(imports(ast.parse(path.read_text(encoding="utf-8")))) for path in SOURCES}


def test_what_is_imported_is_declared(imported):
    roots = {module.partition(".")[0] for found in imported.values() for module, _ in found}
    others = roots - set(sys.stdlib_module_names) - {"solah"}
    declared = {line.partition("==")[0].casefold() for line in oldest()}
    assert {NAMES.get(name, name) for name in others} <= declared


def test_every_dependency_has_one_lower_bound(tmp_path):
    lines = oldest()
    assert "numpy==1.26" in lines
    assert any(line.startswith("scipy==") for line in lines)
    assert len({line.partition("==")[0] for line in lines}) == len(lines)
    content = PROJECT.read_text(encoding="utf-8")
    for text in ('"numpy"', '"numpy>=1.26", "numpy>=1.27"', '"numpy==2"'):
        (tmp_path / "pyproject.toml").write_text(content.replace('"numpy>=1.26"', text))
        with pytest.raises(SystemExit, match="lower bound"):
            oldest(tmp_path / "pyproject.toml")
