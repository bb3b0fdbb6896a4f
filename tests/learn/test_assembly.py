"""What was settled becomes a model: centred evidence, true counts, the same decisions."""

import numpy as np
import pandas as pd
import pytest
from additive_cases import cases, make_frame, rows_of, settled
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solah.kernels.reference import masses
from solah.learn.all_rows import assemble, draft_rules
from solah.learn.assembly import name_groups
from solah.model.encode import encode_column
from solah.model.evaluate import predict
from solah.model.features import flatten

MIXED = ("number", "gaps", "coarse", "ordinal", "binary", "text", "text with gaps")


def softmax(scores):
    parts = np.exp(scores - scores.max(axis=1, keepdims=True))
    return parts / parts.sum(axis=1, keepdims=True)


def drafted(X, y, **parameters):
    rows = rows_of(X, y)
    structure = settled(rows, **parameters)
    assume(structure.live_singles)
    draft, _, _ = draft_rules(structure, rows)
    draft.take(structure.reduced.weights, structure.reduced.bias)
    return rows, structure, draft


def word_memberships(draft, structure):
    """Return, for each feature, how far its words describe the rows of the sample."""
    sample = structure.design.sample
    found = []
    for rules in draft.singles:
        readings = sample.readings[:, rules.term.vocabulary.place]
        of_sets = masses(readings, flatten([rules.feature]), 0)
        of_words = np.zeros((len(readings), len(rules.scores)))
        for place, word in enumerate(rules.words):
            of_words[:, word] += of_sets[:, place]
        found.append(of_words)
    return found


def totals_of(draft, memberships):
    """Add up the scores of rules for rows with all readings."""
    totals = np.tile(draft.bias, (len(memberships[0]), 1))
    for rules, words in zip(draft.singles, memberships, strict=True):
        totals += words @ rules.scores
    place_of = {id(rules): place for place, rules in enumerate(draft.singles)}
    for pair in draft.pairs:
        parts = []
        for side in (0, 1):
            words = memberships[place_of[id(pair.sides[side])]]
            n_parts = pair.scores.shape[side]
            parts.append(words @ np.equal.outer(pair.parts[side], np.arange(n_parts)))
        totals += np.einsum("ni,nj,ijc->nc", *parts, pair.scores)
    return totals


def known_rows(structure):
    places = [term.vocabulary.place for term in structure.live_singles]
    return ~np.isnan(structure.design.sample.readings[:, places]).any(axis=1)


@settings(max_examples=30)
@given(cases(kinds=MIXED, min_rows=60), st.integers(0, 5), st.sampled_from([8, 20, 200]))
def test_centred_evidence_is_nothing_on_average_and_decides_as_before(case, n_pairs, max_rules):
    _, structure, draft = drafted(*case, interactions=n_pairs, max_rules=max_rules)
    words, known = word_memberships(draft, structure), known_rows(structure)
    before = totals_of(draft, words)
    draft.centre()
    after = totals_of(draft, words)
    middle = before.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(after[known], (before - middle)[known], atol=1e-9)
    assert draft.bias.mean() == pytest.approx(0.0, abs=1e-12)
    sample = structure.design.sample
    for rules, of_words in zip(draft.singles, words, strict=True):
        missing = np.isnan(sample.readings[:, rules.term.vocabulary.place])
        evidence = of_words @ rules.scores
        if rules.missing_place is None:
            evidence, weights = evidence[~missing], sample.weights[~missing]
        else:
            evidence[missing], weights = rules.missing, sample.weights
        np.testing.assert_allclose(weights @ evidence / weights.sum(), 0.0, atol=1e-6)
        np.testing.assert_allclose(rules.scores.mean(axis=1), 0.0, atol=1e-12)
    for pair in draft.pairs:
        for_low = np.einsum("j,ijc->ic", pair.shares(1), pair.scores)
        for_high = np.einsum("i,ijc->jc", pair.shares(0), pair.scores)
        np.testing.assert_allclose(for_low, 0.0, atol=1e-9)
        np.testing.assert_allclose(for_high, 0.0, atol=1e-9)


@settings(max_examples=30)
@given(cases(kinds=MIXED, min_rows=60), st.integers(0, 5), st.sampled_from([8, 20, 200]))
def test_the_model_believes_what_the_scores_add_up_to(case, n_pairs, max_rules):
    X, y = case
    rows, structure, _ = drafted(X, y, interactions=n_pairs, max_rules=max_rules)
    model = assemble(structure, rows, {})
    totals = structure.reduced.of(structure.reduced_columns)
    found = predict(model, rows.draw(len(y)).table)
    known = known_rows(structure)
    np.testing.assert_allclose(found[known], softmax(totals)[known], atol=1e-6)


