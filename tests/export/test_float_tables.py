"""What single precision cannot hold is refused by name; the rest decides as C does, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from c_programs import build, decide

from random_models import random_cored, random_model, random_rows, random_sum, random_term
from solah.data import Kind
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.model.evaluate import run


def model_over(rng, scale, offset):
    """Ask one feature alone, whose words lie at some place with some distance."""
    model = random_model(rng, "tree", 3)
    one = random_cored(np.random.default_rng(2), "x0", Kind.CONTINUOUS)
    cores = tuple((scale * low + offset, scale * high + offset) for low, high in one.cores)
    peaks = tuple(scale * peak + offset for peak in one.peaks)
    moved = replace(one, peaks=peaks, cores=cores, low=peaks[0], high=peaks[-1])
    root = random_sum(rng, "y", [random_term(rng, [moved], 3)], 3)
    target = replace(model.target, shares=(0.2, 0.3, 0.5))
    return replace(model, target=target, features=(moved, *model.features[1:]), nodes=(root,))


@pytest.mark.parametrize(("scale", "offset"), [(1e300, 0), (1e37, 0), (1e-38, 0), (1e-320, 0)])
def test_words_beyond_single_precision_are_refused(scale, offset):
    model = model_over(np.random.default_rng(0), scale, offset)
    with pytest.raises(ParameterError, match=r"'x0' has words from .* numbers='q15'"):
        export_c(model)


@pytest.mark.parametrize(("scale", "offset"), [(1e-9, 1e3), (1e-6, 1.0), (1e-4, 1e8), (1e-9, -7)])
def test_words_that_become_one_still_decide(scale, offset, tmp_path, find_tool):
    rng = np.random.default_rng(1)
    model = model_over(rng, scale, offset)
    export = export_c(model, name="m")
    rows = random_rows(rng, model, 200)
    far = 1.0 + abs(offset) / 100
    rows[:50, 0], rows[50:100, 0] = offset - far, offset + far  # on either side of all words
    places, beliefs = decide(build(export, tmp_path, find_tool("cc")), export, rows, 3)
    expected = export.simulator.decide(rows)
    np.testing.assert_array_equal(places, expected[0])
    assert np.isfinite(beliefs).all()
    assert beliefs.tobytes() == expected[1].tobytes()
    believed = run(model.program, rows)
    assert beliefs[:100] == pytest.approx(believed[:100], abs=1e-5)


def test_evidence_beyond_single_precision_is_refused():
    model = random_model(np.random.default_rng(2), "words and pairs", 3)
    first, *others = model.root.terms
    large = (replace(first, weights=1e38 * first.weights), *others)
    for changes in ({"terms": large}, {"baseline": (0.0, 1e300, 1.0)}):
        with pytest.raises(ParameterError, match=r"'y' adds up numbers as large as"):
            export_c(replace(model, nodes=(replace(model.root, **changes),)))


def test_slopes_beyond_single_precision_are_refused():
    model = model_over(np.random.default_rng(3), 1e-28, 0)
    steep = model.with_terms(replace(term, weights=1e15 * term.weights) for term in model.terms)
    with pytest.raises(ParameterError, match="too steep for float32"):
        export_c(steep)


def test_thresholds_may_be_tiny():
    rng = np.random.default_rng(4)
    model = random_model(rng, "tree", 3)
    model = replace(model, target=replace(model.target, thresholds=(0.5, 1e-300, 0.5)))
    places, _ = export_c(model).simulator.decide(random_rows(rng, model, 50))
    assert (places == 1).all()
