"""The measures of the code, on a small text and on the library."""

from code_size import (
    body_lengths,
    command,
    lazy_imports,
    line_kinds,
    parameters,
    passed_by,
    patched_constants,
    predicting,
)

import solah

TEXT = '''"""A module."""

import os

# A comment.


class Shelf:
    """Several
    lines."""

    def first(self):
        """Nothing to it."""
        return 1

    def second(self):
        import json

        # Two lines of code beside the import.
        text = json.dumps(1)
        return text
'''


def test_lines_are_told_apart():
    kinds = line_kinds(TEXT)
    assert kinds[:5] == ["docstring", "blank", "code", "blank", "comment"]
    assert [kinds.count(kind) for kind in ("code", "docstring", "comment", "blank")] == [8, 4, 2, 7]


def test_bodies_and_imports_inside_functions():
    assert body_lengths(TEXT) == [1, 3]
    assert lazy_imports(TEXT) == 1


def test_constants_that_tests_patch():
    text = 'monkeypatch.setattr(module, "_MOST", 1); monkeypatch.setattr("a.b.MANY", 2)\n'
    text += 'monkeypatch.setattr(module, "function", 3); monkeypatch.setenv("HOME", "x")\n'
    assert patched_constants(text) == {"_MOST", "MANY"}


def test_parameters_of_the_library():
    found = parameters()
    assert found["LinguisticTreeClassifier"] == len(solah.LinguisticTreeClassifier().get_params())
    assert max(found[name] for name in found if "Hierarchy" in name) <= 19
    assert "Hierarchy" not in found


def test_what_a_command_passes(capsys):
    n_files, n_functions = passed_by(command(["--version"]))
    assert capsys.readouterr().out.startswith("solah ")
    assert 0 < n_files <= n_functions < 100


def test_what_a_prediction_passes():
    n_files, n_functions = passed_by(predicting("RuleClassifier"))
    assert n_files <= 9
    assert n_functions > n_files
