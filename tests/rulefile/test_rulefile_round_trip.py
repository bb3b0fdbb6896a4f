"""A model, its rules file, and the model that the file makes."""

import inspect
import json
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st
from rulefile_samples import SMALL

from policy_cases import policies
from random_models import any_model, random_model
from solah import (
    PAPER,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
    SelfOrganisedHierarchyRegressor,
    datasets,
)
from solah.data import Kind
from solah.exceptions import ModelFormatError
from solah.model import Goal, Model, Policy, Tree
from solah.model.attributes import discrete_attribute
from solah.model.edits import Comment, Edit
from solah.model.format import from_json, to_json
from solah.rulefile import read_rules, write_rules


def assert_round_trip(model):
    text = write_rules(model)
    again = read_rules(text)
    assert to_json(again) == to_json(replace(model, generator=again.generator))
    assert write_rules(again) == text


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_model_comes_back_as_it_was(seed):
    assert_round_trip(any_model(seed))


@settings(max_examples=25, deadline=None)
@given(policies(3))
def test_a_policy_comes_back_as_it_was(policy):
    policy = replace(policy, stays_in_range=False, max_unseen=None)
    assert_round_trip(replace(random_model(np.random.default_rng(0), "groups", 3), policy=policy))


def test_a_policy_is_read_with_its_comments():
    text = SMALL.replace(
        "# the end",
        """
policy  # for the bell
  # it rings loud
  needs belief 0.7 in no
  needs belief 0.9 in yes  # a false alarm costs
  needs 0.5 of the evidence
  smooths over 4
  leads by 0.1
  settles 2 of 3
  stays for 5
# the end""",
    )
    model = read_rules(text)
    assert model.policy == Policy((0.7, 0.9), 0.5, False, None, 4, 0.1, 2, 3, 5)
    assert write_rules(model).split() == text.split()
    assert_round_trip(model)
    assert read_rules(f"{SMALL}\npolicy\n").policy == Policy()


@pytest.mark.slow
def test_five_hundred_models_come_back_as_they_were():
    for seed in range(500):
        assert_round_trip(any_model(20_000 + seed))


@pytest.fixture(scope="module")
def learnt():
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
            "additive": SelfOrganisedHierarchyClassifier(thresholds={"setosa": 0.2})
            .fit(iris.table, iris.goal)
            .model_,
            "paper": of_paper(SelfOrganisedHierarchyClassifier).fit(iris.table, iris.goal).model_,
            "deep tree": of_paper(LinguisticTreeClassifier).fit(iris.table, iris.goal).model_,
            "tree fusion": SelfOrganisedHierarchyClassifier(fusion="tree")
            .fit(iris.table, iris.goal)
            .model_,
            "promises": SelfOrganisedHierarchyClassifier(
                monotonic_cst={"virginica": {"petal length (cm)": 1}}
            )
            .fit(iris.table, iris.goal)
            .model_,
            "number": SelfOrganisedHierarchyRegressor().fit(numbers, target).model_,
            "number in words": LinguisticTreeRegressor(max_depth=2).fit(numbers, target).model_,
        }


@pytest.mark.parametrize(
    "kind",
    ["additive", "paper", "deep tree", "tree fusion", "promises", "number", "number in words"],
)
def test_what_is_learnt_comes_back_as_it_was(learnt, kind):
    assert_round_trip(learnt[kind])


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
    attribute = discrete_attribute("x", Kind.CATEGORICAL, states, shares)
    tree = Tree(
        "y",
        (attribute,),
        np.array([0] + [-1] * len(states), np.int32),
        np.array([1] + [0] * len(states), np.int32),
        np.ones(len(states) + 1),
        np.tile(shares, (len(states) + 1, 1)),
    )
    model = Model(Goal("y", states), (attribute,), (tree,))
    assert_round_trip(model)
    read = read_rules(write_rules(model))
    assert [type(state) for state in read.goal.states] == [type(state) for state in states]


def test_a_word_whose_ends_differ_is_written_end_by_end():
    """Nothing that is learnt has such words; a document may."""
    model = next(
        model
        for model in (random_model(np.random.default_rng(seed), "groups") for seed in range(50))
        if any(a == b for a, b in pairwise(model.trees[0].inputs[0].set_words))
    )
    first = model.trees[0]
    leaf = 1 + next(i for i, (a, b) in enumerate(pairwise(first.inputs[0].set_words)) if a == b)
    scores = first.scores.copy()
    scores[leaf] += [1.0, -1.0]
    changed = replace(model, nodes=(replace(first, scores=scores), *model.nodes[1:]))
    assert "is lower " in write_rules(changed)
    assert_round_trip(changed)


