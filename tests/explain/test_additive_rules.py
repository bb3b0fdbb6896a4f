"""Rules of models that add up: what is printed is enough to decide, to the printed precision."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    as_table,
    random_model,
    random_number_model,
    random_rows,
    random_term,
)
from solah import RuleClassifier
from solah.data import Kind
from solah.data.spelling import spell_number
from solah.explain import Explainer, rules_of, semantics_of
from solah.explain.contributions import Attributor
from solah.explain.explanation_text import lines_of
from solah.explain.legend import words_used
from solah.explain.traversal import TracedRows
from solah.labels.words import plain_names
from solah.model import AdditiveNode, MissingRule, Model, Target, Term, TermInput
from solah.model.evaluate import run
from solah.model.features import cored_feature, discrete_feature, phrase

SEEDS = st.integers(0, 2**32 - 1)


# --- from text alone ---------------------------------------------------------------------------


class Reader:
    """Decides on rows by what is printed of a model, and by nothing else."""

    def __init__(self, start, sentences, words, kinds):
        self.start, self.words, self.kinds = start, words, kinds
        self.rules = [self._read(one) for one in sentences]

    @staticmethod
    def amounts(text):
        """Read "bad +0.35", "a +0.1, b -0.1" or "power +12.3"."""
        return {state: float(amount) for state, amount in re.findall(r"(\S+) ([-+\d.e]+)", text)}

    def _read(self, sentence):
        sentence = sentence.partition(" | ")[0]
        if line := re.fullmatch(r"(\S+): (.*) (?:rises|falls) from .*", sentence):
            weights = re.findall(
                r"(\S+) (?:rises|falls) from (\S+)(?: at (\S+))? to ([^ ,]+)(?: at ([^ ,]+))?",
                sentence.removeprefix(f"{line[1]}: "),
            )
            _, _, start, _, end = weights[0]
            lows = {state: float(low) for state, low, *_ in weights}
            highs = {state: float(high) for state, *_, high, _ in weights}
            return line[1], (float(start), float(end)), lows, highs
        premise, effect = re.fullmatch(r"(?:if (.*)|always): (.*)", sentence).groups()
        conditions = [one.split(" is ", 1) for one in premise.split(" and ")] if premise else []
        return conditions, self.amounts(effect)

    def membership(self, name, called, reading):
        if reading is None or called in ("missing", "known"):
            return float((reading is None) == (called == "missing"))
        ranges = dict(self.words.get(name, ()))
        if called in ranges:
            return self._fit(ranges[called], reading)
        if name in self.words:
            return sum(self._fit(ranges[word], reading) for word in self._between(name, called))
        names = list(self.kinds[name])
        if called.startswith("not "):
            others = called.removeprefix("not ").split(" or ")
            meant = [word for word in names if word not in others]
        else:
            runs = [range(i, j) for i in range(len(names)) for j in range(i + 1, len(names) + 1)]
            run = next((one for one in runs if phrase(names, one) == called), None)
            meant = called.split(" or ") if run is None else [names[place] for place in run]
        return sum(self.kinds[name][word](reading) for word in meant)

    def _between(self, name, called):
        """Return the words that fit best somewhere within a range between crossovers."""
        low = re.match(r"above (\S+)|(\S+) to ", called)
        high = re.search(r"below (\S+)| to (\S+)", called)
        low = float(low[1] or low[2]) if low else -np.inf
        high = float(high[1] or high[2]) if high else np.inf
        peaks = {word: np.mean(self._core(text, 1e9)) for word, text in self.words[name]}
        return [word for word, peak in peaks.items() if low < peak < high]

    @staticmethod
    def _core(text, far=np.inf):
        core = text.partition(", fading")[0]
        if found := re.fullmatch(r"up to (\S+)", core):
            return -far, float(found[1])
        if found := re.fullmatch(r"from (\S+)", core):
            return float(found[1]), far
        found = re.fullmatch(r"(?:at )?(\S+)(?: to (\S+))?", core)
        return float(found[1]), float(found[2] or found[1])

    def _fit(self, text, reading):
        if text == "all values":
            return 1.0
        (low, high), (fading_in, fading_out) = self._core(text), self._fades(text)
        if low <= reading <= high:
            return 1.0
        near, far = (low, fading_in) if reading < low else (high, fading_out)
        return max(0.0, 1.0 - (reading - near) / (far - near))

    @staticmethod
    def _fades(text):
        start, stop = re.search(r"in from (\S+)", text), re.search(r"out by (\S+)", text)
        return (float(start[1]) if start else -np.inf, float(stop[1]) if stop else np.inf)

    def sums(self, row):
        total = dict(self.start)
        for name, ends, lows, highs in (rule for rule in self.rules if len(rule) == 4):
            for state, low in lows.items():
                if row[name] is not None:
                    added = np.interp(row[name], ends, (low, highs[state]))
                    total[state] = total.get(state, 0.0) + added
        for conditions, adds in (rule for rule in self.rules if len(rule) == 2):
            weight = np.prod([self.membership(*one, row[one[0]]) for one in conditions])
            for state, amount in adds.items():
                total[state] = total.get(state, 0.0) + weight * amount
        return total


def reader_of(model):
    rules = rules_of(model)
    words = {}
    for feature, word, text in words_used(rules):
        words.setdefault(feature, []).append((word, text))
    kinds = {
        one.name: {
            word: (
                lambda reading, one=one, place=place: np.interp(
                    reading, one.peaks, np.eye(len(one.peaks))[place]
                )
            )
            for place, word in enumerate(one.words)
        }
        for one in model.features
        if not one.is_continuous
    }
    start = Reader.amounts(rules.baseline.removeprefix("baseline: "))
    return Reader(start, str(rules).splitlines(), words, kinds)


def known_rows(rng, model, n_rows):
    """Draw rows whose readings are known, or missing where there is a rule for it."""
    rows = random_rows(rng, model, n_rows, missing=0.0)
    alone = {
        term.features[0]
        for term in model.terms
        if term.missing
        and not any(
            term.features[0] in other.features for other in model.terms if other is not term
        )
    }
    for j, feature in enumerate(model.features):
        if feature.name in alone:
            rows[rng.random(n_rows) < 0.3, j] = np.nan
    return rows


def log_odds(model, belief):
    scores = np.log(belief) - np.log(belief).mean()
    return scores[0] - scores[1] if len(belief) == 2 else scores


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
@given(seed=SEEDS, n_classes=st.integers(2, 3))
@settings(max_examples=15)
def test_a_decision_can_be_made_from_what_is_printed(shape, seed, n_classes):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    rows = known_rows(rng, model, 8)
    reader = reader_of(model)
    beliefs = run(model.program, rows)
    precision = 0.005 * (len(model.terms) + 1) + 0.04 * most_added(model)
    for row, belief in zip(rows, beliefs, strict=True):
        readings = dict(zip([a.name for a in model.features], row, strict=True))
        sums = reader.sums({name: None if np.isnan(x) else x for name, x in readings.items()})
        named = [sums.get(state, 0.0) for state in model.target.classes]
        found = named[0] - named[1] if n_classes == 2 else np.array(named)
        assert found == pytest.approx(log_odds(model, belief), abs=precision)


@given(seed=SEEDS)
@settings(max_examples=15)
def test_a_number_can_be_estimated_from_what_is_printed(seed):
    rng = np.random.default_rng(seed)
    model = random_number_model(rng, str(rng.choice(ADDITIVE_SHAPES)))
    rows = known_rows(rng, model, 8)
    reader = reader_of(model)
    estimates = run(model.program, rows)[:, 0]
    precision = 0.001 * (len(model.terms) + 1) + 0.04 * most_added(model)
    for row, estimate in zip(rows, estimates, strict=True):
        readings = dict(zip([a.name for a in model.features], row, strict=True))
        sums = reader.sums({name: None if np.isnan(x) else x for name, x in readings.items()})
        assert sums["power"] == pytest.approx(estimate, abs=precision)


def most_added(model):
    """Return how much terms may differ, of which rounded edges may move 2 % at each end."""
    spans = [
        np.ptp(one.weights.reshape(-1, model.target.size), axis=0).max() for one in model.terms
    ]
    inputs = [sum(bool(one.feature.cores) for one in term.inputs) for term in model.terms]
    return 2 * float(np.dot(spans, inputs))


# --- what is printed -----------------------------------------------------------------------------


def simple_model(target, weights, baseline, shares, missing=None, parts=((0,), (1,)), variance=0.7):
    distance = cored_feature(
        "distance", ("short", "long"), [(-np.inf, 0.8599999), (0.94, np.inf)], (0.4, 0.6), 0.1, 5.0
    )
    counts = np.array([274.0, 120.0])[: len(parts)]
    inputs = (TermInput(distance, parts),)
    term = Term(inputs, np.array(weights), np.array(shares), counts, variance, missing)
    return Model(target, (distance,), (AdditiveNode("y", baseline, (term,)),))


def test_two_classes_print_the_difference_for_the_rarer_one():
    target = Target("credit", ("good", "bad"), shares=(0.7, 0.3))
    missing = MissingRule(12.0, (0.8, 0.2), (0.05, -0.05))
    weights, shares = [(-0.175, 0.175), (0.21, -0.21)], [(0.51, 0.49), (0.9, 0.1)]
    model = simple_model(target, weights, (-0.255, 0.255), shares, missing)
    rules = rules_of(model)
    assert rules.baseline == "baseline: bad +0.51"
    assert str(rules).splitlines() == [
        "if distance is long: bad -0.42 | 120 rows, 10% bad (30% overall)",
        "if distance is short: bad +0.35 | 274 rows, 49% bad (30% overall)",
        "if distance is missing: bad -0.10 | 12 rows, 20% bad (30% overall)",
    ]
    assert [rule.short for rule in rules[:1]] == ["distance long: bad -0.42"]
    assert [rule.decision for rule in rules] == ["good", "bad", "good"]
    second = rules[1].to_dict()
    assert (second["share"], second["share_of"], second["support"]) == (0.49, "bad", 274.0)
    assert second["weights"] == {"bad": 0.35}
    assert list(words_used(rules)) == [
        ("distance", "short", "up to 0.86, fading out by 0.94"),
        ("distance", "long", "from 0.94, fading in from 0.86"),
    ]
    header, begin, *lines = rules.to_csv().splitlines()
    assert header.endswith("P(good),P(bad),weight(bad)")
    assert begin.startswith("y,baseline: bad +0.51,")
    assert begin.endswith(",0.51")
    assert [line.split(",")[-1] for line in lines] == ["-0.42", "0.35", "-0.1"]
    page = rules.to_markdown()
    assert "Baseline: bad +0.51." in page
    row = "| distance | short | up to 0.86, fading out by 0.94 | +0.35 | 274 | 49% bad (30%) |"
    assert row in page
    shown = " ".join(re.sub("<[^>]*>", " ", rules._repr_html_()).split())
    assert "if distance is short: bad +0.35 274 rows, 49% bad (30% overall)" in shown
    assert "A score above 0 predicts bad." in shown


def test_several_classes_print_the_largest_weight_first():
    target = Target("grower", (0, 1, 2), shares=(0.3, 0.4, 0.3))
    shares = [(0.93, 0.05, 0.02), (0.1, 0.5, 0.4)]
    model = simple_model(target, [(1.42, -0.11, -1.31), (-1.0, 0.4, 0.6)], (0.1, 0.2, -0.3), shares)
    assert rules_of(model).baseline == "baseline: grower=1 +0.20, grower=0 +0.10, grower=2 -0.30"
    first, second = rules_of(model)
    assert str(first) == (
        "if distance is short: grower=0 +1.42, grower=1 -0.11, grower=2 -1.31 "
        "| 274 rows, 93% grower=0 (30% overall)"
    )
    assert first.short == "distance short: grower=0 +1.42"
    assert str(second).endswith(" | 120 rows, 40% grower=2 (30% overall)")
    many = [(0.5, 0.3, 0.1, -0.1, -0.3, -0.5), (0.0,) * 6]
    target = Target("y", tuple("abcdef"), shares=(1 / 6,) * 6)
    six = rules_of(simple_model(target, many, (0.0,) * 6, [(1 / 6,) * 6] * 2))
    assert "short: a +0.50, b +0.30, … 3 more, f -0.50 |" in str(six[0])


def test_a_share_on_the_other_side_than_the_weight_is_marked():
    target = Target("y", ("no", "had an affair"), shares=(0.76, 0.24))
    shares = [(0.93, 0.07), (0.78, 0.22)]
    model = simple_model(target, [(-0.9, 0.9), (-0.9, 0.9)], (0.0, 0.0), shares)
    first, second = rules_of(model)
    assert str(first).endswith(
        ': "had an affair" +1.80 | 274 rows, 7% "had an affair" (24% overall), offsets other rules'
    )
    assert not second.is_offset, "2 points are no clear difference"


def test_numbers_print_their_mean_and_weight():
    shares = [(20.1,), (41.2,)]
    model = simple_model(Target("power"), [(-3.0,), (12.34,)], (30.5,), shares, variance=45.0)
    rules = rules_of(model)
    assert rules.baseline == "baseline: power 30.5"
    mean = (274 * 20.1 + 120 * 41.2) / 394
    assert str(rules[0]) == (
        f"if distance is long: power +12.34 | 120 rows, mean 41.2 ({mean:.4g} overall)"
    )
    assert rules[0].to_dict()["weights"] == {"power": 12.34}
    assert rules[0].to_dict()["share"] is None


def test_a_straight_line_is_printed_as_one():
    """Most rows lie between the cores of two words, as the variance shows."""
    target = Target("credit", ("good", "bad"), shares=(0.7, 0.3))
    weights, shares = [(-0.175, 0.175), (0.21, -0.21)], [(0.51, 0.49), (0.9, 0.1)]
    model = simple_model(target, weights, (0.0, 0.0), shares, variance=0.01)
    rules = rules_of(model)
    assert str(rules) == (
        "distance: bad falls from +0.35 at 0.86 to -0.42 at 0.94 "
        "| 394 rows, from 49% to 10% bad (30% overall)"
    )
    assert [rule.premise for rule in rules] == [
        "distance is from 0.94, fading in from 0.86",
        "distance is up to 0.86, fading out by 0.94",
    ]
    assert rules[0].short == "distance from 0.94: bad -0.42"
    assert [str(one) for one in rules[:1].lines()] == [str(rules[0])]
    assert not list(words_used(rules))
    assert "low" not in rules.to_markdown()
    assert "| distance | straight line | up to 0.86, fading out by 0.94 |" in rules.to_markdown()
    (found,) = explained(model, np.array([[0.88]]))
    assert "distance 0.88 (75% up to 0.86, 25% from 0.94)" in str(found)
    numbers = simple_model(Target("power"), [(-3.0,), (12.0,)], (30.5,), [(20.0,), (41.0,)])
    assert str(rules_of(numbers)) == (
        "distance: power rises from -3 at 0.86 to +12 at 0.94 "
        "| 394 rows, mean from 20 to 41 (26.4 overall)"
    )
    target = Target("y", ("a", "b", "c"), shares=(0.2, 0.3, 0.5))
    weights, shares = [(1.0, 0.0, -1.0), (-2.0, 0.5, 1.5)], [(0.6, 0.2, 0.2), (0.1, 0.2, 0.7)]
    model = simple_model(target, weights, (0.0,) * 3, shares, variance=0.1)
    assert str(rules_of(model)) == (
        "distance: a falls from +1.00 at 0.86 to -2.00 at 0.94, b rises from +0.00 to +0.50, "
        "c rises from -1.00 to +1.50 | 394 rows, from 60% to 10% a (20% overall)"
    )


def graded(n_words, parts, other=None):
    """Make a model on a feature of numbered words, and perhaps another feature."""
    cores = [(float(2 * i), float(2 * i + 1)) for i in range(n_words)]
    cores[0], cores[-1] = (-np.inf, 1.0), (cores[-1][0], np.inf)
    n_sets = 2 * n_words - 2
    distance = cored_feature(
        "distance", plain_names(n_words), cores, (1 / n_sets,) * n_sets, -1.0, 2.0 * n_words
    )
    inputs = (TermInput(distance, parts), *([TermInput.whole(other)] if other else []))
    shape = tuple(len(one.parts) for one in inputs)
    weights = np.linspace(-1, 1, np.prod(shape)).reshape(*shape, 1) * np.array([1.0, -1.0])
    term = Term(inputs, weights, np.full((*shape, 2), 0.5), np.full(shape, 10.0), 0.7)
    target = Target("y", ("a", "b"), shares=(0.5, 0.5))
    node = AdditiveNode("y", (0.0, 0.0), (term,))
    return Model(target, tuple(one.feature for one in inputs), (node,))


def test_joined_words_and_pairs_print_where_words_meet():
    premises = {rule.premise for rule in rules_of(graded(4, ((0, 1), (2,), (3,))))}
    assert premises == {
        "distance is below 3.5",
        "distance is medium-high",
        "distance is high",
    }
    grown = discrete_feature("grown", Kind.BINARY, (0, 1), (0.5, 0.5))
    premises = {rule.premise for rule in rules_of(graded(3, ((0,), (1, 2)), grown))}
    assert premises == {
        f"distance is {where} 1.5 and grown is {state}"
        for where in ("below", "above")
        for state in (0, 1)
    }


def test_more_than_seven_words_print_as_ranges():
    model = graded(9, tuple((i,) for i in range(9)))
    premises = {rule.premise for rule in rules_of(model)}
    ends = [f"{i + 0.5:g} to {i + 2.5:g}" for i in range(1, 14, 2)]
    assert premises == {f"distance is {one}" for one in ("below 1.5", *ends, "above 15.5")}
    (found,) = explained(model, np.array([[1.25]]))
    assert "distance 1.25 (75% below 1.5, 25% 1.5 to 3.5)" in str(found)
    assert model.features[0].words[:2] == ("w1", "w2")


def test_many_categories_are_counted_or_named_by_the_others():
    states = tuple("abcdefghijkl")
    letters = discrete_feature("letter", Kind.CATEGORICAL, states, (1 / 12,) * 12)
    parts = ((0, 1, 2, 3, 4, 5), (6, 7), (8, 9, 10, 11))
    assert [TermInput(letters, parts).phrase(line) for line in range(3)] == [
        "a or b or c or d or 2 more",
        "g or h",
        "i or j or k or l",
    ]
    assert TermInput(letters, ((0, 1), tuple(range(2, 12)))).phrase(1) == "not a or b"


def test_counts_and_weights_are_those_of_the_data():
    """Shares and rows of printed rules are counted again from categories."""
    rng = np.random.default_rng(4)
    colour, y = (
        rng.choice(["red", "green", "blue"], 400),
        rng.choice(["ja", "nein"], 400, p=[0.3, 0.7]),
    )
    y[colour == "red"] = "ja"
    model = RuleClassifier(interactions=0).fit(colour[:, None], y)
    shown = {rule.premise: rule for rule in model.rules()}
    assert "x0 is red" in shown
    for premise, rule in shown.items():
        named = premise.removeprefix("x0 is ").removeprefix("not ").split(" or ")
        mine = np.isin(colour, named, invert="is not " in premise)
        assert rule.support == mine.sum()
        share, overall = np.mean(y[mine] == "ja"), np.mean(y == "ja")
        assert rule.counts.startswith(f"{mine.sum()} rows, {share:.0%} ja ({overall:.0%} overall)")
        lone = np.array([[colour[mine][0]]], dtype=object)
        (ja, nein), start = model.predict_proba(lone)[0], float(model.rules().baseline.split()[-1])
        weight = float(re.search(r"ja ([+-][\d.]+)", rule.sentence)[1])
        assert start + weight == pytest.approx(np.log(ja / nein), abs=0.011)


def test_a_rule_for_any_reading_does_not_hold_for_a_missing_one():
    target = Target("credit", ("good", "bad"), shares=(0.7, 0.3))
    missing = MissingRule(12.0, (0.8, 0.2), (0.05, -0.05))
    model = simple_model(target, [(0.1, -0.1)], (0.0, 0.0), [(0.7, 0.3)], missing, ((0, 1),))
    assert [rule.premise for rule in rules_of(model)] == [
        "distance is known",
        "distance is missing",
    ]


# --- explanations --------------------------------------------------------------------------------


def explained(model, rows):
    return list(Explainer(model).of_table(as_table(model, rows)))


@given(seed=SEEDS)
@settings(max_examples=10)
def test_numbers_are_explained_in_every_form(seed):
    rng = np.random.default_rng(seed)
    model = random_number_model(rng, str(rng.choice(ADDITIVE_SHAPES)))
    rows = random_rows(rng, model, 4, missing=0.3)
    estimates = run(model.program, rows)[:, 0]
    for explanation, estimate in zip(explained(model, rows), estimates, strict=True):
        assert explanation.decision == estimate
        added = sum(one.effect for one in explanation.contributions)
        assert explanation.before + added == pytest.approx(explanation.after, abs=1e-9)
        assert str(explanation).startswith(f"power {spell_number(estimate)} (")
        assert explanation.to_json()
        assert explanation._repr_html_()
    for semantics in semantics_of(model, as_table(model, rows)):
        assert "=> power " in str(semantics.composed())


@given(seed=SEEDS)
@settings(max_examples=15)
def test_a_pair_is_shared_by_halves(seed):
    """Nothing unknown, weights like the learner's: own scores, and half of each pair's."""
    rng = np.random.default_rng(seed)
    features = random_model(rng, "words and pairs", 3).features[:2]
    own = [random_term(rng, [one], 3) for one in features]
    pair = random_term(rng, features, 3)
    parts = []
    for one in pair.inputs:  # whose mean over missing readings is 0
        weights = rng.normal(size=len(one.parts))
        missing = np.bincount(one.part_of_set, one.asked.mean_masses, len(one.parts))
        parts.append(weights - weights @ missing)
    grid = np.multiply.outer(np.outer(*parts), np.array([1.0, -0.4, -0.6]))
    node = AdditiveNode("y", (0.4, 0.1, -0.5), (*own, replace(pair, weights=grid)))
    target = Target("y", ("a", "b", "c"), shares=softmax(node.baseline))
    model = Model(target, features, (node,))
    rows = TracedRows(model.program, random_rows(rng, model, 5, missing=0.0))
    scores = Attributor(model.program).of_rows(rows).scores
    for place, name in enumerate(("rules on x0", "rules on x1")):
        expected = rows.added[name] + rows.added["rules on x0 and x1"] / 2
        assert scores[:, place] == pytest.approx(expected, abs=1e-9)


def softmax(bias):
    shares = np.exp(bias)
    return tuple((shares / shares.sum()).tolist())


def test_missing_values_are_named_with_their_effect():
    rng = np.random.default_rng(3)
    model = random_model(rng, "groups", 2)
    row = random_rows(rng, model, 1, missing=0.0)
    (whole,) = explained(model, row)
    assert (whole.completeness, whole.damping) == (1.0, 1.0)
    assert "Missing" not in str(whole)
    row[0, [2, 3]] = np.nan  # x3 has a rule for it
    (found,) = explained(model, row)
    lost = next(term for term in model.terms if term.features == ("x2",)).variance
    assert found.damping == pytest.approx(1 / np.sqrt(1 + np.pi / 8 * lost))
    assert 0 < found.completeness < 1
    assert str(found).endswith(
        f"Missing: x2, x3 (has a rule). Other weights count {found.damping:.0%}. "
        f"Completeness {found.completeness:.0%}."
    )
    text = "\n".join(line.text for line in lines_of(found, None))
    assert "100%  x3 missing: " in text
    assert "  x2 " not in text.partition("Rules that apply")[2], "its rules add nothing"


def test_groups_are_statements_above_their_terms():
    rng = np.random.default_rng(5)
    model = random_model(rng, "groups", 2)
    (found,) = explained(model, random_rows(rng, model, 1, missing=0.0))
    steps = {step.part: step for step in found.semantics.steps}
    names = list(steps)
    assert names.index("rules on x2") < names.index("second") < len(names) - 1
    below = {"rules on x0", "rules on x1", "rules on x0 and x1"}
    assert set(names[names.index("first") - 3 : names.index("first")]) == below
    assert {"first", "second"} <= set(steps["y"].inputs)
    for name, adds in found.groups.items():
        assert adds == pytest.approx(
            np.sum([steps[one].adds for one in steps[name].inputs], axis=0)
        )
        assert f": {name}" in str(found).partition("Sums of the feature groups")[2]
