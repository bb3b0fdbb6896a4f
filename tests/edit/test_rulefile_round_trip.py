"""A model, its rules file, and the model that the file makes."""

import inspect
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st
from rulefile_samples import SMALL

from policy_cases import policies
from random_models import (
    any_model,
    random_feature,
    random_model,
    random_number_model,
    random_sum,
    random_term,
)
from solah import (
    PAPER,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    RuleRegressor,
    SelfOrganisedHierarchyClassifier,
    datasets,
)
from solah.data import Kind
from solah.edit import Editor, read_rules, write_rules
from solah.exceptions import ModelFormatError
from solah.model import Branch, Model, Policy, Target, TreeNode
from solah.model.features import belief_words, discrete_feature
from solah.model.format import from_json, to_json
from solah.model.provenance import Edit


def assert_round_trip(model):
    text = write_rules(model)
    again = read_rules(text)
    kept = replace(model, generator=again.generator, intervals=None)
    assert to_json(again) == to_json(kept)
    assert write_rules(again) == text


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_model_comes_back_as_it_was(seed):
    assert_round_trip(any_model(seed))
    assert_round_trip(random_number_model(np.random.default_rng(seed), link="log"))


@settings(max_examples=25, deadline=None)
@given(policies(3))
def test_a_policy_comes_back_as_it_was(policy):
    policy = replace(policy, stays_in_range=False, max_unseen=None)
    assert_round_trip(replace(random_model(np.random.default_rng(0), "groups", 3), policy=policy))


def test_a_policy_is_read():
    text = SMALL.replace(
        "# the end",
        """
policy  # for the bell
  # it rings loud
  min_probability no 0.7
  min_probability yes 0.9  # a false alarm costs
  min_completeness 0.5
  smoothing 4
  hysteresis 0.1
  min_hold 5
  votes 2 of 3
# the end""",
    )
    model = read_rules(text)
    assert model.policy == Policy((0.7, 0.9), 0.5, False, None, 4, 0.1, 2, 3, 5)
    # Of two classes, the weights are written as their difference.
    plain = re.sub("#.*", "", text)
    plain = re.sub("no [+-]([12]), yes ([+-])[12]", lambda n: f"yes {n[2]}{2 * int(n[1])}", plain)
    assert write_rules(model).split() == plain.split()
    assert_round_trip(model)
    assert read_rules(f"{SMALL}\npolicy\n").policy == Policy()


@pytest.mark.slow
def test_five_hundred_models_come_back_as_they_were():
    for seed in range(500):
        assert_round_trip(any_model(20_000 + seed))


@pytest.fixture(scope="module")
def learned():
    """Learn a model of each kind."""

    def of_paper(estimator):
        known = inspect.signature(estimator).parameters
        return estimator(**{key: value for key, value in PAPER.items() if key in known})

    iris = datasets.load("iris")
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(200, 3))
    target = numbers[:, 0] * 2 + numbers[:, 1]
    numbers[rng.random(200) < 0.2, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "additive": RuleClassifier(thresholds={"setosa": 0.2})
            .fit(iris.table, iris.target)
            .model_,
            "paper": of_paper(SelfOrganisedHierarchyClassifier).fit(iris.table, iris.target).model_,
            "deep tree": of_paper(LinguisticTreeClassifier).fit(iris.table, iris.target).model_,
            "stacked trees": SelfOrganisedHierarchyClassifier().fit(iris.table, iris.target).model_,
            "promises": RuleClassifier(monotonic_cst={"virginica": {"petal length (cm)": 1}})
            .fit(iris.table, iris.target)
            .model_,
            "number": RuleRegressor().fit(numbers, target).model_,
            "number in words": LinguisticTreeRegressor(max_depth=2).fit(numbers, target).model_,
        }


@pytest.mark.parametrize(
    "kind",
    ["additive", "paper", "deep tree", "promises", "number", "number in words"],
)
def test_what_is_learned_comes_back_as_it_was(learned, kind):
    assert_round_trip(learned[kind])


NASTY = ["if", "", "a b", 'say "x"', "ü|#", "comma, too", "low-or-high", "-or-", "+1", "1", "true"]
NASTY += ["π\tx", "\\", "a\nb", "\u2028", "rules", "x.y-z(1)", "__", "\U0001f600", "'", "0x", "nan"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=6), min_size=8, max_size=8, unique=True))
@example(NASTY[2:10])
@example(NASTY[10:18])
@example([*NASTY[-4:], *NASTY[:1], *NASTY[2:5]])
def test_any_names_come_back(names):
    old = ("x0", "x2", "low", "high", "a", "c0", "c1", "first")
    new = dict(zip(old, (name.encode(errors="replace").decode() for name in names), strict=True))
    document = json.loads(to_json(random_model(np.random.default_rng(5), "groups")))

    def renamed(value):
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if isinstance(value, dict):
            return {key: renamed(item) for key, item in value.items()}
        return new.get(value, value) if isinstance(value, str) else value

    assume(len(set(new.values())) == len(new))
    try:
        model = from_json(json.dumps(renamed(document)).encode())
    except ModelFormatError:
        reject()  # not a document either: a class that ends with NUL, say
    assert_round_trip(model)


