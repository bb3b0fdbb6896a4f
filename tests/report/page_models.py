"""Models of every shape for the tests of the report page, and rows to try them on."""

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

import random_models
from solah import (
    PAPER,
    Hierarchy,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    datasets,
)
from solah.data import Column, Table, from_array
from solah.model.predictor import Predictor
from solah.report import summarise_page

WINE_WIRING = (
    "z1 <- alcohol, hue; z2 <- ash, z1, proline; z3 <- flavanoids; class <- z2, z3, magnesium"
)


def mixed_table(n_rows=160, seed=5):
    """Return rows of every kind of column, with missing values, and a class of each."""
    random = np.random.default_rng(seed)
    colour = random.choice(np.array(["red", "green", "blue", None], dtype=object), n_rows)
    size = np.where(random.random(n_rows) < 0.15, np.nan, random.normal(10, 3, n_rows))
    stars = random.integers(1, 5, n_rows).astype(float)
    washed = random.choice(np.array(["yes", "no"], dtype=object), n_rows)
    score = np.nan_to_num(size, nan=10) - 3 * (colour == "red") + stars
    target = np.where(score > 12.5, "good", np.where(score > 9, "fair", "poor")).astype(object)
    columns = (
        Column("colour", colour),
        Column("size cm", size),
        Column("stars", stars),
        Column("washed", washed),
    )
    return Table(columns, n_rows), target


def many_columns(n_columns=60, n_rows=200, seed=3):
    """Return a stand-in for the sonar data: many numbers, two classes."""
    random = np.random.default_rng(seed)
    target = random.integers(0, 2, n_rows)
    values = random.normal(size=(n_rows, n_columns)) + target[:, None] * random.random(n_columns)
    return from_array(values, [f"band {i}" for i in range(n_columns)]), np.array(["a", "b"])[target]


def _wine(estimator):
    wine = datasets.load("wine")
    return estimator.fit(wine.table, wine.target).model_, wine.table, wine.target


def _diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    table = from_array(X.to_numpy(), list(X.columns))
    return LinguisticTreeRegressor(max_depth=2).fit(table, y.to_numpy()).model_, table, y.to_numpy()


def _breast_cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table = from_array(X.to_numpy(), list(X.columns))
    target = np.array(["malignant", "benign"])[y.to_numpy()]
    fitted = RuleClassifier(feature_groups=4, max_rules=60)
    return fitted.fit(table, target).model_, table, target


def _cascade():
    """Chain trees over few columns: beliefs pass from word to word within a piece of a reading."""
    table, target = many_columns(n_columns=5)
    first, second, *others = (f'"{name}"' for name in table.names)
    nodes = [f"z1 <- {first}, {second}"]
    nodes += [f"z{k} <- z{k - 1}, {name}" for k, name in enumerate(others, start=2)]
    wiring = Hierarchy.parse("; ".join(nodes))
    tree = LinguisticTreeClassifier(min_support=0.02)
    fitted = LinguisticHierarchyClassifier(wiring, tree=tree, belief_words=5)
    return fitted.fit(table, target).model_, table, target


def _mixed(estimator):
    table, target = mixed_table()
    kinds = {"stars": "ordinal"}
    return estimator.set_params(feature_types=kinds).fit(table, target).model_, table, target


def _iris():
    iris = datasets.load("iris")
    return LinguisticTreeClassifier().fit(iris.table, iris.target).model_, iris.table, iris.target


def _many():
    table, target = many_columns()
    fitted = RuleClassifier(feature_groups=None, interactions=0, max_rules=None)
    return fitted.fit(table, target).model_, table, target


def _additive(shape, n_classes=3, seed=7, link="identity"):
    """Return a random model of words with cores, pairs and groups, and rows for it."""
    rng = np.random.default_rng(seed)
    if n_classes:
        model = random_models.random_model(rng, shape, n_classes)
    else:
        model = random_models.random_number_model(rng, shape, link)
    table = random_models.as_table(model, random_models.random_rows(rng, model, 150))
    decided = Predictor(model).predict(table)
    target = decided if n_classes else decided + rng.normal(size=150)
    return model, table, target


_MAKERS = {
    "wine, weighed": lambda: _wine(RuleClassifier()),
    "wine, few rules": lambda: _wine(RuleClassifier(max_rules=12)),
    "wine, belief words": lambda: _wine(
        LinguisticHierarchyClassifier(
            WINE_WIRING, tree=LinguisticTreeClassifier(max_depth=3), belief_words=3
        )
    ),
    "a cascade": _cascade,
    "wine, the paper's": lambda: _wine(LinguisticHierarchyClassifier(WINE_WIRING, **PAPER)),
    "wine, weighed by hand": lambda: _wine(
        RuleClassifier(
            feature_groups={
                "colour": ["hue", "color_intensity"],
                "taste": ["alcohol", "flavanoids"],
            },
            thresholds={"class_2": 0.1},
        )
    ),
    "breast cancer": _breast_cancer,
    "iris, one tree": _iris,
    "a number": _diabetes,
    "mixed, one tree": lambda: _mixed(LinguisticTreeClassifier(max_depth=3)),
    "mixed, weighed": lambda: _mixed(
        RuleClassifier(feature_groups=None, interactions=0, max_rules=60)
    ),
    "many": _many,
    "words and pairs": lambda: _additive("words and pairs"),
    "groups": lambda: _additive("groups", n_classes=2),
    "a number, added up": lambda: _additive("groups", n_classes=0),
    "a number, by its logarithm": lambda: _additive("groups", n_classes=0, link="log"),
}

NAMES = list(_MAKERS)


@cache
def make(name):
    """Return a model, the rows it learned from, and their truth."""
    return _MAKERS[name]()


def random_rows(model, n_rows, seed=0):
    """Return rows within and beyond the ranges, with values missing and never seen."""
    random = np.random.default_rng(seed)
    columns = tuple(
        Column(feature.name, _random_readings(feature, n_rows, random))
        for feature in model.features
    )
    return Table(columns, n_rows)


def _random_readings(feature, n_rows, random):
    missing = random.random(n_rows) < 0.1
    if feature.is_coded:
        states = np.array([*map(str, feature.categories), "never seen", None], dtype=object)
        return random.choice(states, n_rows)
    low, high = feature.peaks[0], feature.peaks[-1]
    hysteresis = 0.1 * (high - low)
    return np.where(missing, np.nan, random.uniform(low - hysteresis, high + hysteresis, n_rows))


@cache
def summary_of(name):
    """Summarise a model and its rows for the page."""
    model, table, target = make(name)
    return summarise_page(model, table, target, source=name)


def settle(page):
    """Wait until the page has shown the last change: it does so with a frame, and a bit later."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 90)))")
