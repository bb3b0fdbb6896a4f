"""Rules get other weights, which the program then has."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from random_models import any_model
from solah.export.online import _with_weights
from solah.model.program import Link


@given(seed=st.integers(0, 2**32 - 1))
def test_the_program_has_the_weights_that_rules_were_given(seed):
    rng, model = np.random.default_rng(seed), any_model(seed)
    wanted = {}
    for stage in model.program.stages:
        for term in stage.terms:
            n_rules = len(term.weights) + (term.missing is not None)
            weights = rng.dirichlet(np.ones(max(model.program.n_outputs, 2)), n_rules)
            weights = weights[:, : model.program.n_outputs]
            is_sum = stage.link is not Link.SHARES
            # Different rules stay different, and weights are 0 on average.
            centred = weights - weights.mean(axis=1, keepdims=True) * (weights.shape[1] > 1)
            wanted[term.name] = centred if is_sum else weights
    changed = _with_weights(model, wanted).program
    for before, after in zip(model.program.stages, changed.stages, strict=True):
        for old, new in zip(before.terms, after.terms, strict=True):
            np.testing.assert_array_equal(new.weights, wanted[new.name][: len(old.weights)])
            if old.missing is not None:
                np.testing.assert_array_equal(new.missing, wanted[new.name][-1])
