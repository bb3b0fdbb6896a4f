"""Single edits: what they change, what they leave, and what they refuse."""

from datetime import UTC, datetime

import numpy as np
import pytest

from random_models import coded, random_model, random_rows
from solah import LinguisticTreeClassifier, SelfOrganisedHierarchyClassifier, datasets, load_model
from solah.editing import Editor
from solah.exceptions import ParameterError, RuleTextError
from solah.explain import rules_of
from solah.model.beliefs import signals_of
from solah.rulefile import read_rules

ALARM = """\
solah rules 1
goal alarm classes
  no  prior 0.75
  yes prior 0.25
attribute smoke continuous from 0 to 9
  low    up to 2  | unknown 0.5
  medium at 3     | unknown 0.25
  high   from 5   | unknown 0.25
attribute room categorical
  lab   | unknown 0.5
  hall  | unknown 0.25
  attic | unknown 0.25
rules "evidence of smoke" on smoke | 100 rows: 0.75, 0.25
  variance 0.5
  if smoke is low    then no +1, yes -1 | 50 rows: 1, 0
  if smoke is medium then no +0.5, yes -0.5 | 25 rows: 0.6, 0.4
  if smoke is high   then no -2, yes +2 | 25 rows: 0.4, 0.6
rules "evidence of room" on room | 100 rows: 0.75, 0.25
  variance 0.1
  if room is lab           then no -0.25, yes +0.25 | 50 rows: 0.7, 0.3
  if room is hall or attic then no +0.25, yes -0.25 | 25 + 25 rows: 0.8, 0.2
sum alarm
  adds "evidence of smoke"
  adds "evidence of room"
  begins with no +0.5, yes -0.5
"""
NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)


@pytest.fixture
def editor():
    return Editor(read_rules(ALARM), author="Ann", time=NOON)


def scores(editor, tree=0):
    return editor.model.trees[tree].scores.tolist()


def test_a_rule_is_set_and_no_other_changes(editor):
    before = editor.model
    editor.set("if smoke is high then yes +3", reason="the fire drill")
    assert scores(editor) == [[0, 0], [1, -1], [0.5, -0.5], [-1.5, 1.5]]
    after = editor.model
    assert after.nodes[1:] == before.nodes[1:]
    assert after.goal == before.goal
    assert after.attributes == before.attributes
    assert np.array_equal(after.trees[0].support, before.trees[0].support)
    assert np.array_equal(after.trees[0].belief, before.trees[0].belief)
    assert scores(Editor(before)) == [[0, 0], [1, -1], [0.5, -0.5], [-2, 2]]
    (edit,) = after.edits
    assert edit.text == "set the rule: if smoke is high then yes +3"
    assert (edit.author, edit.time) == ("Ann", "2026-05-17T12:00:00Z")
    assert edit.reason == "the fire drill"


def test_the_variance_follows_the_spread_of_the_evidence(editor):
    editor.set("if smoke is high then no -4, yes +4")
    doubled = Editor(read_rules(ALARM)).set("if smoke is low then no +2, yes -2")
    assert editor.model.trees[0].variance > 0.5
    tree = doubled.set("if smoke is medium then no +1, yes -1").model
    tree = Editor(tree).set("if smoke is high then no -4, yes +4").model.trees[0]
    assert tree.variance == pytest.approx(4 * 0.5)
    assert editor.model.trees[1].variance == 0.1


def test_a_rule_that_is_removed_adds_nothing(editor):
    editor.remove("if smoke is high")
    assert scores(editor)[-1] == [0, 0]
    texts = [str(rule) for rule in rules_of(editor.model)]
    assert "if smoke is high then alarm yes 0.60 of 25 rows; adds nothing" in texts
    assert editor.model.edits[0].text == "removed the rule: if smoke is high"


def test_a_rule_is_added_and_adds_only_where_it_holds(editor):
    editor.add("if smoke is at least medium and room is attic then yes +2")
    tree = editor.model.trees[-1]
    assert tree.name == "by hand: smoke & room"
    assert editor.model.root.origins[-1] == tree.name
    table = {"smoke": [1.0, 3.0, 9.0, 9.0], "room": [2.0, 2.0, 2.0, 0.0]}
    rows = np.column_stack([table["smoke"], table["room"]])
    before = signals_of(read_rules(ALARM), coded(editor.model, rows))["alarm"]
    after = signals_of(editor.model, coded(editor.model, rows))["alarm"]
    moved = np.log(after[:, 1] / after[:, 0]) - np.log(before[:, 1] / before[:, 0])
    assert moved == pytest.approx([0, 2, 2, 0])
    (rule,) = [rule for rule in rules_of(editor.model) if rule.tree == tree.name]
    assert str(rule) == (
        "if smoke is medium or high and room is attic then adds +2.00 for yes (no rows counted)"
    )
    assert rule.share is None
    assert tree.variance > 0


