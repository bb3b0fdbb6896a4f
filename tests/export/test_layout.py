"""The layout of a program, as devices compute it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import any_model, random_model
from solah import RuleClassifier
from solah.exceptions import ParameterError
from solah.export.layout import lay_out


def with_level_pair():
    """Make a model whose first pair of features adds the same in all cells; return its name too."""
    model = random_model(np.random.default_rng(0), "words and pairs", 3)
    place, pair = next((i, one) for i, one in enumerate(model.terms) if len(one.inputs) == 2)
    level = replace(pair, weights=np.full_like(pair.weights, [0.5, -0.25, -0.25]), variance=0.0)
    terms = (level if one is pair else one for one in model.terms)
    return model.with_terms(terms), model.program.stages[-1].terms[place].name


def test_a_term_with_constant_weights_adds_to_the_start():
    model, name = with_level_pair()
    layout = lay_out(model)
    (stage,), (of_program,) = layout.stages, model.program.stages
    assert name not in [walk.name for walk in stage.walks]
    assert name not in [term for term, _ in layout.rules]
    baseline = of_program.baseline[1:] - of_program.baseline[0]
    assert stage.start == pytest.approx(baseline - 0.75)


@given(seed=st.integers(0, 200))
def test_walks_have_the_rules_of_the_program(seed):
    model = any_model(seed)
    layout = lay_out(model, only_walks=True)
    for stage, of_program in zip(layout.stages, model.program.stages, strict=True):
        for walk, term in zip(stage.walks, of_program.terms, strict=True):
            assert walk.name == term.name
            n_missing = int(term.missing is not None)
            assert len(walk.values) == len(term.weights) + n_missing
            reached = set(walk.child[walk.split < 0].tolist())
            assert reached == set(range(len(walk.values)))


def test_a_model_of_one_class_has_nothing_to_decide():
    fitted = RuleClassifier().fit([[1.0], [2.0]], ["off", "off"])
    with pytest.raises(ParameterError, match="one class only, 'off': there is nothing to decide"):
        lay_out(fitted.model_)
    with pytest.raises(ParameterError, match="train on rows of two classes at least"):
        fitted.partial_fit([[1.0]], ["off"])
