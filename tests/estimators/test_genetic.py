"""The genetic search for hierarchies."""

import itertools

import distributed
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_wine

from organised_trees import organised
from solah import (
    PAPER,
    GeneticHierarchyClassifier,
    GeneticSearch,
    Hierarchy,
    LinguisticHierarchyClassifier,
)
from solah.exceptions import ColumnError, ParameterError
from solah.learn import evolution as search_module
from solah.learn.evolution import ROOT, Genome, Search, SearchSettings, Variation
from solah.model.format import to_json

SMALL = GeneticSearch(6, n_generations=4)
FEW = GeneticSearch(3, n_generations=1)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def found(wine):
    return GeneticHierarchyClassifier(SMALL, random_state=0).fit(*wine)


def test_history_is_ready_to_plot(found, wine):
    assert sorted(found.hierarchy_.features) == sorted(wine[0].columns)
    history = found.history_
    assert history["generation"].tolist() == [0, 1, 2, 3, 4]
    assert (np.diff(history["best"]) >= 0).all()
    assert (history["mean"] <= history["best"]).all()
    assert (np.diff(history["n_evaluated"]) >= 0).all()
    assert (np.diff(history["seconds"]) > 0).all()
    assert history["best"][-1] == found.best_score_
    start = organised().fit(*wine).hierarchy_
    alone = GeneticSearch(2, n_elite=1, n_generations=0, initial=[start, start])
    assert found.best_score_ >= GeneticHierarchyClassifier(alone).fit(*wine).best_score_
    assert found.stop_reason_ == "generations"


def test_a_seed_decides_and_no_backend_does(wine):
    X, y = wine
    alone = GeneticHierarchyClassifier(FEW, random_state=0).fit(X, y)
    again = GeneticHierarchyClassifier(FEW, random_state=0, n_jobs=2)
    for backend in ("threading", "loky", "multiprocessing"):  # the last returns all at once
        with parallel_config(backend):
            assert to_json(again.fit(X, y).model_) == to_json(alone.model_)
    np.testing.assert_array_equal(again.history_["best"], alone.history_["best"])
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "localhost:0"}
    with distributed.Client(processes=False, **options), parallel_config("dask"):
        assert again.fit(X, y).hierarchy_ == alone.hierarchy_
    random = GeneticSearch(6, n_generations=2, initial="random")
    found = [GeneticHierarchyClassifier(random, random_state=seed).fit(X, y) for seed in range(3)]
    assert len({to_json(one.model_) for one in found}) > 1