def test_a_missing_reading_means_what_people_say(editor):
    rows = np.array([[np.nan, 0.0]])
    editor.set("if smoke is missing then yes +4")
    rule = editor.model.trees[0].missing
    assert rule.scores == (-2.0, 2.0)
    assert rule.support == 0
    after = signals_of(editor.model, coded(editor.model, rows))["alarm"]
    start = -0.5 - 0.5 + 0.25 + 0.25
    assert np.log(after[0, 1] / after[0, 0]) == pytest.approx(start + 4)
    (told,) = [str(rule) for rule in rules_of(editor.model) if "missing" in str(rule)]
    assert told == "if smoke is missing then adds +4.00 for yes (no rows counted)"
    editor.pin("if smoke is missing")
    assert editor.model.trees[0].missing.is_pinned
    editor.remove("if smoke is missing")
    assert editor.model.trees[0].missing is None
    with pytest.raises(ParameterError, match="'evidence of smoke' has no rule for a missing"):
        editor.remove("if smoke is missing")


def test_what_is_believed_when_nothing_is_known_is_set(editor):
    unknown = coded(editor.model, np.full((1, 2), np.nan))
    before = signals_of(editor.model, unknown)["alarm"][0]
    after = signals_of(editor.set_prior({"yes": 0.5, "no": 0.5}).model, unknown)["alarm"][0]
    assert np.log(after[1] / after[0]) == pytest.approx(np.log(3 * before[1] / before[0]))
    with pytest.raises(ParameterError, match="shares are needed for these classes: 'no', 'yes'"):
        editor.set_prior({"yes": 1.0})
    with pytest.raises(ParameterError, match="numbers that sum to 1"):
        editor.set_prior({"yes": 1.0, "no": 1.0})


def test_rules_are_pinned_and_unpinned(editor):
    editor.pin("if room is hall or attic")
    assert editor.model.trees[1].pinned == {2, 3}
    assert [rule.is_pinned for rule in rules_of(editor.model).filter(attribute="room")] == [
        False,
        True,
    ]
    editor.unpin("if room is hall or attic")
    assert not editor.model.trees[1].pinned


def test_the_parts_of_a_rule_have_no_counts_of_their_own(editor):
    """How the rows of the whole rule are shared is not known of its parts."""
    editor.set("if room is attic then yes +1")
    tree = editor.model.trees[1]
    assert tree.support.tolist() == [100, 50, 0, 0]
    texts = [str(rule) for rule in rules_of(editor.model).filter(attribute="room")]
    assert "if room is attic then adds +1.00 for yes (no rows counted)" in texts
    assert "if room is hall then adds +0.50 for no (no rows counted)" in texts


def test_where_words_moved_nothing_says_that_rows_were_counted_with_them(editor):
    editor.move("smoke", "low", end=2.5)
    one = editor.model.attributes[0]
    assert one.cores == ((-np.inf, 2.5), (3.0, 3.0), (5.0, np.inf))
    assert one.is_moved
    assert editor.model.trees[0].inputs == (one,)
    for rule in rules_of(editor.model):
        if "smoke" in rule.premise:
            assert "rows (by the words before an edit)" in str(rule)
            assert rule.to_dict()["is_outdated"]
        else:
            assert "before an edit" not in str(rule)
    lines = rules_of(editor.model).to_csv().splitlines()
    assert [line.split(",")[5] for line in lines if "if smoke is low" in line] == [""]
    assert editor.model.edits[-1].text == (
        "moved the word 'low' of 'smoke': it ends at 2.5 instead of 2"
    )


def test_a_point_becomes_a_range_and_a_point_again(editor):
    before = read_rules(ALARM)
    editor.move("smoke", "medium", start=2.75, end=4)
    tree = editor.model.trees[0]
    assert tree.inputs[0].peaks == (2.0, 2.75, 4.0, 5.0)
    assert tree.scores.tolist() == [[0, 0], [1, -1], [0.5, -0.5], [0.5, -0.5], [-2, 2]]
    assert tree.support.tolist() == [100, 50, 12.5, 12.5, 25]
    assert tree.inputs[0].ignorance == (0.5, 0.125, 0.125, 0.25)
    rows = np.array([[3.5, 0.0], [2.0, 0.0], [6.0, 1.0]])
    after = signals_of(editor.model, coded(editor.model, rows))["alarm"]
    old = signals_of(before, coded(before, np.array([[3.0, 0.0], [2.0, 0.0], [6.0, 1.0]])))["alarm"]
    assert after == pytest.approx(old)
    editor.move("smoke", "medium", start=3, end=3)
    assert editor.model.trees[0].support.tolist() == [100, 50, 25, 25]
    assert editor.model.trees[0].inputs[0].peaks == before.attributes[0].peaks


