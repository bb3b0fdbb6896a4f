"""Models with a policy and a domain, and programs that judge rows with them, for tests."""

from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from random_models import odd_rows, random_model
from solah.model.policy import MOST_PAIRS, Cells, Domain, Policy, SeenTogether, n_cells


def random_policy(rng, n_classes):
    """Make a policy of any kind, which holds back and remembers more often than not."""

    def often(value, otherwise):
        return value if rng.random() < 0.7 else otherwise

    window = int(rng.integers(1, 8))
    return Policy(
        min_probability=often(tuple(rng.uniform(0.3, 0.8, n_classes).tolist()), ()),
        min_completeness=often(float(rng.uniform(0.2, 1)), 0.0),
        stays_in_range=bool(rng.random() < 0.5),
        max_unseen=often(int(rng.integers(0, 4)), None),
        smoothing=int(2 ** rng.integers(0, 9)),
        hysteresis=often(float(rng.uniform(0.0, 0.3)), 0.0),
        votes=int(rng.integers(1, window + 1)),
        window=window,
        min_hold=often(int(rng.integers(1, 6)), 1),
    )


def random_domain(rng, model):
    """Make a domain in which most cells occurred with most others."""
    cells = []
    for one in model.features:
        cuts = np.sort(rng.uniform(-3.0, 4.0, rng.integers(0, 6))).tolist()
        ends = (one.low, one.high, tuple(cuts)) if one.is_continuous else ()
        cells.append(Cells(one.name, *ends))
    sizes = [n_cells(one, of) for one, of in zip(model.features, cells, strict=True)]
    pairs = tuple(
        SeenTogether(
            cells[a].name,
            cells[b].name,
            tuple(map(tuple, (rng.random((sizes[a], sizes[b])) < 0.8).tolist())),
        )
        for a, b in islice(combinations(range(len(cells)), 2), MOST_PAIRS)
    )
    return Domain(tuple(cells), pairs)


def judged(rng, model):
    """Give a model a domain and a policy."""
    policy = random_policy(rng, len(model.target.classes))
    return replace(model, domain=random_domain(rng, model), policy=policy)


def judged_model(rng, shape, n_classes=3):
    """Make a model with a domain and a policy."""
    return judged(rng, random_model(rng, shape, n_classes))


STEADY = Policy(
    (0.4,) * 3, 0.5, False, 60, smoothing=4, hysteresis=0.02, votes=2, window=3, min_hold=2
)
"""A policy that holds back now and then, and settles on every one of three classes."""


def in_time(rng, model, n_rows):
    """Draw rows in the order of time: a row stays for a while, and some readings are odd."""
    kept = rng.random(n_rows) < 0.8
    kept[0] = False
    rows = odd_rows(rng, model, n_rows)
    return rows[np.maximum.accumulate(np.where(kept, 0, np.arange(n_rows)))]


def verdict_type(verdicts):
    """Return the type of what a program writes for each row."""
    belief = verdicts.beliefs.dtype.newbyteorder("<")
    return [
        *(("decision", "<i4"), ("settled", "<i4"), ("abstain_reasons", "u1"), ("n_unseen", "u1")),
        ("belief", belief, (verdicts.beliefs.shape[1],)),
    ]


def check_verdicts(printed, verdicts):
    """Assert that what a program wrote are the verdicts of the simulator, bit for bit."""
    found = np.frombuffer(printed, verdict_type(verdicts))
    bits = f"u{verdicts.beliefs.itemsize}"
    np.testing.assert_array_equal(
        np.ascontiguousarray(found["belief"]).view(bits), verdicts.beliefs.view(bits)
    )
    np.testing.assert_array_equal(found["abstain_reasons"], verdicts.abstain_reasons)
    np.testing.assert_array_equal(found["n_unseen"], verdicts.n_unseen)
    np.testing.assert_array_equal(found["decision"], verdicts.decisions)
    np.testing.assert_array_equal(found["settled"], verdicts.settled)