def test_ties_are_broken_in_one_way():
    """Small data, few different scores: the order in which they come in must not matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    y = (X[:, 0] > 0).astype(int)
    search = GeneticSearch(8, n_generations=2, scoring="accuracy")

    def found(seed, n_jobs):
        model = GeneticHierarchyClassifier(search, random_state=seed, n_jobs=n_jobs)
        return model.fit(X, y).hierarchy_

    with parallel_config("threading"):
        for seed in range(6):
            assert found(seed, 1) == found(seed, 3)


def test_a_time_budget_ends_processes_in_silence(wine):
    search = GeneticSearch(30, time_budget=0.05)
    model = GeneticHierarchyClassifier(search, random_state=0, n_jobs=2, **PAPER).fit(*wine)
    assert model.stop_reason_ == "time budget"
    by_hand = LinguisticHierarchyClassifier(model.hierarchy_, **PAPER).fit(*wine)
    assert to_json(by_hand.model_) == to_json(model.model_)


def test_cascades_only(wine):
    search = GeneticSearch(6, n_generations=4, cascade=True, max_inputs=4)
    model = GeneticHierarchyClassifier(search, random_state=0).fit(*wine)
    nodes = {node.name for node in model.hierarchy_.nodes}
    assert all(len(nodes.intersection(node.inputs)) < 2 for node in model.hierarchy_.nodes)
    assert sorted(model.hierarchy_.features) == sorted(wine[0].columns)


def test_it_starts_from_hierarchies_of_the_user(wine):
    X, y = wine
    half = [f'"{name}"' for name in X.columns]
    given = f"z1 <- {', '.join(half[:6])}; y <- z1, {', '.join(half[6:])}"
    search = GeneticSearch(2, n_generations=0, n_elite=1, initial=[given] * 2)
    model = GeneticHierarchyClassifier(search, random_state=0).fit(X, y)
    assert model.hierarchy_.levels == (("z1",), ("target",))
    with pytest.raises(ColumnError, match="no column 'sugar'"):
        GeneticHierarchyClassifier(GeneticSearch(2, n_elite=1, initial=["y <- sugar"])).fit(X, y)
    for wrong in (5, ["x0", "x1"], b"y <- x0"):
        with pytest.raises(ParameterError, match="'initial' must be 'organised', 'random' or a li"):
            GeneticHierarchyClassifier(GeneticSearch(2, initial=[wrong], n_elite=1)).fit(X, y)


def test_too_few_rows_are_learned_from_without_a_search():
    model = GeneticHierarchyClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert model.stop_reason_ == "too few rows"
    assert np.isnan(model.best_score_)
    assert len(model.history_["best"]) == 0
    assert model.predict([[0.0, 1.0]]) == [0]


def test_a_progress_bar_with_the_best_so_far(wine, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    GeneticHierarchyClassifier(FEW, verbose=True, random_state=0).fit(*wine)
    shown = capsys.readouterr().err
    assert "2/2 generations" in shown
    assert "best 0.9" in shown


def test_an_interrupt_keeps_the_best_so_far(wine, monkeypatch):
    from solah.learn.fitness import Fitness

    score, calls = Fitness.score, itertools.count()

    def interrupted(self, hierarchy):
        if next(calls) == 8:
            raise KeyboardInterrupt
        return score(self, hierarchy)

    monkeypatch.setattr(Fitness, "score", interrupted)
    model = GeneticHierarchyClassifier(SMALL, random_state=0).fit(*wine)
    assert model.stop_reason_ == "interrupted"
    assert model.best_score_ == model.history_["best"][-1]
    assert model.history_["n_evaluated"][-1] == 8
    calls = itertools.count(8)  # before anything is known, it stops
    with pytest.raises(KeyboardInterrupt):
        model.fit(*wine)


# The search itself, on a fitness that is known


NAMES = tuple("abcdefgh")


def settings(**changes):
    usual = {
        "population_size": 12,
        "n_generations": 60,
        "crossover_rate": 0.8,
        "mutation_rate": 0.3,
        "n_elite": 2,
        "tournament_size": 3,
        "n_iter_no_change": None,
        "time_budget": None,
    }
    return SearchSettings(**(usual | changes))


def search_for(target, **changes):
    """Search for a hierarchy that clusters features like the target does."""
    pairs = together(target)
    scored = []

    def score(hierarchies):
        for hierarchy in hierarchies:
            scored.append(hierarchy)
            yield hierarchy, -float(len(pairs ^ together(hierarchy)))

    search = Search(
        Variation(len(NAMES), max_inputs=8),
        lambda genome: genome.hierarchy(NAMES, "y"),
        score,
        settings(**changes),
        np.random.default_rng(0),
        lambda generation: None,
    )
    reason = search.run([])
    return search, reason, scored


def together(hierarchy):
    clusters = [hierarchy.features_of(node.name) for node in hierarchy.nodes]
    return {pair for cluster in clusters for pair in itertools.combinations(cluster, 2)}


TARGET = Hierarchy.parse("z1 <- a, d, g; z2 <- b, h; y <- z1, z2, c, e, f")


def test_the_search_finds_clusters_that_it_is_rewarded_for():
    search, reason, scored = search_for(TARGET)
    assert reason == "generations"
    assert search.known[search.best] == 0.0
    assert together(search.best) == together(TARGET)
    assert len(scored) == len(set(scored)), "a hierarchy was scored twice"


def test_it_stops_where_nothing_gets_better_or_time_is_over(monkeypatch):
    search, reason, _ = search_for(TARGET, n_iter_no_change=3)
    assert reason == "no change"
    assert search.history[-1].best == search.history[-4].best
    clock = itertools.count()
    monkeypatch.setattr(search_module, "perf_counter", lambda: float(next(clock)))
    search, reason, scored = search_for(TARGET, time_budget=20.0)
    assert reason == "time budget"
    assert 0 < len(scored) < 25
    assert search.best in scored


def test_of_equally_fit_hierarchies_the_simplest_is_best():
    search = Search(None, None, None, settings(), None, lambda generation: None)
    simple = Genome(((0, 1, 2),), (ROOT,)).hierarchy("abc", "y")
    nested = Genome(((0, 1), (2,)), (1, ROOT)).hierarchy("abc", "y")
    search.known = {nested: 0.5, simple: 0.5}
    assert search.best == simple
