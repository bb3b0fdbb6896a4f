"""Single edits: what they change, what they leave, and what they refuse."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_edits import edited, random_conditions

from random_models import any_model, random_model, random_rows
from solah import LinguisticTreeClassifier, RuleClassifier, datasets, load_model
from solah.edit import Editor, read_rules, write_rules
from solah.exceptions import ParameterError, RuleTextError
from solah.explain import rules_of
from solah.model import AdditiveNode
from solah.model.evaluate import run
from solah.model.format import from_json, to_json

ALARM = """\
solah rules 1
target alarm classes
  no  share 0.75
  yes share 0.25
feature smoke continuous from 0 to 9
  low    up to 2  | missing 0.5
  medium at 3     | missing 0.25
  high   from 5   | missing 0.25
feature room categorical
  lab   | missing 0.5
  hall  | missing 0.25
  attic | missing 0.25
sum alarm
  baseline: no +0.5, yes -0.5
rules on smoke | variance 0.5
  if smoke is low:    no +1, yes -1 | 50 rows: 1, 0
  if smoke is medium: no +0.5, yes -0.5 | 25 rows: 0.6, 0.4
  if smoke is high:   no -2, yes +2 | 25 rows: 0.4, 0.6
rules on room | variance 0.1
  if room is lab:           no -0.25, yes +0.25 | 50 rows: 0.7, 0.3
  if room is hall or attic: no +0.25, yes -0.25 | 50 rows: 0.8, 0.2
