"""The C that is written decides as its Python simulator, bit for bit, and as the model, nearly."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from c_programs import CPP11, ESTIMATE, build, estimate
from export_shapes import ALL_SHAPES
from golden_files import check_golden
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from random_models import odd_rows, random_model, without_first_class
from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
)
from solah.data import from_frame
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.model.encode import encode


@pytest.mark.parametrize("numbers", ["float", "q15"])
@given(st.integers(0, 2**32), st.sampled_from(ALL_SHAPES), st.integers(2, 5), st.booleans())
def test_beliefs_are_shares_and_rows_independent(numbers, seed, shape, n_classes, is_sparse):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    simulator = export_c(
        without_first_class(model) if is_sparse else model, numbers=numbers
    ).simulator
    rows = odd_rows(rng, model, 40)
    places, beliefs = simulator.decide(rows)
    one = 1.0 if numbers == "float" else 32768
    assert (beliefs >= 0).all()
    assert (beliefs <= one).all()
    assert beliefs.sum(axis=1) / one == pytest.approx(1.0, abs=1e-5)
    for i in range(0, len(rows), 5):
        place, belief = simulator.decide(rows[i : i + 1])
        assert place[0] == places[i]
        assert belief.tobytes() == beliefs[i].tobytes()


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_the_analyzer_finds_nothing(numbers, tmp_path, find_tool):
    model = random_model(np.random.default_rng(2), "words", 3)
    export = export_c(model, name="m", numbers=numbers)
    gcc = find_tool("gcc")
    build(export, tmp_path, gcc, flags=("-O2", "-fanalyzer"))


def test_large_numbers_are_estimated_in_coarse_units(tmp_path, find_tool):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = LinguisticTreeRegressor(max_depth=2).fit(X, 1e6 * y)
    export = export_c(tree.model_, name="m", numbers="q15")
    assert export.unit > 1
    rows = encode(from_frame(X), tree.model_.features)
    found = estimate(build(export, tmp_path, find_tool("cc"), ESTIMATE), export, rows)
    np.testing.assert_array_equal(found, export.simulator.estimate(rows))
    assert found * export.unit == pytest.approx(tree.predict(X), rel=0.01)


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_the_source_is_cpp_too_and_names_are_harmless(numbers, tmp_path, find_tool):
    data = pd.DataFrame(
        {
            'a */ "quote" \\': [1.0, 2.0, 3.0, 4.0] * 5,
            "größe ??/": ["klein", "groß"] * 10,
            "größe (": [0.0, 1.0, 2.0, 5.0] * 5,
            "int": [5.0, 6.0, 5.0, 7.0] * 5,
        }
    )
    target = pd.Series(['no "?"', "ja\\nein 👍"] * 10, name="target /* */")
    tree = LinguisticTreeClassifier(min_support=1).fit(data, target)
    export = export_c(tree.model_, name="m", numbers=numbers)
    build(export, tmp_path, find_tool("cc"))
    subprocess.run([find_tool("c++"), *CPP11, "-c", "m.c", "-o", "m.o"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_what_is_written_changes_only_on_purpose(numbers):
    model = random_model(np.random.default_rng(1), "words and pairs", 3)
    files = export_c(model, name="sample", numbers=numbers, style="tables").files
    check_golden(numbers, files, "sample.h", "sample.c")


@pytest.mark.parametrize("name", ["", "2nd", "a-b", "int", "naïve", "x" * 41])
def test_a_name_must_be_one_in_c(name):
    model = random_model(np.random.default_rng(0), "tree")
    with pytest.raises(ParameterError, match="a name in C has letters"):
        export_c(model, name=name)


def test_other_numbers_are_refused():
    model = random_model(np.random.default_rng(0), "tree")
    with pytest.raises(ParameterError, match="'numbers' must be 'float' or 'q15'"):
        export_c(model, numbers="double")


def test_words_closer_than_a_step_are_warned_of():
    rng = np.random.default_rng(0)
    X = np.column_stack([1e6 + rng.normal(0, 1e-4, 200), rng.normal(size=200)])
    y = (X[:, 0] > 1e6).astype(int)
    model = LinguisticTreeClassifier(max_depth=1).fit(X, y).model_
    (warning,) = export_c(model, numbers="q15").warnings
    assert warning.startswith("'x0' is read in steps of ")
