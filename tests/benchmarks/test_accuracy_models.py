"""Every model learns from numbers, states and gaps, and says how large it is."""

from pathlib import Path

import numpy as np
import pytest
from comparison import models, scores, sizes
from comparison.extras import RipperClassifier
from comparison.models import MODELS, choose_models, measure_size
from comparison.peers import PrunedTreeClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, brier_score_loss
from sklearn.tree import DecisionTreeClassifier

from solah.exceptions import ParameterError

AT_HAND = [model for model in MODELS.values() if not model.obstacle and not model.is_step]


@pytest.mark.parametrize("model", AT_HAND, ids=lambda model: model.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_learn_and_can_be_measured(model, n_classes, make_set):
    material = make_set(n_classes=n_classes)
    estimator = model.make(material, 60, 0).fit(material.table, material.goal)
    beliefs = estimator.predict_proba(material.table)
    assert beliefs.shape == (60, n_classes)
    assert np.allclose(beliefs.sum(axis=1), 1)
    decisions = estimator.classes_[beliefs.argmax(axis=1)]
    assert (decisions == material.goal).mean() > 0.55
    size = measure_size(estimator)
    assert size.count >= 1
    assert (size.length is None) == (model.unit == "terms" or model.name == "ferl")


def test_pruning_leaves_fewer_leaves():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = np.where((X[:, 0] > 0) ^ (rng.random(200) < 0.2), "yes", "no")
    pruned = PrunedTreeClassifier(random_state=0).fit(X, y)
    whole = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert pruned.tree_.get_n_leaves() == 2 < whole.get_n_leaves()
    assert 0.7 < (pruned.predict(X) == y).mean() < 0.9


def test_sizes_of_trees_are_their_leaves_and_depths():
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert sizes.size_of_trees([tree, tree]).count == 2 * tree.get_n_leaves()
    assert sizes.size_of_trees([tree]).length == pytest.approx((1 + 2 + 3 + 3) / 4)
    stump = HistGradientBoostingClassifier(max_iter=3, max_depth=1, min_samples_leaf=1)
    assert sizes.size_of_boosting(stump.fit(X, y)) == sizes.Size(6, 1.0)


def test_rule_sets_for_any_number_of_classes():
    class OneRule:
        def __init__(self, random_state):
            pass

        def fit(self, X, y, pos_class):
            self.centre = X[y].mean()

        def predict_proba(self, X):
            near = np.exp(-np.abs(X[:, 0] - self.centre))
            return np.column_stack([1 - near, near])

    X = np.array([[0.0], [0.1], [5.0], [9.0]])
    two = RipperClassifier(OneRule).fit(X, np.array(["b", "b", "b", "a"]))
    assert two.targets_ == [0]
    assert np.allclose(two.predict_proba(X).sum(axis=1), 1)
    three = RipperClassifier(OneRule).fit(X, np.array(["a", "a", "b", "c"]))
    assert three.predict(X).tolist() == ["a", "a", "b", "c"]


def test_unknown_models():
    with pytest.raises(ParameterError, match="no model 'forst'; did you mean 'forest'?"):
        choose_models(["solah", "forst"])
    assert [model.name for model in choose_models(["tree", "solah", "tree"])] == ["tree", "solah"]
    usual = choose_models(None)
    assert not any(model.is_step for model in usual)
    assert {*usual, *choose_models(["steps"])} == set(MODELS.values())


def test_a_package_that_is_not_installed_is_said_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda module: None)
    said = "figs is left out, not installed: pip install imodels"
    assert MODELS["figs"].obstacle == said


def test_our_figures_belong_to_our_source(monkeypatch, tmp_path):
    assert MODELS["solah"].made_with == f"solah {models.source_digest()}"
    assert MODELS["tree"].made_with.startswith("scikit-learn ")
    before = models.source_digest()
    assert all((Path(models.solah.__file__).parent / part).is_dir() for part in models._LEARNING)
    (tmp_path / "learn").mkdir()
    (tmp_path / "learn" / "growth.py").write_text("changed = True\n")
    monkeypatch.setattr(models.solah, "__file__", str(tmp_path / "__init__.py"))
    models.source_digest.cache_clear()
    after = models.source_digest()
    models.source_digest.cache_clear()
    assert after != before


def test_scores_are_the_usual_ones():
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b"], 50)
    belief = rng.random(50)
    classes = np.array(["a", "b"])
    found = scores.score_fold(truth, np.column_stack([1 - belief, belief]), classes)
    assert found["brier"] == pytest.approx(brier_score_loss(truth, belief, pos_label="b"))
    decisions = classes[(belief > 0.5).astype(int)]
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, decisions))
    assert set(found) == {
        "accuracy",
        "balanced_accuracy",
        "auc",
        "log_loss",
        "brier",
        "calibration",
    }


def test_the_calibration_error_is_how_far_belief_is_off():
    classes, truth = np.array(["a", "b"]), np.array(["a", "a", "a", "b"])
    shares = np.tile([0.75, 0.25], (4, 1))
    assert scores.score_fold(truth, shares, classes)["calibration"] == 0.0
    sure = np.tile([1.0, 0.0], (4, 1))
    assert scores.score_fold(truth, sure, classes)["calibration"] == 0.25


def test_a_class_that_a_fold_lacks_does_not_count():
    truth, classes = np.array(["a", "a"]), np.array(["a", "b"])
    found = scores.score_fold(truth, np.array([[0.9, 0.1], [0.2, 0.8]]), classes)
    assert found["balanced_accuracy"] == 0.5
    assert np.isnan(found["auc"])