"""
NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)


@pytest.fixture
def editor():
    return Editor(read_rules(ALARM), author="Ann", time=NOON)


def weights(editor, term=0):
    return editor.model.terms[term].weights.tolist()


def test_a_rule_is_set_and_no_other_changes(editor):
    before = editor.model
    editor.set("if smoke is high: yes +3", reason="the fire drill")
    assert weights(editor) == [[1, -1], [0.5, -0.5], [-1.5, 1.5]]
    after = editor.model
    assert after.terms[1] == before.terms[1]
    assert after.root.baseline == before.root.baseline
    assert after.target == before.target
    assert after.features == before.features
    assert np.array_equal(after.terms[0].counts, before.terms[0].counts)
    assert np.array_equal(after.terms[0].shares, before.terms[0].shares)
    assert weights(Editor(before)) == [[1, -1], [0.5, -0.5], [-2, 2]]
    (edit,) = after.edits
    assert edit.text == "set the rule: if smoke is high: yes +3"
    assert (edit.author, edit.time) == ("Ann", "2026-05-17T12:00:00Z")
    assert edit.reason == "the fire drill"


def test_the_variance_follows_the_spread_of_the_evidence(editor):
    editor.set("if smoke is high then no -4, yes +4")
    doubled = Editor(read_rules(ALARM)).set("if smoke is low then no +2, yes -2")
    assert editor.model.terms[0].variance > 0.5
    doubled.set("if smoke is medium then no +1, yes -1").set("if smoke is high then no -4, yes +4")
    assert doubled.model.terms[0].variance == pytest.approx(4 * 0.5)
    assert editor.model.terms[1].variance == 0.1


def test_a_rule_that_is_removed_adds_nothing(editor):
    editor.remove("if smoke is high")
    assert weights(editor)[-1] == [0, 0]
    texts = [str(rule) for rule in rules_of(editor.model)]
    assert "if smoke is high: yes +0.00 | 25 rows, 60% yes (25% overall)" in texts
    assert editor.model.edits[0].text == "removed the rule: if smoke is high"


def test_a_rule_is_added_and_adds_only_where_it_holds(editor):
    editor.add("if smoke is at least medium and room is attic: yes +2")
    term = editor.model.terms[-1]
    assert term.features == ("smoke", "room")
    assert [one.parts for one in term.inputs] == [((0,), (1, 2)), ((0, 1), (2,))]
    rows = np.array([[1.0, 2.0], [3.0, 2.0], [9.0, 2.0], [9.0, 0.0]])
    before, after = run(read_rules(ALARM).program, rows), run(editor.model.program, rows)
    moved = np.log(after[:, 1] / after[:, 0]) - np.log(before[:, 1] / before[:, 0])
    assert moved == pytest.approx([0, 2, 2, 0])
    (rule,) = [rule for rule in rules_of(editor.model) if rule.part == "rules on smoke and room"]
    assert str(rule) == ("if smoke is above 2.5 and room is attic: yes +2.00 | no rows counted")
    assert rule.share is None
    # Half of the values are at least medium, and a quarter of the rooms are attics.
    assert term.variance == pytest.approx(1 / 8 * 7 / 8)


def test_a_rule_on_one_feature_is_added():
    text = ALARM.partition("rules on room")[0]
    editor = Editor(read_rules(text)).add("if room is lab or attic: no +1")
    term = editor.model.terms[-1]
    assert term.inputs[0].parts == ((0, 2), (1,))
    assert term.weights.tolist() == [[0.5, -0.5], [0, 0]]
    without = text.replace(" | variance 0.5", "")
    assert Editor(read_rules(without)).add("if room is lab: no +1").model.terms[-1].variance == 0


def test_weights_need_words_with_ranges():
    model = random_model(np.random.default_rng(0), "tree", 2)
    target = replace(model.target, shares=(0.5, 0.5))
    constant = replace(model, target=target, nodes=(AdditiveNode("y", (0.0, 0.0)),))
    with pytest.raises(RuleTextError, match="the words of 'x0' overlap"):
        Editor(constant).add("if x0 is low: c0 +1")
    assert Editor(constant).add("if x2 is a: c0 +1").model.n_rules == 2


def test_a_missing_value_means_what_people_say(editor):
    rows = np.array([[np.nan, 0.0]])
    editor.set("if smoke is missing: yes +4")
    rule = editor.model.terms[0].missing
    assert rule.scores == (-2.0, 2.0)
    assert rule.support == 0
    after = run(editor.model.program, rows)
    start = -0.5 - 0.5 + 0.25 + 0.25
    assert np.log(after[0, 1] / after[0, 0]) == pytest.approx(start + 4)
    (told,) = [str(rule) for rule in rules_of(editor.model) if "missing" in str(rule)]
    assert told == "if smoke is missing: yes +4.00 | no rows counted"
    editor.pin("if smoke is missing")
    assert editor.model.terms[0].missing.is_pinned
    editor.remove("if smoke is missing")
    assert editor.model.terms[0].missing is None
    with pytest.raises(ParameterError, match="there is no rule for a missing 'smoke'"):
        editor.remove("if smoke is missing")


def test_the_overall_shares_are_set(editor):
    nothing = np.full((1, 2), np.nan)
    before = run(editor.model.program, nothing)[0]
    after = run(editor.set_prior({"yes": 0.5, "no": 0.5}).model.program, nothing)[0]
    assert np.log(after[1] / after[0]) == pytest.approx(np.log(3 * before[1] / before[0]))
    with pytest.raises(ParameterError, match="shares are needed for these classes: 'no', 'yes'"):
        editor.set_prior({"yes": 1.0})
    with pytest.raises(ParameterError, match="numbers that sum to 1"):
        editor.set_prior({"yes": 1.0, "no": 1.0})
    with pytest.raises(ParameterError, match="the edit is not possible"):
        editor.set_prior({"yes": float("nan"), "no": 1.0})


def test_rules_are_pinned_and_unpinned(editor):
    editor.pin("if room is hall or attic")
    assert editor.model.terms[1].pinned == {(1,)}
    assert [rule.is_pinned for rule in rules_of(editor.model).filter(feature="room")] == [
        False,
        True,
    ]
    editor.unpin("if room is hall or attic")
    assert not editor.model.terms[1].pinned


def test_the_parts_of_a_line_have_no_counts_of_their_own(editor):
    """How the rows of the whole line are shared is not known of its parts."""
    editor.pin("if room is hall or attic").set("if room is attic: yes +1")
    term = editor.model.terms[1]
    assert term.inputs[0].parts == ((0,), (1,), (2,))
    assert term.counts.tolist() == [50, 0, 0]
    assert term.weights.tolist() == [[-0.25, 0.25], [0.25, -0.25], [-0.5, 0.5]]
    assert term.pinned == {(1,), (2,)}
    texts = [str(rule) for rule in rules_of(editor.model).filter(feature="room")]
    assert "if room is attic: yes +1.00 | no rows counted" in texts
    assert "if room is hall: yes -0.50 | no rows counted" in texts


def test_lines_with_an_order_are_split_into_runs():
    text = (
        ALARM
        + """\
