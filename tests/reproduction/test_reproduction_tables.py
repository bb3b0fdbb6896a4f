"""Every table, computed small on bundled data."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from small_scope import SMALL, STUDY, WINE

from reproduction.scope import Scope
from reproduction.tables.layout import PRINTED
from solah import PAPER, LinguisticTreeClassifier, datasets

pytestmark = pytest.mark.slow


def rows_of(table, **words):
    return [r for r in table["rows"] if all(r.get(key) == word for key, word in words.items())]


def test_a_study_has_the_papers_lines_and_ours(run):
    table = run("sms20")["iris"]
    models = list(dict.fromkeys(row["model"] for row in table["rows"]))
    assert models == [
        "SOLAH",
        "two clusters",
        "the paper's best by hand, not given in its text",
        "single tree",
    ]
    (printed,) = rows_of(table, model="SOLAH", settings=PRINTED)
    assert printed["branches"] == 30
    for settings in ("PAPER", "default"):
        for model in ("SOLAH", "two clusters", "single tree"):
            (row,) = rows_of(table, model=model, settings=settings)
            assert row["accuracy"] > 0.85
            assert row["auc"] > 0.9
            assert 0 < row["rules"] <= row["branches"]
            assert row["seconds"] > 0
        (solah,) = rows_of(table, model="SOLAH", settings=settings)
        if settings == "PAPER":
            assert solah["chosen"]["n_clusters"] in range(1, 11)
            assert solah["chosen"]["candidates"] > 1
            assert solah["choosing_seconds"] > 0
        else:  # neither k nor theta is chosen
            assert solah["chosen"] is None
        assert rows_of(table, model="two clusters", settings=settings)[0]["levels"] == 3


def test_the_single_tree_of_a_study_is_what_scikit_learn_measures(run):
    iris = datasets.load("iris")
    tree = LinguisticTreeClassifier.with_settings(PAPER)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    accuracy = cross_val_score(tree, iris.X, iris.y, cv=folds).mean()
    (row,) = rows_of(run("sms14")["iris"], model="single tree", settings="PAPER")
    assert row["accuracy"] == pytest.approx(accuracy)
    assert row["branches"] == tree.fit(iris.X, iris.y).n_branches_


def test_a_sweep_has_every_k(run):
    table = run("sweep14", scope=replace(SMALL, sms14=replace(STUDY, name="iris")))["iris"]
    assert [row["k"] for row in rows_of(table, settings="PAPER")] == [2, 3]
    assert [row["clusters"] for row in rows_of(table, settings=PRINTED)] == [2, 2]
    assert all(row["clusters"] >= 1 for row in rows_of(table, settings="PAPER"))


def test_differences_of_databases_are_named(run):
    table = run("databases")["databases"]
    wine, wdbc, iris = table["rows"]
    assert (wine["difference"], wine["counts"]) == ("nothing", [71, 59, 48])
    assert wdbc["difference"].startswith("features: the paper's 569 rows")
    assert wdbc["paper_features"] == 9
    assert wdbc["features"] == 30
    assert iris["difference"] == "features, rows, classes' sizes"


def test_solah_against_the_tree(run):
    scope = replace(SMALL, databases=(WINE, SMALL.databases[2]))
    table = run("ldt", scope=scope)["ldt"]
    (wine,) = rows_of(table, name="wine", model="SOLAH", settings="PAPER")
    (iris,) = rows_of(table, name="iris", model="single tree", settings="PAPER")
    assert (wine["folds"], iris["folds"]) == (3, 2)
    assert wine["accuracy"] > 0.9
    means = [row for row in table["rows"] if row["data"].startswith("mean")]
    assert [(row["model"], row["settings"]) for row in means] == [
        (model, settings)
        for model in ("SOLAH", "single tree")
        for settings in (PRINTED, "PAPER", "default")
    ]
    assert means[0]["accuracy"] == pytest.approx((1.00 + 0.95) / 2)


def test_the_comparison(run):
    tables = run("comparison", scope=replace(SMALL, databases=SMALL.databases[::2]))
    wine, iris = tables["comparison"]["rows"]
    keys = [column["key"] for column in tables["comparison"]["columns"][1:]]
    assert keys == [
        "entropy-tree",
        "naive-bayes",
        "neural-network",
        "optlah paper",
        "solah paper",
        "solah default",
        "solah-auto paper",
    ]
    for key in keys:
        assert 75 < wine[key][0] <= 100
        assert iris[key][1] >= 0
    standing = tables["comparison-standing"]
    ranks = [row["rank"] for row in standing["rows"] if "rank" in row]
    assert np.sum(ranks) == pytest.approx(6 * 7 / 2)
    assert standing["rows"][3]["learning_seconds"] > standing["rows"][6]["learning_seconds"]
    assert 0 <= standing["facts"]["p_value"] <= 1
    assert tables["comparison-printed"]["rows"][0]["solah"] == [98.17, 2.95]


@pytest.mark.shared
def test_the_papers_branches_on_its_text_messages(run, shared_data):
    table = run("sms14", scope=Scope())["sms14"]
    for title, branches, accuracy in (
        ("SOLAH of the paper's text, wired by hand", 339, 0.9555),
        ("LAH-SMS14-1 of the paper's source", 154, 0.9356),
        ("single tree", 591, 0.9609),
    ):
        (row,) = rows_of(table, model=title, settings="PAPER")
        assert row["branches"] == branches
        assert row["accuracy"] == pytest.approx(accuracy, abs=0.003)
    for settings in ("PAPER", "default"):
        (row,) = rows_of(table, model="SOLAH", settings=settings)
        assert row["accuracy"] > 0.93
