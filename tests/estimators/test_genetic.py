"""The genetic search for hierarchies."""

import itertools

import distributed
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

from organised_trees import organised
from solah import (
    PAPER,
    GeneticHierarchyClassifier,
    GeneticSearch,
    Hierarchy,
    LinguisticHierarchyClassifier,
    load_model,
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


def test_every_attribute_feeds_a_tree(found, wine):
    assert sorted(found.hierarchy_.attributes) == sorted(wine[0].columns)


def test_history_is_ready_to_plot(found):
    history = found.history_
    assert history["generation"].tolist() == [0, 1, 2, 3, 4]
    assert (np.diff(history["best"]) >= 0).all()
    assert (history["mean"] <= history["best"]).all()
    assert (np.diff(history["n_evaluated"]) >= 0).all()
    assert (np.diff(history["seconds"]) > 0).all()
    assert history["best"][-1] == found.best_score_
    assert found.stop_reason_ == "generations"


def test_it_is_at_least_as_fit_as_what_it_starts_from(found, wine):
    X, y = wine
    start = organised().fit(X, y).hierarchy_
    alone = GeneticHierarchyClassifier(
        GeneticSearch(2, n_elite=1, n_generations=0, initial=[start, start])
    )
    assert found.best_score_ >= alone.fit(X, y).best_score_


def test_a_seed_decides_and_jobs_do_not(wine):
    X, y = wine

    def document(n_jobs=None, random_state=0, **changes):
        search = GeneticSearch(6, n_generations=2, **changes)
        model = GeneticHierarchyClassifier(search, random_state=random_state, n_jobs=n_jobs)
        return to_json(model.fit(X, y).model_)

    with parallel_config("threading"):
        assert document() == document(n_jobs=2)
    assert len({document(random_state=seed, initial="random") for seed in range(3)}) > 1


def test_processes_find_the_same(wine):
    X, y = wine
    search = GeneticSearch(4, n_generations=1)
    models = [
        clone(GeneticHierarchyClassifier(search, random_state=1, n_jobs=n)).fit(X, y)
        for n in (1, 2)
    ]
    assert models[0].hierarchy_ == models[1].hierarchy_
    np.testing.assert_array_equal(models[0].history_["best"], models[1].history_["best"])


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


def test_backends_that_return_all_at_once(wine):
    X, y = wine
    alone = GeneticHierarchyClassifier(FEW, random_state=0).fit(X, y)
    with parallel_config("multiprocessing"):
        many = GeneticHierarchyClassifier(FEW, random_state=0, n_jobs=2).fit(X, y)
    assert many.hierarchy_ == alone.hierarchy_


def test_a_dask_cluster_finds_the_same(wine):
    X, y = wine
    alone = GeneticHierarchyClassifier(FEW, random_state=0).fit(X, y)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(processes=False, **options), parallel_config("dask"):
        model = GeneticHierarchyClassifier(FEW, random_state=0, n_jobs=-1).fit(X, y)
    assert model.hierarchy_ == alone.hierarchy_


def test_a_time_budget_ends_processes_in_silence(wine):
    X, y = wine
    search = GeneticSearch(30, time_budget=0.05)
    model = GeneticHierarchyClassifier(search, random_state=0, n_jobs=2).fit(X, y)
    assert model.stop_reason_ == "time budget"
    assert model.predict(X).shape == (178,)


def test_cascades_only(wine):
    search = GeneticSearch(6, n_generations=4, cascade=True, max_inputs=4)
    model = GeneticHierarchyClassifier(search, random_state=0).fit(*wine)
    assert model.hierarchy_.is_cascade
    assert sorted(model.hierarchy_.attributes) == sorted(wine[0].columns)


def test_it_starts_from_hierarchies_of_the_user(wine):
    X, y = wine
    half = [f'"{name}"' for name in X.columns]
    given = f"z1 <- {', '.join(half[:6])}; y <- z1, {', '.join(half[6:])}"
    search = GeneticSearch(2, n_generations=0, n_elite=1, initial=[given] * 2)
    model = GeneticHierarchyClassifier(search, random_state=0).fit(X, y)
    assert model.hierarchy_.levels == (("z1",), ("target",))
    with pytest.raises(ColumnError, match="no column 'sugar'"):
        GeneticHierarchyClassifier(GeneticSearch(2, n_elite=1, initial=["y <- sugar"])).fit(X, y)


@pytest.mark.parametrize("wrong", [5, ["x0", "x1"], b"y <- x0"])
def test_what_is_no_hierarchy_is_refused(wine, wrong):
    with pytest.raises(ParameterError, match="'initial' must be 'organised', 'random' or a list"):
        GeneticHierarchyClassifier(GeneticSearch(2, initial=[wrong], n_elite=1)).fit(*wine)


def test_an_elite_that_leaves_no_room_is_refused(wine):
    with pytest.raises(ParameterError, match="'n_elite' must be less than 'population_size'"):
        GeneticHierarchyClassifier(GeneticSearch(3, n_elite=3)).fit(*wine)


def test_the_settings_of_the_paper(wine):
    model = GeneticHierarchyClassifier(FEW, random_state=0, **PAPER).fit(*wine)
    assert model.score(*wine) > 0.9
    by_hand = LinguisticHierarchyClassifier(model.hierarchy_, **PAPER).fit(*wine)
    assert to_json(by_hand.model_) == to_json(model.model_)


def test_other_models_at_the_nodes(wine):
    model = GeneticHierarchyClassifier(FEW, node=GaussianNB(), random_state=0)
    X, y = wine
    X = X[["alcohol", "hue", "proline"]]
    assert model.fit(X, y).score(X, y) > 0.8
    assert not hasattr(model, "model_")


def test_saves_and_loads(found, wine, tmp_path):
    found.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(wine[0]), found.predict_proba(wine[0]))


