"""Readings that are lost: what is left never misleads, and nothing left is the class shares."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from additive_cases import make_frame, sample_of
from hypothesis import given, settings
from hypothesis import strategies as st

from solah import RuleClassifier
from solah.evaluation.scores import log_loss
from solah.export import export_c
from solah.export.agreement import agreement_on
from solah.learn.lost import _drawn, _masks, parts_of, with_raised_variances
from solah.model.predictor import Predictor

KINDS = ("number", "coarse", "ordinal", "binary", "text")


def suppressed(seed, n_rows=600):
    """Make readings of which two tell apart what they have in common: one alone misleads."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {
            "for": common + 0.3 * rng.normal(size=n_rows),
            "against": common + 0.3 * rng.normal(size=n_rows),
            "beside": rng.normal(size=n_rows),
        }
    )
    score = 4 * frame["for"] - 3 * frame["against"] + 0.7 * frame["beside"]
    return frame, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int).to_numpy()


def only(frame, names):
    """Let all other columns be lost."""
    return frame.assign(**dict.fromkeys(set(frame) - {*names}, np.nan))


def losses(model, frame, y):
    """Return the log-loss of the class shares, and that with each feature left alone."""
    shares = np.tile(np.bincount(y) / len(y), (len(y), 1))
    used = [feature.name for feature in model.model_.features]
    left = {
        name: log_loss(y, model.predict_proba(only(frame, [name])), model.classes_) for name in used
    }
    return log_loss(y, shares, model.classes_), left


@pytest.mark.parametrize("robust_to", [None, "features"])
@pytest.mark.parametrize("seed", range(3))
def test_what_one_feature_tells_is_no_worse_than_the_class_shares(robust_to, seed):
    frame, y = suppressed(seed)
    model = RuleClassifier(robust_to=robust_to).fit(frame, y)
    assert {"for", "against"} <= {feature.name for feature in model.model_.features}
    for rows in ((frame, y), suppressed(seed + 100)):
        of_shares, left = losses(model, *rows)
        assert max(left.values()) < of_shares + 0.02


def test_only_variances_are_raised(monkeypatch):
    frame, y = suppressed(0)
    raised = RuleClassifier().fit(frame, y)
    monkeypatch.setattr("solah.learn.learning.with_raised_variances", lambda model, *_: model)
    plain = RuleClassifier().fit(frame, y)
    of_shares, left = losses(plain, frame, y)
    assert max(left.values()) > of_shares + 0.3  # what this test is about
    np.testing.assert_array_equal(raised.predict_proba(frame), plain.predict_proba(frame))
    ratios = [
        one.variance / two.variance
        for one, two in zip(raised.model_.terms, plain.model_.terms, strict=True)
    ]
    assert min(ratios) >= 1.0
    assert max(ratios) > 10.0


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=4),
    n_classes=st.integers(2, 3),
    robust_to=st.sampled_from([None, "groups", "features"]),
)
def test_nothing_known_is_the_class_shares_and_all_known_needs_no_variances(
    seed, kinds, n_classes, robust_to
):
    frame, y = make_frame(seed, 150, kinds, n_classes)
    groups = None if robust_to != "groups" else [list(frame)[:1], list(frame)[1:]]
    model = RuleClassifier(max_rules=20, feature_groups=groups, robust_to=robust_to)
    model.fit(frame, y)
    shares = [float((y == each).mean()) for each in model.classes_]
    nothing = model.predict_proba(only(frame.head(1), []))[0]
    np.testing.assert_allclose(nothing, shares, atol=1e-9)
    terms = (replace(term, variance=0.0) for term in model.model_.terms)
    careless = Predictor(model.model_.with_terms(terms))
    np.testing.assert_array_equal(model.predict_proba(frame), careless.predict_proba(frame))


def test_a_lost_device_costs_less_where_that_was_expected():
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=800)
    frame = pd.DataFrame({f"x{j}": hidden + rng.normal(size=800) for j in range(6)})
    y = (hidden + 0.3 * rng.normal(size=800) > 0).astype(int)
    groups = {"a": ["x0", "x1", "x2"], "b": ["x3", "x4", "x5"]}
    found = {}
    for robust_to in (None, "groups"):
        model = RuleClassifier(feature_groups=groups, robust_to=robust_to).fit(frame, y)
        lost = [only(frame, names) for names in groups.values()]
        found[robust_to] = [
            log_loss(y, model.predict_proba(rows), model.classes_) for rows in (frame, *lost)
        ]
    whole, *parts = zip(*found.values(), strict=True)
    assert whole[1] < whole[0] + 0.01
    assert all(with_losses < without for without, with_losses in parts)


def test_where_readings_may_be_lost_a_missing_one_has_no_rule():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    y = (frame["b"] + rng.normal(size=400) > 0).to_numpy().astype(int)
    frame.loc[(y == 1) & (rng.random(400) < 0.6), "a"] = np.nan
    for robust_to, has_rule in ((None, True), ("features", False)):
        model = RuleClassifier(required_features=["a"], robust_to=robust_to).fit(frame, y)
        assert any(term.missing is not None for term in model.model_.terms) == has_rule
        believed = model.predict_proba(frame.head(1) * np.nan)[0]
        assert np.allclose(believed, np.bincount(y) / len(y), atol=1e-9) != has_rule


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_a_device_believes_the_same_with_raised_variances(numbers):
    frame, y = suppressed(0)
    model = RuleClassifier().fit(frame, y).model_
    rows = frame[[feature.name for feature in model.features]].to_numpy(copy=True)
    rows[np.random.default_rng(0).random(rows.shape) < 0.4] = np.nan
    found = agreement_on(model, export_c(model, numbers=numbers).simulator, rows)
    assert found.share > 0.99
    assert found.largest_difference < 1e-3


@given(st.integers(2, 9))
def test_something_is_lost_and_something_left(n_parts):
    lost = _drawn(200, n_parts)
    assert lost.any(axis=1).all()
    assert not lost.all(axis=1).any()
    names = [str(place) for place in range(n_parts)]
    masks = _masks(parts_of(names, ()), names).tolist()
    for place in range(n_parts):
        alone = [number == place for number in range(n_parts)]
        assert alone in masks
        assert [not one for one in alone] in masks


def test_a_model_without_complete_rows_stays_as_it_is():
    frame, y = suppressed(0)
    model = RuleClassifier().fit(frame, y).model_
    gaps = frame.copy()
    gaps.loc[::2, "for"] = np.nan
    gaps.loc[1::2, "against"] = np.nan
    assert with_raised_variances(model, sample_of(gaps, y)) == model