def test_parts_of_an_attribute_move_with_its_words():
    text = ALARM.replace(
        'rules "evidence of room"',
        """\
rules pair on smoke parted at medium and high, room
  if smoke is low and
    if room is anything then yes +0
  if smoke is medium and
    if room is lab then yes +2
    otherwise then yes +0
  if smoke is high and
    if room is anything then yes +0
rules "evidence of room\"""",
        1,
    ).replace('  adds "evidence of room', '  adds pair\n  adds "evidence of room')
    before = read_rules(text)
    editor = Editor(before).move("smoke", "medium", start=2.5, end=4)
    tree = editor.model.trees[1]
    assert before.trees[1].inputs[0].peaks == (2.0, 3.0, 5.0)
    assert tree.inputs[0].peaks == (2.0, 2.5, 4.0, 5.0)
    rows = np.array([[2.5, 0.0], [4.0, 0.0], [3.0, 1.0]])
    after = signals_of(editor.model, coded(editor.model, rows))["pair"]
    assert after.tolist() == [[-1, 1], [-1, 1], [0, 0]]
    back = editor.move("smoke", "medium", start=3, end=3).model
    assert back.trees[1].inputs[0].peaks == (2.0, 3.0, 5.0)
    assert back.trees[1].scores.tolist() == before.trees[1].scores.tolist()
    with pytest.raises(RuleTextError, match="only these are told apart: low; medium or high"):
        read_rules(text.replace("parted at medium and high", "parted at medium"))


def test_names_change_everywhere(editor):
    editor.rename_attribute("smoke", "ppm").rename_word("ppm", "high", "thick")
    editor.rename_class("yes", "fire").rename_group("evidence of room", "the room")
    model = editor.model
    assert [one.name for one in model.attributes] == ["ppm", "room"]
    assert model.goal.states == ("no", "fire")
    assert [tree.name for tree in model.trees] == ["evidence of ppm", "the room"]
    assert model.root.origins == ("evidence of ppm", "the room")
    assert any(str(rule).startswith("if ppm is thick then alarm fire") for rule in rules_of(model))
    assert [edit.text for edit in model.edits] == [
        "renamed the attribute 'smoke' to 'ppm'",
        "renamed the word 'high' of 'ppm' to 'thick'",
        "renamed the class 'yes' to 'fire'",
        "renamed the group 'evidence of room' to 'the room'",
    ]


@pytest.mark.parametrize("shape", ["masses", "words", "over a fusion"])
def test_names_change_in_hierarchies(shape):
    rng = np.random.default_rng(1)
    model = random_model(rng, shape, 3)
    first = model.nodes[0].name
    rows = random_rows(rng, model, 20)
    editor = Editor(model).rename_group(first, "below").rename_class("c1", "one")
    editor.rename_attribute("x0", "first")
    assert signals_of(editor.model, coded(editor.model, rows))[model.root.name].tolist() == (
        signals_of(model, coded(model, rows))[model.root.name].tolist()
    )


def test_what_stands_above_moved_words_was_counted_before_as_well():
    model = random_model(np.random.default_rng(1), "words", 2)
    below = model.trees[0].inputs[0]
    editor = Editor(model).move(below.name, below.words[0], peak=below.peaks[0] - 1)
    rules = rules_of(editor.model).filter(tree="y")
    on_z0 = [rule for rule in rules if any("z0" in c.attribute for c in rule.conditions)]
    others = [rule for rule in rules if rule not in on_z0]
    assert on_z0
    assert all("before an edit" in str(rule) for rule in on_z0)
    assert not any("before an edit" in str(rule) for rule in others)


def test_shares_of_a_tree_are_set():
    iris = datasets.load("iris")
    learnt = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.goal)
    editor = learnt.edit().set(
        'if "petal width (cm)" is low then setosa 0.5, versicolor 0.25, virginica 0.25'
    )
    rule = next(rule for rule in rules_of(editor.model) if str(rule).endswith("support 19.5"))
    assert rule.belief == (0.5, 0.25, 0.25)
    with pytest.raises(RuleTextError, match="these rules have shares, which have no signs"):
        editor.set('if "petal width (cm)" is low then setosa +1')
    with pytest.raises(RuleTextError, match="rules with shares cannot be removed"):
        editor.remove('if "petal width (cm)" is low')
    with pytest.raises(ParameterError, match="only where evidence is added up"):
        editor.add('if "petal width (cm)" is low then setosa +1')


