"""Estimators in a notebook: scikit-learn's diagram, and what was learned below it."""

import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
)

WIRING = "taste <- alcohol, ash; wine <- taste, hue"


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def tree(wine):
    return LinguisticTreeClassifier(max_depth=2).fit(*wine)


def summary_of(estimator):
    """Return what stands below the diagram."""
    diagram, found, summary = estimator._repr_html_().partition('<div class="solah">')
    assert "sk-top-container" in diagram
    assert type(estimator).__name__ in diagram
    return summary if found else None


def test_a_tree_says_what_it_decides_and_how(tree):
    summary = summary_of(tree)
    assert "target, 3 classes: 0, 1, 2" in summary
    assert f"{tree.n_rules_} rules, 1 tree<" in summary
    loudest = max(zip(tree.feature_importances_, tree.feature_names_in_, strict=True))
    assert summary.index(f"<td>{loudest[1]}</td>") < summary.index(f"{100 * loudest[0]:.1f}%")
    assert (tree.feature_importances_ > 0).sum() == 4
    assert summary.count("<tr>") == (1 + 4) + (1 + 5)
    strongest = max(tree.rules(), key=lambda rule: rule.support * rule.effect)
    assert f"if {strongest.premise} then <strong>{strongest.result}</strong>" in summary


@pytest.mark.parametrize(
    "model",
    [
        LinguisticHierarchyClassifier(WIRING),
        RuleClassifier(feature_groups={"taste": ["alcohol", "ash"]}, max_rules=12),
    ],
    ids=["beliefs", "evidence"],
)
def test_a_hierarchy_says_how_large_it_is(wine, model):
    X, y = wine
    model.fit(X[["alcohol", "ash", "hue"]], y)
    is_additive = isinstance(model, RuleClassifier)
    n_terms, n_trees = len(model.model_.terms), len(model.model_.trees)
    parts = f"{n_terms} terms" if is_additive else f"{n_trees} trees"
    summary = summary_of(model)
    assert f"{model.n_rules_} rules, {parts}, {model.model_.hierarchy.n_levels} levels" in summary
    assert ('<th scope="col">part</th>' in summary) == (not is_additive)


def test_what_is_there_is_said():
    assert summary_of(LinguisticTreeClassifier()) is None
    summary = summary_of(LinguisticTreeClassifier().fit([[1.5], [1.5]], ["a", "b"]))
    assert "Feature importance" not in summary
    assert "1 rule, 1 tree<" in summary
    number = LinguisticTreeRegressor(max_depth=1).fit([[1.5], [2.5], [9.5]], [1.5, 2.5, 9.5])
    assert "y, a number<" in summary_of(number)


def test_many_classes_are_not_all_named():
    y = [f"k{i:02d}" for i in range(30)] * 2
    summary = summary_of(LinguisticTreeClassifier().fit([[float(i)] for i in range(60)], y))
    assert "class, 30 classes: k00, k01, k02, k03, k04, k05, k06, k07 and 22 more<" in summary


def test_names_that_look_like_markup_are_text():
    frame = pd.DataFrame({"<img src=x>": ["<u>", "v"] * 5})
    model = LinguisticTreeClassifier().fit(frame, pd.Series(["<b>1", "2"] * 5, name="<s>"))
    summary = summary_of(model)
    assert "&lt;img src=x&gt; is &lt;u&gt;" in summary
    assert not any(tag in summary for tag in ("<img", "<u>", "<b>", "<s>"))


def test_pipelines_draw_their_steps(wine, tree):
    assert "Feature importance" in tree._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert list(tree._repr_mimebundle_()) == ["text/plain"]
    steps = make_pipeline(RuleClassifier(max_rules=5))
    for pipeline in (steps, steps.fit(*wine)):
        html = pipeline._repr_html_()
        assert "RuleClassifier" in html
        assert 'class="solah"' not in html