def test_too_few_rows_are_learnt_from_without_a_search():
    model = GeneticHierarchyClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert model.stop_reason_ == "too few rows"
    assert np.isnan(model.best_score_)
    assert len(model.history_["best"]) == 0
    assert model.predict([[0.0, 1.0]]) == [0]


def test_one_attribute():
    X, y = load_iris(return_X_y=True)
    model = GeneticHierarchyClassifier(SMALL, random_state=0).fit(X[:, 2:3], y)
    assert str(model.hierarchy_) == "class <- x0"


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
    assert model.predict(wine[0]).shape == (178,)


def test_an_interrupt_before_anything_is_known_stops(wine, monkeypatch):
    from solah.learn.fitness import Fitness

    def interrupted(self, hierarchy):
        raise KeyboardInterrupt

    monkeypatch.setattr(Fitness, "score", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GeneticHierarchyClassifier(SMALL, random_state=0).fit(*wine)


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
    """Search for a hierarchy that clusters attributes like the target does."""
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
    clusters = [hierarchy.attributes_of(node.name) for node in hierarchy.nodes]
    return {pair for cluster in clusters for pair in itertools.combinations(cluster, 2)}


TARGET = Hierarchy.parse("z1 <- a, d, g; z2 <- b, h; y <- z1, z2, c, e, f")


def test_the_search_finds_clusters_that_it_is_rewarded_for():
    search, reason, scored = search_for(TARGET)
    assert reason == "generations"
    assert search.known[search.best] == 0.0
    assert together(search.best) == together(TARGET)
    assert len(scored) == len(set(scored)), "a hierarchy was scored twice"


def test_it_stops_where_nothing_gets_better():
    search, reason, _ = search_for(TARGET, n_iter_no_change=3)
    assert reason == "no change"
    assert search.history[-1].best == search.history[-4].best


def test_it_stops_when_the_time_is_over(monkeypatch):
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
