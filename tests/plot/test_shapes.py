"""The page of shapes: what its lines, bands and heat maps show, and that scikit-learn agrees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.inspection import partial_dependence, permutation_importance

from random_models import ADDITIVE_SHAPES, random_model, random_number_model
from solah import LinguisticTreeClassifier, RuleClassifier, RuleRegressor
from solah.exceptions import DataError
from solah.explain.shapes import shapes_of
from solah.model.evaluate import trace
from solah.plot import shapes


@pytest.fixture(scope="module")
def wages():
    rng = np.random.default_rng(2)
    n = 400
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 65, n),
            "skill": rng.normal(size=n),
            "town": rng.integers(3, size=n),
        }
    )
    X["town"] = X.town.map(["north", "south", "west"].__getitem__)
    y = X.age / 10 + X.skill * (X.age > 40) + (X.town == "west") + rng.normal(0, 0.2, n)
    model = RuleRegressor(words="quantile", interactions=[("age", "skill")], max_rules=24)
    return model.fit(X, y).estimate_uncertainty(X, y), X, y


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_shape_is_what_its_term_adds(shape, n_classes):
    rng = np.random.default_rng(n_classes)
    model = random_model(rng, shape, n_classes) if n_classes else random_number_model(rng, shape)
    names = [one.name for one in model.features]
    numbers = {part: number for part, (_, number) in model.program.part_numbers.items()}
    for found in shapes_of(model):
        axes = [names.index(side.name) for side in found.sides]
        grids = np.meshgrid(*(side.knots for side in found.sides), indexing="ij")
        rows = np.full((grids[0].size, len(names)), np.nan)
        for axis, side, grid in zip(axes, found.sides, grids, strict=True):
            feature = model.features[axis]
            values = np.array(feature.peaks)[grid.ravel().astype(int)] if side.labels else grid
            rows[:, axis] = values.ravel()
        added = trace(model.program, rows)[-1].parts[numbers[found.name]].weights
        printed = added if n_classes != 2 else _difference(added, model, found)
        expected = printed.reshape(*grids[0].shape, -1)
        np.testing.assert_allclose(found.values, expected, atol=1e-9)
    shares = [one.share for one in shapes_of(model)]
    assert shares == sorted(shares, reverse=True)


def _difference(added, model, found):
    place = model.target.classes.index(found.classes[0])
    return added[:, [place]] - added[:, [1 - place]]


def test_lines_bands_and_heat_maps(wages):
    model, X, _ = wages
    for figure in (shapes(model, X), shapes(model, columns=2)):
        panels = {ax.get_title().split(" · ")[0]: ax for ax in figure.axes if ax.get_title()}
        assert set(panels) == {"age", "skill", "town", "age and skill"}
        found = {one.title: one for one in shapes_of(model.model_)}
        (line,) = (one for one in panels["age"].lines if len(one.get_xdata()) > 2)
        np.testing.assert_allclose(line.get_ydata(), found["age"].values[:, 0])
        assert panels["age"].collections, "the band"
        assert panels["age and skill"].get_xlabel() == "age"
        labels = [text.get_text() for text in panels["town"].get_xticklabels()]
        assert labels == ["north", "south", "west"]


def test_several_classes_have_a_line_each_and_one_legend():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=8).fit(X, y)
    figure = shapes(model, X)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "target=0",
        "target=1",
        "target=2",
    ]
    assert sum(ax.get_legend() is not None for ax in figure.axes) == 1
    with pytest.raises(DataError, match="only a sum of rules has shapes"):
        shapes(LinguisticTreeClassifier().fit(X, y))


def test_partial_dependence_is_the_shape_but_for_a_constant(wages):
    model, X, _ = wages
    town = next(one for one in shapes_of(model.model_) if one.title == "town")
    found = partial_dependence(model, X, ["town"], kind="average")
    order = [town.sides[0].labels.index(value) for value in found["grid_values"][0]]
    apart = found["average"][0] - town.values[order, 0]
    assert apart == pytest.approx(np.full(3, apart[0]), abs=1e-9)


def test_permutation_importance_ranks_features_as_the_model_does(wages):
    model, X, y = wages
    found = permutation_importance(model, X, y, n_repeats=5, random_state=0)
    own = model.feature_importances_
    assert np.argsort(found.importances_mean).tolist() == np.argsort(own).tolist()
