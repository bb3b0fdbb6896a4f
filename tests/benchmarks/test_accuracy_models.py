"""Every model learns from numbers, states and gaps, and says how large it is."""

from pathlib import Path

import numpy as np
import pytest
from comparison import models, scores
from comparison.models import MODELS, measure_size
from sklearn.metrics import balanced_accuracy_score, brier_score_loss

AT_HAND = [model for model in MODELS.values() if not model.obstacle and not model.is_step]


@pytest.mark.parametrize("model", AT_HAND, ids=lambda model: model.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_learn_and_can_be_measured(model, n_classes, make_set):
    material = make_set(n_classes=n_classes)
    estimator = model.make(material, 60, 0).fit(material.table, material.target)
    beliefs = estimator.predict_proba(material.table)
    assert beliefs.shape == (60, n_classes)
    assert np.allclose(beliefs.sum(axis=1), 1)
    decisions = estimator.classes_[beliefs.argmax(axis=1)]
    assert (decisions == material.target).mean() > 0.55
    size = measure_size(estimator)
    assert size.count >= 1
    assert (size.length is None) == (model.unit == "terms" or model.name == "ferl")


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