rules on smoke and room
  if smoke is anything and room is lab: yes +1 | 50 rows: 1, 0
  if smoke is anything and room is hall or attic: yes +0 | 50 rows: 1, 0
"""
    )
    before = read_rules(text)
    editor = Editor(before).set("if smoke is medium and room is lab: yes +3")
    term = editor.model.terms[2]
    assert [one.parts for one in term.inputs] == [((0,), (1,), (2,)), ((0,), (1, 2))]
    assert term.weights[..., 1].tolist() == [[0.5, 0], [1.5, 0], [0.5, 0]]
    assert not term.counts.any()
    rows = np.array([[1.0, 0.0], [2.7, 1.0], [4.4, 2.0], [9.0, 0.0]])
    assert run(editor.model.program, rows) == pytest.approx(run(before.program, rows))
    apart = Editor(before).set("if smoke is low or high and room is lab: yes +0").model
    assert apart.terms[2].weights[:, 0, 1].tolist() == [0, 0.5, 0]


def test_where_words_moved_nothing_says_that_rows_were_counted_with_them(editor):
    editor.move("smoke", "low", end=2.5)
    one = editor.model.features[0]
    assert one.cores == ((-np.inf, 2.5), (3.0, 3.0), (5.0, np.inf))
    assert one.is_moved
    assert editor.model.terms[0].inputs[0].feature == one
    for rule in rules_of(editor.model):
        if "smoke" in rule.premise:
            assert "rows before its words moved" in str(rule)
            assert rule.to_dict()["is_outdated"]
        else:
            assert "before its words moved" not in str(rule)
    lines = rules_of(editor.model).to_csv().splitlines()
    assert [line.split(",")[5] for line in lines if "if smoke is low" in line] == [""]
    assert editor.model.edits[-1].text == (
        "moved the word 'low' of 'smoke': it ends at 2.5 instead of 2"
    )


def test_a_point_becomes_a_range_and_a_point_again(editor):
    before = read_rules(ALARM)
    editor.add("if smoke is at least medium and room is lab: yes +2")
    before = editor.model
    editor.move("smoke", "medium", start=2.75, end=4)
    one = editor.model.features[0]
    assert one.peaks == (2.0, 2.75, 4.0, 5.0)
    assert one.mean_masses == (0.5, 0.125, 0.125, 0.25)
    assert editor.model.terms[0].counts.tolist() == [50, 25, 25]
    assert editor.model.terms[2].inputs[0].asked.peaks == (2.0, 2.75)
    moved = np.array([[3.5, 0.0], [2.0, 0.0], [6.0, 1.0]])
    rows = np.array([[3.0, 0.0], [2.0, 0.0], [6.0, 1.0]])
    assert run(editor.model.program, moved) == pytest.approx(run(before.program, rows))
    editor.move("smoke", "medium", start=3, end=3)
    assert editor.model.features[0].peaks == before.features[0].peaks
    assert editor.model.features[0].mean_masses == before.features[0].mean_masses


def test_names_change_everywhere(editor):
    editor.rename_feature("smoke", "ppm").rename_word("ppm", "high", "thick")
    editor.rename_class("yes", "fire").rename_group("alarm", "the house")
    model = editor.model
    assert [one.name for one in model.features] == ["ppm", "room"]
    assert model.target.classes == ("no", "fire")
    assert [term.features for term in model.terms] == [("ppm",), ("room",)]
    assert model.root.name == "the house"
    assert any(str(rule).startswith("if ppm is thick: fire ") for rule in rules_of(model))
    assert [edit.text for edit in model.edits] == [
        "renamed the feature 'smoke' to 'ppm'",
        "renamed the word 'high' of 'ppm' to 'thick'",
        "renamed the class 'yes' to 'fire'",
        "renamed the group 'alarm' to 'the house'",
    ]


@pytest.mark.parametrize("shape", ["masses", "words", "over a sum", "groups"])
def test_names_change_in_hierarchies(shape):
    rng = np.random.default_rng(1)
    model = random_model(rng, shape, 3)
    first = model.root.groups[0].name if shape == "groups" else model.nodes[0].name
    rows = random_rows(rng, model, 20)
    editor = Editor(model).rename_group(first, "below").rename_class("c1", "one")
    editor.rename_feature("x0", "first")
    assert run(editor.model.program, rows).tolist() == run(model.program, rows).tolist()
    assert "below" in {part.name for part in editor.model.parts}
    if shape == "words":
        belief = next(one for one in editor.model.root.inputs if one.tree == "below")
        assert belief.name == "z0(c0)"
        editor.rename_word("z0(c0)", "likely", "sure")
        assert editor.model.root.inputs[0].words == ("unlikely", "open", "sure")


def test_what_stands_above_moved_words_was_counted_before_as_well():
    model = random_model(np.random.default_rng(1), "words", 2)
    below = model.trees[0].inputs[0]
    editor = Editor(model).move(below.name, below.words[0], peak=below.peaks[0] - 1)
    rules = rules_of(editor.model).filter(part="y")
    on_z0 = [rule for rule in rules if any("z0" in c.feature for c in rule.conditions)]
    others = [rule for rule in rules if rule not in on_z0]
    assert on_z0
    assert all("before its words moved" in str(rule) for rule in on_z0)
    assert not any("before its words moved" in str(rule) for rule in others)


def test_shares_of_a_tree_are_set():
    iris = datasets.load("iris")
    learned = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    editor = learned.edit().set(
        'if "petal width (cm)" is low then setosa 0.5, versicolor 0.25, virginica 0.25'
    )
    rule = next(
        rule for rule in rules_of(editor.model) if rule.premise == "petal width (cm) is low"
    )
    assert rule.shares == (0.5, 0.25, 0.25)
    assert "then setosa 0.5, versicolor 0.25" in editor.model.edits[-1].text
    with pytest.raises(RuleTextError, match="these rules have shares, which have no signs"):
        editor.set('if "petal width (cm)" is low then setosa +1')
    with pytest.raises(RuleTextError, match="a branch cannot be removed; set its shares"):
        editor.remove('if "petal width (cm)" is low')
    with pytest.raises(ParameterError, match="only be added to an additive model"):
        editor.add('if "petal width (cm)" is low then setosa +1')


TREE = """\
solah rules 1
target alarm classes
  no
  yes