@pytest.mark.parametrize(
    "states", [(0, 1, 7), (0.5, 1.0, 2.0), (True, False), ("1", "2", "true"), (2**63, 2**63 + 1)]
)
def test_classes_and_states_keep_their_type(states):
    shares = (1 / len(states),) * len(states)
    feature = discrete_feature("x", Kind.CATEGORICAL, states, shares)
    branches = [Branch(((0, (place,)),), shares, 1.0) for place in range(len(states))]
    tree = TreeNode("y", (feature,), tuple(branches), shares)
    model = Model(Target("y", states), (feature,), (tree,))
    assert_round_trip(model)
    read = read_rules(write_rules(model))
    assert [type(state) for state in read.target.classes] == [type(state) for state in states]


def test_sets_that_are_no_run_are_written_one_by_one():
    """Nothing that is learned has such branches; a model may."""
    ordered = random_feature(np.random.default_rng(0), "x", Kind.ORDINAL)
    branches = Branch(((0, (0, 1, 3)),), (0.5, 0.5), 1.0), Branch(((0, (2,)),), (1.0, 0.0), 1.0)
    tree = TreeNode("y", (ordered,), branches, (0.5, 0.5))
    model = Model(Target("y", ("a", "b")), (ordered,), (tree,))
    assert "if x is 1.0 or 2.5 or 8.0 " in write_rules(model)
    assert_round_trip(model)


def test_a_model_without_rules_comes_back():
    model = random_model(np.random.default_rng(1), "groups")
    node = replace(model.root, terms=(), groups=())
    assert_round_trip(replace(model, nodes=(node,)))
    leaf = TreeNode("y", model.features[2:3], (Branch((), (0.75, 0.25), 3.0),), (0.5, 0.5))
    text = write_rules(replace(model, nodes=(leaf,)))
    assert "always then c0 0.75, c1 0.25 | 3 rows" in " ".join(text.split())
    assert_round_trip(replace(model, nodes=(leaf,)))


def test_terms_over_beliefs_come_back():
    rng = np.random.default_rng(2)
    model = random_model(rng, "over a sum", 3)
    (belief, *_) = belief_words("s", model.target.classes, 3)
    cores = ((-np.inf, 0.25), (0.5, 0.5), (0.75, np.inf))
    ranged = replace(belief, cores=cores, peaks=(0.25, 0.5, 0.75), mean_masses=(0.5, 0.25, 0.25))
    above = random_sum(rng, "top", [random_term(rng, [ranged, model.features[4]], 3)], 3)
    model = replace(model, nodes=(model.nodes[0], above))
    assert from_json(to_json(model).encode()) == model
    assert_round_trip(model)


def test_marks_and_edits_come_back():
    model = random_model(np.random.default_rng(1), "groups")
    edits = Edit('said "so"', "Ann", "2026-05-17T09:30:00Z", "why\nnot"), Edit("and")
    model = Editor(model).move("x0", "low", start=0.0).pin("if x1 is missing").model
    model = replace(model, edits=edits)
    assert model.features[0].is_moved
    assert_round_trip(model)
    assert read_rules(write_rules(model)).edits == edits


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 200), st.data())
def test_comments_may_stand_anywhere(seed, data):
    lines = write_rules(any_model(seed)).splitlines()
    texts = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=9)
    for number in sorted(data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=8)))[::-1]:
        if data.draw(st.booleans()) and lines[number]:
            lines[number] += f"  # {data.draw(texts)}"
        else:
            lines.insert(number, f"  # {data.draw(texts)}")
    assert read_rules("\n".join(lines)) == read_rules(write_rules(any_model(seed)))


def test_what_is_left_out_has_a_plain_meaning():
    text = """\
solah rules 1
target alarm classes
  no  share 0.75
  yes share 0.25
feature smoke continuous from 0 to 9
  low    up to 2
  medium from 3 to 4
  high   from 5
feature room categorical
  lab
  hall
  attic
sum alarm
  baseline: no +1, yes -1
rules on smoke and room
  otherwise: yes +0
  if smoke is at least medium and room is lab then yes +3
"""
    model = read_rules(text)
    (term,) = model.terms
    assert model.features[0].mean_masses == (0.25,) * 4
    assert [one.parts for one in term.inputs] == [((0,), (1, 2)), ((0,), (1,), (2,))]
    assert not term.counts.any()
    assert (term.shares == [0.75, 0.25]).all()
    assert term.weights[1, 0].tolist() == [-1.5, 1.5]
    assert np.count_nonzero(term.weights) == 2
    assert_round_trip(model)


def test_the_layout_is_the_one_that_people_know():
    assert (
        write_rules(read_rules(SMALL))
        == """\
solah rules 1

target alarm classes
  no  share 0.9
  yes share 0.1

feature smoke continuous from 0 to 9
  low  up to 2 | missing 0.8
  high from 3  | missing 0.2

sum alarm
  baseline: yes -2

rules on smoke | variance 0.5
  if smoke is low:      yes -2 | 80 rows: 1, 0
  pin if smoke is high: yes +4 | 20 rows: 0.5, 0.5
"""
    )
