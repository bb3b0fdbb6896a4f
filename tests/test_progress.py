"""How far work is, where there is no terminal: in logs and in notebooks."""

import io

import pytest
from rich.console import Console
from sklearn.datasets import load_iris

import solah.progress
from solah import GeneticHierarchyClassifier, GeneticSearch, RuleClassifier
from solah.progress import show_progress


@pytest.fixture
def clock(monkeypatch):
    """Let the test say what time it is."""
    now = [100.0]
    monkeypatch.setattr(solah.progress, "monotonic", lambda: now[0])
    return now


def logged(clock, total, news=""):
    """Work for ten minutes, a step per second, and return the lines."""
    console = Console(file=io.StringIO())
    with show_progress(console, total, "steps") as advance:
        for _ in range(600):
            clock[0] += 1
            advance(1, news)
    return console.file.getvalue().splitlines()


def test_a_log_gets_fewer_and_fewer_lines(clock):
    lines = logged(clock, 600)
    assert lines[:3] == ["1/600 steps, 1 s", "2/600 steps, 2 s", "3/600 steps, 3 s"]
    assert lines[-3:-1] == ["500/600 steps, 500 s", "560/600 steps, 560 s"]
    assert lines[-1] == "600/600 steps, 600 s: done"
    assert len(lines) < 25


def test_what_fails_is_not_done(clock):
    console = Console(file=io.StringIO())
    with pytest.raises(KeyError), show_progress(console, None, "steps") as advance:
        advance(1)
        raise KeyError
    assert console.file.getvalue() == ""


@pytest.mark.parametrize(
    ("estimator", "ending"),
    [
        (RuleClassifier(max_rules=6), " steps, 0 s: fitting the rules; done\n"),
        (GeneticHierarchyClassifier(GeneticSearch(4, n_generations=1)), "; done\n"),
    ],
    ids=["additive", "genetic"],
)
def test_estimators_without_a_terminal(clock, capfd, estimator, ending):
    X, y = load_iris(return_X_y=True)
    estimator.set_params(verbose=True).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.endswith(ending)
    assert err.count("\n") == 1