def test_an_estimator_and_a_loaded_model_are_edited_alike(tmp_path):
    iris = datasets.load("iris")
    learnt = SelfOrganisedHierarchyClassifier().fit(iris.table, iris.goal)
    learnt.save(tmp_path / "model.json")
    rule = 'if "petal width (cm)" is low then setosa +3'
    first = learnt.edit(author="Ann", time=NOON).set(rule).model
    second = load_model(tmp_path / "model.json").edit(author="Ann", time=NOON).set(rule)
    assert second.model == first
    second.save(tmp_path / "edited.json")
    assert load_model(tmp_path / "edited.json").model_.edits == first.edits
    assert not learnt.model_.edits


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (lambda e: e.set("if smok is high then yes +1"), "no rules are on 'smok'; did you mean"),
        (lambda e: e.set("if smoke is hig then yes +1"), "no word 'hig'; did you mean 'high'?"),
        (lambda e: e.set("if smoke is high then yess +1"), "no class 'yess'; did you mean 'yes'?"),
        (lambda e: e.set("if smoke is high"), "has no 'then'; remove() takes conditions only"),
        (lambda e: e.set("if smoke is high then yes 1"), "evidence needs its sign: +1"),
        (lambda e: e.set("if smoke is high then yes +1e7, no -1e7"), "this cannot be done"),
        (lambda e: e.set("if smoke is high and room is lab then yes +1"), "together; add one"),
        (lambda e: e.set("if smoke is high then yes +1", tree="x"), "has no rules 'x'"),
        (lambda e: e.add("if smoke is high then yes +1"), "there are such rules already"),
        (lambda e: e.add("if smok is high and room is lab then yes +1"), "no attribute 'smok'"),
        (lambda e: e.pin("if smoke is missing"), "has no rule for a missing reading"),
        (lambda e: e.move("smoke", "low", end=4), "where 'medium' begins at 3; move that first"),
        (lambda e: e.move("smoke", "high", start=3), "'medium' reaches up to 3; move that first"),
        (lambda e: e.move("smoke", "medium", start=4), "would end at 3, before it begins at 4"),
        (lambda e: e.move("smoke", "low", start=1), "applies to all lower readings"),
        (lambda e: e.move("smoke", "lou", end=1), "has no word 'lou'; did you mean 'low'?"),
        (lambda e: e.move("smoke", "low"), "have ranges: give start, end or both"),
        (lambda e: e.move("smoke", "low", peak=1), "have ranges: give start, end or both"),
        (lambda e: e.move("room", "lab", end=1), "has states, which do not move"),
        (lambda e: e.move("rom", "lab", end=1), "no attribute 'rom'; did you mean 'room'?"),
        (lambda e: e.move("smoke", "low", end=float("nan")), "move that first"),
        (lambda e: e.rename_attribute("smoke", "room"), "has one name twice"),
        (lambda e: e.rename_attribute("smog", "x"), "no attribute 'smog'; did you mean 'smoke'?"),
        (lambda e: e.rename_word("room", "lab", "x"), "has states, which the data have, too"),
        (lambda e: e.rename_word("smoke", "low", "high"), "a list without repetition"),
        (lambda e: e.rename_class("yes", "no"), "without repetition"),
        (lambda e: e.rename_class("yes", 1), "all texts, all numbers or all truth values"),
        (lambda e: e.rename_group("x", "y"), "there is no group 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(editor, step, problem):
    before = editor.model
    with pytest.raises((ParameterError, RuleTextError)) as error:
        step(editor)
    assert problem in str(error.value)
    assert editor.model is before


def test_peaks_move_and_stay_in_order():
    model = random_model(np.random.default_rng(1), "tree", 2)
    one = model.attributes[0]
    middle = (one.peaks[0] + one.peaks[1]) / 2
    editor = Editor(model).move(one.name, one.words[0], peak=middle)
    assert editor.model.attributes[0].peaks == (middle, *one.peaks[1:])
    with pytest.raises(ParameterError, match=r"low-or-medium would peak at .*not above low"):
        Editor(model).move(one.name, one.words[0], peak=one.peaks[1] + 1)
    with pytest.raises(ParameterError, match="overlap: give the peak of one, or of two"):
        Editor(model).move(one.name, one.words[0], end=1.0)
