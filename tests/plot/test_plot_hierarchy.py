"""The picture of a hierarchy: an outline with rules and shares, at any size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from solah import (
    Hierarchy,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    RuleClassifier,
)
from solah.exceptions import ParameterError
from solah.model.predictor import Predictor
from solah.plot import HierarchyDisplay
from solah.plot.hierarchy import outline_of, shares_of_nodes


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def weighed(wine):
    return RuleClassifier(feature_groups=None, interactions=0, max_rules=40).fit(*wine)


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def test_nodes_stand_below_the_one_that_hears_them():
    hierarchy = Hierarchy.parse("z1 <- a, b; z2 <- z1, c; z3 <- d; y <- z2, z3")
    nodes = outline_of(hierarchy)
    assert [(node.name, node.depth, node.parent) for node in nodes] == [
        ("y", 0, -1),
        ("z2", 1, 0),
        ("z1", 2, 1),
        ("z3", 1, 0),
    ]
    assert [node.line for node in nodes] == [0, 1, 2, 3]
    assert [node.attributes for node in nodes] == [(), ("c",), ("a, b",), ("d",)]


def test_every_node_has_its_rules_and_share(weighed):
    model = weighed.model_
    display = HierarchyDisplay.from_estimator(weighed)
    names = [node.name for node in display.outline_]
    assert names == ["target", *model.parts[-1].origins]
    rules = [bar.get_width() for bar in display.bars_["rules"]]
    shares = [bar.get_width() for bar in display.bars_["share"]]
    assert np.allclose(rules / max(rules), _shares([term.n_rules for term in model.terms]))
    expected = [shares_of_nodes(model)[name] for name in names[1:]]
    assert np.allclose(shares / max(shares), _shares(expected))
    assert f"adds up {len(names) - 1} parts" in texts(display)


def _shares(values):
    return np.array(values) / max(values)


def test_the_shares_of_trees_sum_to_one(weighed):
    assert sum(shares_of_nodes(weighed.model_).values()) == pytest.approx(1)


def test_a_single_tree_names_what_it_asks_and_counts_the_rest(wine):
    tree = LinguisticTreeClassifier(max_depth=1).fit(*wine)
    display = HierarchyDisplay.from_estimator(tree)
    assert [text.get_text() for text in display.names_] == ["target"]
    text = " ".join(text.get_text() for text in display.attributes_)
    assert text == "flavanoids, 12 never asked"
    assert list(display.bars_) == ["rules"]


def test_estimators_models_and_documents_show_the_same(weighed):
    expected = texts(HierarchyDisplay.from_estimator(weighed))
    for source in (weighed.model_, Predictor(weighed.model_)):
        assert texts(HierarchyDisplay.from_estimator(source)) == expected


def test_of_other_models_the_wiring_is_drawn(wine):
    X, y = wine
    wiring = "z1 <- alcohol, hue; y <- z1, ash"
    node = {"z1": LogisticRegression(max_iter=5000), "y": "tree"}
    mixed = LinguisticHierarchyClassifier(wiring, node=node).fit(X, y)
    display = HierarchyDisplay.from_estimator(mixed)
    assert [text.get_text() for text in display.attributes_] == ["ash", "alcohol, hue"]
    assert display.bars_ == {}


def long_names(n):
    return [f"sensor_{i}_$temp$ of the north-eastern inlet_valve (°C)" for i in range(n)]


def flat():
    nodes = {f"z{i}": [name] for i, name in enumerate(long_names(60))}
    return Hierarchy.from_dict({**nodes, "y": list(nodes)})


@pytest.mark.parametrize(
    "hierarchy",
    [
        flat(),
        Hierarchy.cascade(long_names(40)),
        Hierarchy.from_dict({"y": long_names(80)}),
        Hierarchy.from_dict({"a name that is far too long for any outline " * 2: ["x"]}),
    ],
    ids=["60 trees", "39 levels", "80 attributes", "a long name"],
)
def test_no_text_is_cut_and_none_touches_another(hierarchy):
    rules = {node.name: 1234 for node in hierarchy.nodes}
    shares = {node.name: 0.5 for node in hierarchy.nodes[:-1]}
    display = HierarchyDisplay(hierarchy, rules, shares).plot()
    assert_apart(display)


def test_the_picture_shrinks_to_axes_that_are_small():
    _, ax = plt.subplots(figsize=(6, 5))
    display = HierarchyDisplay(flat()).plot(ax)
    assert_apart(display)


def assert_apart(display):
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    boxes = [text.get_window_extent() for text in display.ax_.texts if text.get_text()]
    assert len(boxes) > 2
    for i, box in enumerate(boxes):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


@settings(max_examples=20)
@given(st.lists(st.text(min_size=1, max_size=50), min_size=2, max_size=15, unique=True))
def test_an_outline_names_every_attribute_that_has_room(names):
    names = [f"{i}{name}" for i, name in enumerate(names)]
    (node,) = outline_of(Hierarchy.from_dict({"the tree": names}))
    text = " ".join(node.attributes)
    if "more" not in node.attributes[-1]:
        assert all(f"{i}" in text for i in range(len(names)))
    assert node.n_lines <= 7


def test_errors_say_what_is_wrong():
    with pytest.raises(NotFittedError):
        HierarchyDisplay.from_estimator(RuleClassifier())
    with pytest.raises(ParameterError, match="a fitted estimator of solah"):
        HierarchyDisplay.from_estimator(LogisticRegression())