def fully_and_partly(feature, readings):
    """Return how far each word describes readings, as its cores say; a reader's own way."""
    found = np.zeros((len(readings), len(feature.cores)))
    for word, (low, high) in enumerate(feature.cores):
        found[(readings >= low) & (readings <= high), word] = 1.0
        if word:
            end = feature.cores[word - 1][1]
            ramp = (readings > end) & (readings < low)
            found[ramp, word] = (readings[ramp] - end) / (low - end)
            found[ramp, word - 1] = (low - readings[ramp]) / (low - end)
    return found


def assert_counts_are_true(model, table, truth, weights):
    """Count the rows of every rule as a reader would, and what they are."""
    assert model.terms
    for term in model.terms:
        lines, known = [], np.ones(table.n_rows, dtype=bool)
        for one in term.inputs:
            readings = encode_column(table, one.feature).astype(float)
            known &= ~np.isnan(readings)
            if one.feature.is_coded:
                of_words = np.equal.outer(readings, np.arange(len(one.feature.words)))
                lines.append(
                    np.stack([of_words[:, list(part)].any(axis=1) for part in one.parts], 1)
                )
            else:
                lines.append(fully_and_partly(one.asked, readings))
        share = np.where(known, weights, 0.0)
        grid = "ni,nj->nij" if len(lines) == 2 else "ni->ni"
        cells = np.einsum(grid, *(line.astype(float) for line in lines))
        counts = np.tensordot(share, cells, 1)
        np.testing.assert_allclose(term.counts, counts, atol=1e-4)
        told = np.tensordot(cells, share[:, None] * truth, (0, 0))
        filled = counts > 1e-3
        shares = told[filled] / counts[filled][:, None]
        np.testing.assert_allclose(term.shares[filled], shares, atol=1e-4)
        if term.missing is not None:
            assert term.missing.support == pytest.approx(weights[~known].sum(), abs=1e-6)
            expected = weights[~known] @ truth[~known] / weights[~known].sum()
            np.testing.assert_allclose(term.missing.belief, expected, atol=1e-6)


@settings(max_examples=25)
@given(
    cases(kinds=MIXED, min_rows=40),
    st.integers(0, 5),
    st.sampled_from([6, 15, 200]),
    st.sampled_from(["equal", "whole", "real"]),
)
def test_a_reader_finds_the_rows_of_every_rule(case, n_pairs, max_rules, weighing):
    """Support and shares are what the words say of the data; gaps are left out."""
    X, y = case
    rng = np.random.default_rng(len(y))
    weights = {
        "equal": np.ones(len(y)),
        "whole": rng.integers(1, 4, len(y)).astype(float),
        "real": rng.uniform(0.5, 2.0, len(y)),
    }[weighing]
    rows = rows_of(X, y, None if weighing == "equal" else weights)
    structure = settled(rows, interactions=n_pairs, max_rules=max_rules)
    assume(structure.live_singles)
    model = assemble(structure, rows, {})
    truth = (y[:, None] == np.array(model.target.classes)[None, :]).astype(float)
    assert_counts_are_true(model, rows.table, truth, weights)


def test_a_pair_of_states_is_counted_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(list("uvw"), 300) for name in ("a", "b")})
    y = np.where(((X["a"] == "u") ^ (X["b"] == "v")) ^ (rng.random(300) < 0.05), "one", "two")
    rows = rows_of(X, y)
    structure = settled(rows, interactions=1, max_rules=None)
    model = assemble(structure, rows, {})
    assert [len(term.inputs) for term in model.terms] == [1, 1, 2]
    truth = (y[:, None] == np.array(["one", "two"])[None, :]).astype(float)
    assert_counts_are_true(model, rows.table, truth, np.ones(300))
    right = np.array(["one", "two"])[predict(model, rows.table).argmax(axis=1)] == y
    assert right.mean() > 0.9


def test_groups_stand_between_features_and_the_target():
    X, y = make_frame(0, 200, ["number", "number", "number"], 2)
    rows = rows_of(X, y)
    structure = settled(rows, interactions=0, max_rules=None)
    model = assemble(structure, rows, {"both": ("number 0", "number 2")})
    (group,) = model.root.groups
    assert group.name == "both"
    members = [model.root.terms[number].features for number in group.terms]
    assert members == [("number 0",), ("number 2",)]
    assert [model.root.terms[number].features for number in model.root.ungrouped] == [("number 1",)]
    flat = assemble(structure, rows, {})
    np.testing.assert_allclose(predict(model, rows.table), predict(flat, rows.table), atol=1e-12)


def test_groups_are_named_after_their_members():
    named = dict(name_groups([["a", "b"], ["c"], list("defgh")]))
    assert named == {"a + b": ("a", "b"), "d + e + 3 more": tuple("defgh")}
