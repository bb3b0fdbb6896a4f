"""The compared numbers of rules, as text and in a notebook."""

import pytest

from solah import RuleClassifier, datasets
from solah.estimators.rules import RulePath


@pytest.fixture(scope="module")
def model():
    wine = datasets.load("wine")
    return RuleClassifier(interactions=0).fit(wine.table, wine.target)


def test_the_path_is_a_table_with_the_chosen_number(model):
    head, *lines = str(model.path_).splitlines()
    assert head.split() == ["at", "most", "rules", "features", "accuracy", "log-loss"]
    assert len(lines) == len(model.path_)
    page = model.path_._repr_html_()
    assert (page.count("<tr>"), page.count("chosen")) == (len(model.path_) + 1, 1)
    assert [line.endswith("chosen") for line in lines] == [step.is_chosen for step in model.path_]


def test_a_path_without_steps_says_so():
    path = RulePath()
    assert str(path) == "No numbers of rules were compared."
    assert str(path) in path._repr_html_()
