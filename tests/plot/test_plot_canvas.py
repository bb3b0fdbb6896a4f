"""What all pictures share: axes, names, colours, and a matplotlib that is not there."""

import json
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from solah import Hierarchy, LinguisticLabeller
from solah.exceptions import MissingExtraError, ParameterError
from solah.plot import HierarchyDisplay, ImportanceDisplay, WordsDisplay
from solah.plot.canvas import CLASS_COLOURS, add_legend, class_looks, ramp, shown

# How the colours of light are seen without the cones for red, green and blue: Machado,
# Oliveira and Fernandes (2009), "A physiologically-based model for simulation of color vision
# deficiency"; the last is full colour vision.
VISIONS = np.array(
    [
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
        np.eye(3),
    ]
)


def test_importing_the_pictures_does_not_import_matplotlib():
    code = "import solah.plot, sys, json; print(json.dumps('matplotlib' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False


def test_a_missing_matplotlib_is_answered_with_the_line_to_install_it(monkeypatch):
    labeller = LinguisticLabeller().fit([[0.5], [1.5], [2.5]])
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'solah\[plot\]'"):
        WordsDisplay.from_estimator(labeller, "x0")


def test_a_figure_is_made_only_where_no_axes_are_given():
    _, ax = plt.subplots()
    given_axes = ImportanceDisplay({"a": 1.0}).plot(ax)
    assert given_axes.ax_ is ax
    assert given_axes.figure_ is ax.figure
    assert len(plt.get_fignums()) == 1
    made = ImportanceDisplay({"a": 1.0}).plot()
    assert made.figure_ is not ax.figure
    assert len(plt.get_fignums()) == 2


def test_no_setting_of_the_user_is_touched():
    before = dict(mpl.rcParams)
    HierarchyDisplay.from_hierarchy(Hierarchy.parse("y <- a, b"))
    assert dict(mpl.rcParams) == before


def test_axes_that_are_none_are_refused():
    _, several = plt.subplots(1, 2)
    with pytest.raises(ParameterError, match="'ax' must be the Axes of a matplotlib figure"):
        ImportanceDisplay({"a": 1.0}).plot(several)


def test_names_with_dollars_and_underscores_are_no_formulas():
    display = ImportanceDisplay({"$a_b$": 0.6, "__c__ $x^2$": 0.4}).plot()
    display.figure_.canvas.draw()
    labels = display.ax_.get_yticklabels()
    assert [label.get_text() for label in labels] == ["$a_b$", "__c__ $x^2$"]
    assert not any(label.get_parse_math() for label in labels)


def test_a_legend_names_what_begins_with_an_underscore():
    _, ax = plt.subplots()
    lines = ax.plot([0, 1], [[0, 1], [1, 0]])
    texts = add_legend(ax, lines, ["_hidden_", "$seen$"]).get_texts()
    assert [text.get_text() for text in texts] == ["_hidden_", "$seen$"]


@given(st.text(), st.integers(5, 50))
def test_a_name_is_shown_on_one_line_and_is_not_too_long(name, most):
    text = shown(name, most)
    assert len(text) <= most
    assert "\n" not in text
    assert text.isprintable()
    if len(name) <= most and name.isprintable():
        assert text == name


@given(st.text("ab_$ é°", min_size=60, max_size=80))
def test_long_names_keep_both_ends(name):
    text = shown(name)
    assert text.startswith(name[:17])
    assert text.endswith(name[-17:])


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_words_have_colours_of_their_own(n):
    colours = ramp(n)
    assert len(set(colours)) == n
    assert colours[0] == "#2f6fa8"
    assert n == 1 or colours[-1] == "#b5532d"


def test_thirty_classes_look_different():
    looks = [tuple(sorted(look.items())) for look in class_looks(30)]
    assert len(set(looks)) == 30


def test_colours_of_classes_are_far_apart_for_every_kind_of_colour_vision():
    seen = [_lab(_light(colour) @ vision.T) for vision in VISIONS for colour in CLASS_COLOURS]
    seen = np.array(seen).reshape(len(VISIONS), len(CLASS_COLOURS), 3)
    for colours in seen:
        apart = np.linalg.norm(colours[:, None] - colours[None], axis=2)
        assert apart[np.triu_indices(len(colours), 1)].min() > 20


def _light(colour):
    share = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def _lab(light):
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