feature smoke continuous from 0 to 9
  low          peaks at 2 | missing 0.5
  low-or-high  peaks at 4 | missing 0.25
  high         peaks at 6 | missing 0.25
feature room categorical
  lab
  hall
tree alarm on smoke, room
  start: no 0.5, yes 0.5
  if room is lab and smoke is anything then no 0.75, yes 0.25 | 16 rows
  if room is hall and smoke is low then no 1, yes 0 | 8 rows
  if room is hall and smoke is low-or-high or high then no 0, yes 1 | 8 rows
"""


def test_a_branch_is_split_and_its_rows_are_shared():
    before = read_rules(TREE)
    editor = Editor(before).set("if room is lab and smoke is low-or-high: no 0.5, yes 0.5")
    tree = editor.model.root
    found = [(dict(one.conditions), one.belief, one.support) for one in tree.branches]
    assert found == [
        ({1: (0,), 0: (0,)}, (0.75, 0.25), 8),
        ({1: (0,), 0: (1,)}, (0.5, 0.5), 4),
        ({1: (0,), 0: (2,)}, (0.75, 0.25), 4),
        ({1: (1,), 0: (0,)}, (1, 0), 8),
        ({1: (1,), 0: (1, 2)}, (0, 1), 8),
    ]
    rows = np.array([[2.0, 0.0], [4.0, 0.0], [6.0, 0.0], [3.0, 1.0]])
    assert run(editor.model.program, rows).tolist() == [
        [0.75, 0.25],
        [0.5, 0.5],
        [0.75, 0.25],
        [0.5, 0.5],
    ]
    editor.pin("if room is hall and smoke is at least low-or-high")
    assert [one.is_pinned for one in editor.model.root.branches] == [False] * 4 + [True]
    same = Editor(before).set("if room is lab: no 1, yes 0").model.root
    assert len(same.branches) == 3
    assert same.branches[0].belief == (1, 0)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("if smoke is high: no 1, yes 0", "several rules match; add a condition on 'room'"),
        ("if room is hall: no 1, yes 0", "several rules match; add a condition on 'smoke'"),
        ("if smoke is missing: no 1, yes 0", "a tree has no rules for missing values"),
        ("if smoke is hig: no 1, yes 0", "no word 'hig'; did you mean 'high'?"),
        ("if room is lab: no 1", "there is no share for yes here"),
    ],
)
def test_branches_that_are_not_clear_are_refused(rule, problem):
    with pytest.raises(RuleTextError, match=re.escape(problem)):
        Editor(read_rules(TREE)).set(rule)


def test_nodes_with_the_same_features_are_told_apart():
    model = random_model(np.random.default_rng(3), "over a sum", 2)
    with pytest.raises(RuleTextError, match="has no condition on this feature|several rules match"):
        Editor(model).set("if x4 is 1.0: c0 1, c1 0", node="y")
    with pytest.raises(RuleTextError, match="the model has no rules on 'x4'"):
        Editor(model).set("if x4 is 1.0: c0 +1", node="s")
    edited = Editor(model).set("if x2 is a: c0 +2", node="s").model
    assert edited.terms[2].weights[0].tolist() == [1, -1]


def test_an_estimator_and_a_loaded_model_are_edited_alike(tmp_path):
    iris = datasets.load("iris")
    learned = RuleClassifier().fit(iris.table, iris.target)
    learned.save(tmp_path / "model.json")
    rule = 'if "petal width (cm)" is low then setosa +3'
    first = learned.edit(author="Ann", time=NOON).set(rule).model
    second = load_model(tmp_path / "model.json").edit(author="Ann", time=NOON).set(rule)
    assert second.model == first
    second.save(tmp_path / "edited.json")
    assert load_model(tmp_path / "edited.json").model_.edits == first.edits
    assert not learned.model_.edits


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (
            lambda e: e.set("if smok is high then yes +1"),
            "the model has no rules on 'smok'; did you mean",
        ),
        (lambda e: e.set("if smoke is hig then yes +1"), "no word 'hig'; did you mean 'high'?"),
        (lambda e: e.set("if smoke is high then yess +1"), "no class 'yess'; did you mean 'yes'?"),
        (lambda e: e.set("if smoke is high"), "has no ':' with weights; remove() takes"),
        (lambda e: e.set("if smoke is high then yes 1"), "a weight needs its sign: +1"),
        (lambda e: e.set("if smoke is high then yes +1e7, no -1e7"), "the edit is not possible"),
        (lambda e: e.set("if smoke is high and room is lab then yes +1"), "together; add one"),
        (lambda e: e.set("if smoke is high then yes +1", node="x"), "has no node 'x'"),
        (lambda e: e.add("if smoke is high then yes +1"), "already has rules on these features"),
        (lambda e: e.add("if smok is high and room is lab then yes +1"), "no feature 'smok'"),
        (lambda e: e.add("if x is a and y is b and z is c: no +1"), "one or two conditions"),
        (lambda e: e.add("if smoke is missing: no +1"), "already has rules on these features"),
        (lambda e: e.pin("if smoke is missing"), "no rule for a missing 'smoke'"),
        (lambda e: e.move("smoke", "low", end=4), "where 'medium' begins at 3; move that first"),
        (lambda e: e.move("smoke", "high", start=3), "'medium' reaches up to 3; move that first"),
        (lambda e: e.move("smoke", "medium", start=4), "would end at 3, before it begins at 4"),
        (lambda e: e.move("smoke", "low", start=1), "applies to all lower values"),
        (lambda e: e.move("smoke", "lou", end=1), "has no word 'lou'; did you mean 'low'?"),
        (lambda e: e.move("smoke", "low"), "have ranges: give start, end or both"),
        (lambda e: e.move("smoke", "low", peak=1), "have ranges: give start, end or both"),
        (lambda e: e.move("room", "lab", end=1), "is categorical; only words of a continuous"),
        (lambda e: e.move("rom", "lab", end=1), "no feature 'rom'; did you mean 'room'?"),
        (lambda e: e.move("smoke", "low", end=float("nan")), "finite numbers only"),
        (lambda e: e.rename_feature("smoke", "room"), "has one name twice"),
        (lambda e: e.rename_feature("smog", "x"), "no feature 'smog'; did you mean 'smoke'?"),
        (lambda e: e.rename_word("room", "lab", "x"), "the data name its categories, too"),
        (lambda e: e.rename_word("smoke", "low", "high"), "a list without repetition"),
        (lambda e: e.rename_class("yes", "no"), "without repetition"),
        (lambda e: e.rename_class("yes", 1), "all texts, all numbers or all booleans"),
        (lambda e: e.rename_group("x", "y"), "there is no group 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(editor, step, problem):
    before = editor.model
    with pytest.raises((ParameterError, RuleTextError)) as error:
        step(editor)
    assert problem in str(error.value)
    assert editor.model is before


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20))
def test_an_edited_model_is_read_as_it_is_written(seed):
    model = edited(np.random.default_rng(seed), any_model(seed), n_edits=8)
    assert from_json(to_json(model).encode()) == model
    assert to_json(read_rules(write_rules(model))) == to_json(model)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20))
def test_a_mark_splits_lines_and_branches_but_changes_no_prediction(seed):
    rng = np.random.default_rng(seed)
    model = any_model(seed)
    rows = random_rows(rng, model, 30, missing=0.2)
    node, conditions = random_conditions(rng, model)
    try:
        marked = Editor(model).pin(conditions, node=node).model
    except ParameterError:
        assert "is missing" in conditions
        return
    assert run(marked.program, rows) == pytest.approx(run(model.program, rows), rel=1e-9, abs=1e-12)
    assert sum(np.sum(term.counts) for term in marked.terms) <= sum(
        np.sum(term.counts) for term in model.terms
    )
    for before, after in zip(model.trees, marked.trees, strict=True):
        rows_before = sum(branch.support for branch in before.branches)
        assert sum(branch.support for branch in after.branches) == pytest.approx(rows_before)


def test_peaks_move_and_stay_in_order():
    model = random_model(np.random.default_rng(1), "tree", 2)
    one = model.features[0]
    middle = (one.peaks[0] + one.peaks[1]) / 2
    editor = Editor(model).move(one.name, one.words[0], peak=middle)
    assert editor.model.features[0].peaks == (middle, *one.peaks[1:])
    with pytest.raises(ParameterError, match=r"low-or-medium would peak at .*not above low"):
        Editor(model).move(one.name, one.words[0], peak=one.peaks[1] + 1)
    with pytest.raises(ParameterError, match="overlap: give the peak of one, or of two"):
        Editor(model).move(one.name, one.words[0], end=1.0)
