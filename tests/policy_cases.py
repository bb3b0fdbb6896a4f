"""Models with domains and policies, by hand and at random."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from small_models import room_model
from solah.model.policy import Cells, Domain, Policy, SeenTogether, n_cells

POLICY = Policy(
    (0.7, 0.55), 0.5, True, 1, smoothing=4, hysteresis=0.1, votes=2, window=3, min_hold=5
)


def room():
    """A model with a domain and a policy."""
    cells = (Cells("CO2", 390.0, 1500.0, (600.0, 900.0)), Cells("door"))
    seen = ((True, False), (True, True), (False, True))
    domain = Domain(cells, (SeenTogether("CO2", "door", seen),))
    return replace(room_model(), domain=domain, policy=POLICY)


def random_domain(rng, model):
    """Make a domain of any cells for a model."""
    cells = []
    for one in model.features:
        cuts = np.cumsum(rng.uniform(0.1, 1.0, rng.integers(0, 16))) - 3.0
        ends = (one.low, one.high, tuple(cuts.tolist())) if one.is_continuous else ()
        cells.append(Cells(one.name, *ends))
    sizes = [n_cells(one, of) for one, of in zip(model.features, cells, strict=True)]
    places = rng.permutation(len(cells)).tolist()
    pairs = [
        SeenTogether(
            cells[a].name,
            cells[b].name,
            tuple(map(tuple, (rng.random((sizes[a], sizes[b])) < 0.5).tolist())),
        )
        for a, b in pairwise(places)
    ]
    return Domain(tuple(cells), tuple(pairs))


def policies(n_classes):
    """Draw policies of all kinds for a model with a domain and so many classes."""
    beliefs = st.tuples(*[st.floats(0, 1)] * n_classes)
    windows = st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))
    return st.builds(
        lambda votes, **rest: Policy(votes=votes[0], window=votes[1], **rest),
        votes=windows,
        min_probability=st.just(()) | beliefs,
        min_completeness=st.sampled_from([0.0, 0.3, 0.8]),
        stays_in_range=st.booleans(),
        max_unseen=st.none() | st.integers(0, 2),
        smoothing=st.sampled_from([1, 2, 8]),
        hysteresis=st.sampled_from([0.0, 0.1, 0.5]),
        min_hold=st.integers(1, 5),
    )
