"""The fitness of hierarchies: cross-validation on rows described once."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import roc_auc_score

from organised_trees import organised
from solah import Hierarchy, LinguisticHierarchyClassifier
from solah.estimators.inputs import read_class_target, read_features
from solah.exceptions import DataError
from solah.labels.describe import describe_table
from solah.learn import fitness as fitness_module
from solah.learn.fitness import Memory
from solah.learn.memory import MemoryRows

WIRINGS = [
    Hierarchy.parse("z1 <- x0, x1; y <- z1, x2, x3"),
    Hierarchy.parse("z1 <- x0, x1; z2 <- x2; y <- z1, z2, x3"),
    Hierarchy.parse("y <- x0, x1, x2, x3"),
]


def prepare(scoring, X=None, y=None, sample_weight=None, n_folds=4):
    if X is None:
        X, y = load_iris(return_X_y=True)
    model = LinguisticHierarchyClassifier()
    table = read_features(model, X, reset=True)
    target = read_class_target(model, y, sample_weight, table.n_rows)
    data = MemoryRows(describe_table(table, model._word_settings(), target.weights, 1), target)
    return model._fitness(data, scoring, n_folds)


def out_of_fold(wiring, X, y):
    """Learn and decide fold by fold with the estimator itself."""
    beliefs = np.full((len(y), len(np.unique(y))), np.nan)
    for fold in prepare("auc").folds:
        train = np.setdiff1d(np.arange(len(y)), fold.tested)
        model = LinguisticHierarchyClassifier(wiring).fit(X[train], y[train])
        beliefs[fold.tested] = model.predict_proba(X[fold.tested])
    assert not np.isnan(beliefs).any(), "a row was not tested"
    return beliefs


def test_folds_are_stratified_and_know_no_order():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    folds = prepare("auc").folds
    shuffled = prepare("auc", X[order], y[order]).folds
    for fold, other in zip(folds, shuffled, strict=True):
        assert sorted(order[other.tested]) == sorted(fold.tested)
        assert np.bincount(y[fold.tested]).min() >= 10


@pytest.mark.parametrize("wiring", WIRINGS)
def test_the_score_is_that_of_a_cross_validation(wiring):
    X, y = load_iris(return_X_y=True)
    beliefs = out_of_fold(wiring, X, y)
    assert prepare("accuracy").score(wiring) == pytest.approx((beliefs.argmax(1) == y).mean())
    auc = np.mean([roc_auc_score(y == c, beliefs[:, c]) for c in range(3)])
    assert prepare("auc").score(wiring) == pytest.approx(auc, abs=1e-6)
    surprise = -np.log(beliefs[np.arange(len(y)), y].clip(np.finfo(float).eps)).mean()
    assert prepare("log_loss").score(wiring) == pytest.approx(-surprise, abs=1e-6)


def test_what_was_learned_before_does_not_change_a_score():
    shared = prepare("log_loss")
    for wiring in WIRINGS * 2:
        assert shared.score(wiring) == prepare("log_loss").score(wiring)


def test_a_shared_part_is_learned_once(monkeypatch):
    learned = []
    train = fitness_module.train_level

    def noted(nodes, *rows, **settings):
        learned.extend(node.name for node in nodes)
        return train(nodes, *rows, **settings)

    monkeypatch.setattr(fitness_module, "train_level", noted)
    fitness = prepare("auc")
    fitness.score(WIRINGS[0])
    assert learned == ["z1", "y"] * 4
    learned.clear()
    fitness.score(WIRINGS[1])
    assert learned == ["z2", "y"] * 4


def test_rows_without_weight_do_not_count():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, X[::-1]]), np.concatenate([y, (y[::-1] + 1) % 3])
    weights = np.repeat([1.0, 0.0], 150)
    weighted = prepare("accuracy", X, y, weights)
    assert weighted.score(WIRINGS[2]) == prepare("accuracy").score(WIRINGS[2])


def test_too_few_rows_cannot_be_compared():
    assert prepare("auc", np.eye(2, 4), np.array([0, 1])) is None


def test_memory_forgets_what_was_not_used_for_longest():
    memory = Memory(n_bytes=2 * 80)
    made = []

    def recall(key):
        return memory.recall(key, lambda: made.append(key) or np.zeros(10))

    for key in "ab" + "a" + "c" + "a" + "b":
        recall(key)
    assert made == ["a", "b", "c", "b"]


def test_a_fitness_that_travels_finds_one_memory_wherever_it_arrives():
    fitness = prepare("auc")
    score = fitness.score(WIRINGS[0])
    first, second = (pickle.loads(pickle.dumps(fitness)) for _ in range(2))
    assert first.folds[0].memory is second.folds[0].memory is not fitness.folds[0].memory
    assert first.folds[0].memory is not first.folds[1].memory
    assert first.score(WIRINGS[0]) == second.score(WIRINGS[0]) == score


def test_few_memories_of_others_are_kept():
    travelled = [pickle.loads(pickle.dumps(Memory(8))) for _ in range(40)]
    assert len(fitness_module._MEMORIES) == fitness_module._MAX_MEMORIES
    assert travelled[-1] is pickle.loads(pickle.dumps(travelled[-1]))


def test_what_stands_below_a_part_counts_with_it():
    X, y = load_iris(return_X_y=True)
    one = Hierarchy.parse("z1 <- x0, x1; z2 <- x2, x3; y <- z1, z2")
    other = Hierarchy.parse("z1 <- x2, x3; z2 <- x0, x1; y <- z2, z1")

    def fitness():
        model = LinguisticHierarchyClassifier(node={"z1": "cmac"})
        table = read_features(model, X, reset=True)
        target = read_class_target(model, y, None, table.n_rows)
        return model._fitness(
            MemoryRows(describe_table(table, model._word_settings(), target.weights, 1), target),
            "log_loss",
            3,
        )

    shared = fitness()
    assert [shared.score(h) for h in (one, other)] == [fitness().score(h) for h in (one, other)]


def test_an_error_in_a_fold_is_no_lack_of_rows():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.r_[1.0, np.zeros(149)]])
    model = organised(
        [2, 5],
        level_gap=[0.01, 1.0],
        words={"x4": ["off", "on"]},
        feature_types={"x4": "continuous"},
    )
    with pytest.raises(DataError, match="column 'x4' is constant"):
        model.fit(X, y)


# Choosing among several k and theta


@pytest.fixture(scope="module")
def chosen():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = organised([2, 3, 4], level_gap=("auto", 0.1), scoring="log_loss")
    return model.fit(X, y)


def test_the_best_candidate_is_trained(chosen):
    best = max(chosen.candidates_, key=lambda one: one.score)
    assert chosen.hierarchy_ == best.hierarchy
    assert chosen.n_clusters_ == len(best.clusters)
    assert chosen.selection_seconds_ > 0
    assert f"of {len(chosen.candidates_)} hierarchies" in chosen.selection_reason_
    assert {one.n_clusters for one in chosen.candidates_} <= {2, 3, 4}


def test_a_candidate_is_what_its_k_and_theta_lead_to(chosen):
    X, y = load_wine(return_X_y=True, as_frame=True)
    one = chosen.candidates_[-1]
    alone = organised(one.n_clusters, level_gap=one.level_gap).fit(X, y)
    assert alone.hierarchy_ == one.hierarchy
    assert alone.candidates_ == ()
    assert alone.selection_reason_ == ""
    assert alone.selection_seconds_ == 0.0


def test_wide_candidates_are_left_out_unless_all_are_wide():
    X, y = load_wine(return_X_y=True)

    def widths(max_inputs):
        model = organised(range(2, 7), max_inputs=max_inputs).fit(X, y)
        return [max(len(n.inputs) for n in one.hierarchy.nodes) for one in model.candidates_]

    everything = widths(None)
    limit = sorted(everything)[1]
    assert widths(limit) == [width for width in everything if width <= limit]
    assert widths(1) == everything