def test_marks_and_edits_come_back():
    model = random_model(np.random.default_rng(1), "groups")
    moved = replace(model.attributes[0], is_moved=True)
    record = json.loads(to_json(model))
    record["attributes"][0]["moved"] = True
    record["trees"][1]["missing"]["pinned"] = True
    record["edits"] = [
        {
            "text": 'said "so"',
            "author": "Ann",
            "time": "2026-05-17T09:30:00Z",
            "reason": "why\nnot",
        },
        {"text": "and"},
    ]
    model = from_json(json.dumps(record).encode())
    assert model.attributes[0] == moved
    assert_round_trip(model)
    assert read_rules(write_rules(model)).edits == (
        Edit('said "so"', "Ann", "2026-05-17T09:30:00Z", "why\nnot"),
        Edit("and"),
    )


def test_comments_survive():
    model = read_rules(SMALL)
    again = read_rules(write_rules(from_json(to_json(model).encode())))
    assert again.comments == model.comments
    assert len(model.comments) == 12
    written = write_rules(model)
    assert written == write_rules(again)
    assert "  # an expert said so\n  # twice\n  pin if smoke is high" in written
    assert written.splitlines()[0] == "# Smoke alarm of the lab."
    assert written.endswith("# the end\n")
    assert [line.partition("#")[2] for line in written.splitlines() if "#" in line] == [
        line.partition("#")[2] for line in SMALL.splitlines() if "#" in line
    ]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 200), st.data())
def test_comments_survive_wherever_they_stand(seed, data):
    lines = write_rules(any_model(seed)).splitlines()
    texts = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=9)
    for number in sorted(data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=8)))[::-1]:
        comment = f"# {data.draw(texts)}".rstrip()
        if data.draw(st.booleans()) and lines[number]:
            lines[number] += f"  {comment}"
        else:
            lines.insert(number, f"  {comment}")
    model = read_rules("\n".join(lines))
    written = write_rules(model)
    assert sorted(one.text for one in read_rules(written).comments) == sorted(
        one.text for one in model.comments
    )
    assert write_rules(read_rules(written)) == written
    assert len(model.comments) == sum("#" in line for line in lines)


def test_a_comment_whose_statement_is_gone_moves_to_the_end():
    model = replace(read_rules(SMALL), comments=(Comment("attribute heat", "gone"),))
    assert write_rules(model).endswith("\n\n# gone\n")


def test_a_comment_on_a_rule_that_was_joined_stays_with_it():
    text = SMALL.replace("pin if", "if").replace("no -2, yes +2", "no +1, yes -1")
    text = text.replace("20 rows: 0.5, 0.5", "20 rows: 1, 0")
    written = write_rules(read_rules(text))
    assert "  # an expert said so\n  # twice\n  if smoke is anything" in written


def test_what_is_left_out_has_a_plain_meaning():
    text = """\
solah rules 1
goal alarm classes
  no  prior 0.75
  yes prior 0.25
attribute smoke continuous from 0 to 9
  low    up to 2
  medium from 3 to 4
  high   from 5
attribute room categorical
  lab
  hall
  attic
rules by-hand on smoke, room
  if smoke is high and
    if room is lab then yes +3
    otherwise then yes +0
  otherwise then no +0, yes +0
sum alarm
  adds by-hand
  begins with no +1, yes -1
"""
    model = read_rules(text)
    tree = model.trees[0]
    assert model.attributes[0].ignorance == (0.25,) * 4
    assert tree.support.tolist() == [0.0] * len(tree.split)
    assert (tree.belief == [0.75, 0.25]).all()
    assert tree.scores[tree.children(tree.children(0)[-1])[0]].tolist() == [-1.5, 1.5]
    assert np.count_nonzero(tree.scores) == 2
    assert_round_trip(model)


def test_one_number_of_rows_for_several_focal_sets_is_their_sum():
    text = SMALL.replace("if smoke is low  then", "if smoke is anything then")
    lines = [line for line in text.splitlines() if "pin if" not in line]
    tree = read_rules("\n".join(lines)).trees[0]
    assert tree.support.tolist() == [100.0, 40.0, 40.0]


def test_the_layout_is_the_one_that_people_know():
    assert (
        write_rules(replace(read_rules(SMALL), comments=()))
        == """\
solah rules 1

goal alarm classes
  no  prior 0.9
  yes prior 0.1

attribute smoke continuous from 0 to 9
  low  up to 2 | unknown 0.8
  high from 3  | unknown 0.2

rules "of smoke" on smoke | 100 rows: 0.9, 0.1
  variance 0.5
  if smoke is low      then no +1, yes -1 | 80 rows: 1, 0
  pin if smoke is high then no -2, yes +2 | 20 rows: 0.5, 0.5

sum alarm
  adds "of smoke"
  begins with no +1, yes -1
"""
    )
