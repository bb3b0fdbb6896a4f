"""The benchmark of what models report of themselves, on small sets."""

import honesty
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error

from solah import RuleClassifier, RuleRegressor


def test_the_command_prints_a_line_a_set_and_the_mean(capsys):
    honesty.main(["--sets", "wine", "diabetes", "--seeds", "1", "--jobs", "1"])
    _, head, first, second, *means = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "set"
    assert [first.split()[0], second.split()[0]] == ["wine", "diabetes"]
    said, fresh = map(float, first.split()[1:3])
    assert 0 < said < 1
    assert 0 < fresh < 1
    assert [mean.partition(":")[0] for mean in means] == [
        "mean of 1 sets, classes",
        "mean of 1 sets, numbers",
    ]


@pytest.mark.parametrize("name", ["weights-2000", "groups-2000", "rare-2000", "three-classes-2000"])
def test_rows_are_drawn_and_fresh_rows_are_others(name):
    learned, fresh = honesty.SETS[name].parts(0)
    again, _ = honesty.SETS[name].parts(0)
    assert len(learned.y) == 2_000
    assert len(fresh.y) == honesty.N_FRESH
    assert learned.X.equals(again.X)
    assert not learned.X.equals(fresh.X.iloc[:2_000])
    assert (learned.weight is not None) == (name == "weights-2000")
    assert (learned.groups is not None) == (name == "groups-2000")


def test_halves_of_a_real_set_share_no_row():
    learned, fresh = honesty.SETS["cancer-weight-2"].parts(3)
    assert len(learned.y) + len(fresh.y) == 569
    assert set(learned.weight.tolist()) == {2.0}
    both = np.concatenate([learned.X.to_numpy(), fresh.X.to_numpy()])
    assert len(np.unique(both, axis=0)) == 569


def test_figures_of_classes_are_those_of_scikit_learn():
    rows, fresh = (honesty.weighted(np.random.default_rng(seed), 400) for seed in (0, 1))
    model = RuleClassifier(max_rules=6).fit(rows.X, rows.y)
    losses, hits = honesty.losses_of(model, fresh, is_number=False)
    found = honesty.summary(losses, hits, fresh.y, fresh.weight, is_number=False)
    given = {"sample_weight": fresh.weight}
    assert found.loss == pytest.approx(log_loss(fresh.y, model.predict_proba(fresh.X), **given))
    assert found.accuracy == pytest.approx(accuracy_score(fresh.y, model.predict(fresh.X), **given))


def test_figures_of_numbers_are_those_of_scikit_learn():
    rows = honesty.weighted_number(np.random.default_rng(0), 400)
    model = RuleRegressor(max_rules=6).fit(rows.X, rows.y)
    squares, _ = honesty.losses_of(model, rows, is_number=True)
    found = honesty.summary(squares, squares, rows.y, rows.weight, is_number=True)
    estimates, given = model.predict(rows.X), {"sample_weight": rows.weight}
    assert found.loss == pytest.approx(root_mean_squared_error(rows.y, estimates, **given))
    assert found.accuracy == pytest.approx(r2_score(rows.y, estimates, **given))


def test_the_standard_error_is_that_of_means_of_weighted_rows():
    rng = np.random.default_rng(0)
    weight = rng.lognormal(0.0, 1.2, 300)
    n_rows = honesty.effective(weight, 300)
    assert honesty.effective(None, 300) == honesty.effective(np.full(300, 7.0), 300) == 300
    values = rng.normal(size=(4_000, 2, 300))
    means = (values * weight).sum(axis=2) / weight.sum()
    differences = means[:, 0] - means[:, 1]
    expected = honesty.mean_error(values[0, 0], None, [n_rows, n_rows])
    assert differences.std() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("n_rows", "n_behind"),
    [(500, 500), (6_500, 6_000), (8_000, 2_000), (30_000, 5_000), (200_000, 5_000)],
)
def test_the_error_is_that_of_the_rows_that_are_measured_on(n_rows, n_behind):
    assert honesty.rows_measured_on(n_rows) == n_behind


def test_classes_are_balanced_by_the_training_rows():
    learned = np.array([0] * 30 + [1] * 10)
    weights = honesty.class_weights(learned, np.array([1, 0, 1]))
    assert weights.tolist() == pytest.approx([2.0, 2 / 3, 2.0])


def test_a_report_that_is_too_good_is_marked():
    fresh, good = honesty.Measured(0.7, 0.5), honesty.Measured(0.6, 0.6)
    honest = honesty.Cell("coin-500", fresh, fresh, fresh, 0.01, 0.01, 2, 1)
    flattering = honesty.Cell("coin-500", good, fresh, fresh, 0.01, 0.01, 200, 4)
    assert "!" not in honesty.line("coin", [honest])
    assert honesty.line("coin", [flattering]).count("!") == 2
    assert "loss -0.1000 ± 0.0100" in honesty.overall([[flattering]])
