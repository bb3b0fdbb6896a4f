"""A rule as a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.edit.sentence import (
    Conclusion,
    SetName,
    StatedCondition,
    StatedRule,
    parse_change,
    parse_rule,
)
from solah.exceptions import RuleTextError


def test_a_sentence_has_its_conditions_and_scores():
    rule = parse_rule("if age is old and bmi is at least high then diabetic +0.8, healthy -0.8")
    assert rule.conditions == (
        StatedCondition("age", "one of", (SetName(("old",)),)),
        StatedCondition("bmi", "at least", (SetName(("high",)),)),
    )
    assert rule.conclusion == Conclusion((("diabetic",), ("healthy",)), (0.8, -0.8))
    assert rule.scores_for(["healthy", "diabetic"]) == (-0.8, 0.8)
    assert str(rule) == "if age is old and bmi is at least high: diabetic +0.8, healthy -0.8"
    assert parse_rule(str(rule)) == rule


def test_conditions_read_as_rules_print_them():
    known, crossovers = [("low",), ("medium",), ("high",), ("not",)], [2.5, 12000.0, 13000.0]
    for text, places in (
        ("below 2.5", (0,)),
        ("above 2.5", (1, 2, 3)),
        ("2.5 to 12000", (1,)),
        ("not low or high", (1, 3)),
        ("not", (3,)),
        ("not or low", (0, 3)),
    ):
        (condition,) = parse_change(f"if x is {text}").conditions
        assert condition.indices(known, crossovers) == places
        assert str(condition) == f"x is {text}"
    (condition,) = parse_change("if x is above 3").conditions
    with pytest.raises(RuleTextError, match="'x' has no words that meet at 3"):
        condition.indices(known, crossovers)
    with pytest.raises(RuleTextError, match="'x' has no words that meet at 3"):
        condition.indices(known)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("medium", [2]),
        ("low or high", [1, 3]),
        ("at least medium", [2, 3, 4]),
        ("at most low", [0, 1]),
        ("from low to high", [1, 2, 3]),
        ('"very high"', [4]),
        ("anything", [0, 1, 2, 3, 4]),
    ],
)
def test_words_are_found_by_what_they_mean(text, places):
    words = [(word,) for word in ("very low", "low", "medium", "high", "very high")]
    (condition,) = parse_rule(f"if x is {text} then a +1").conditions
    assert list(condition.indices(words)) == places


def test_classes_that_are_not_named_get_nothing_and_the_mean_is_0():
    rule = parse_rule("if smoke is high then alarm +3")
    assert rule.scores_for(["none", "alarm"]) == (-1.5, 1.5)
    assert rule.scores_for(["alarm", "b", "c"]) == (2.0, -1.0, -1.0)
    assert parse_rule("if x is 1 then 0 +2, 1 +1").scores_for([0, 1]) == (2.0, 1.0)
    assert parse_rule("if x is true then true +2").scores_for([True, False]) == (1.0, -1.0)
    assert parse_rule("if x is low then -2.5").scores_for([]) == (-2.5,)


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, "expected 'if', found the end"),
        ("when x is a then b +1", 1, "expected 'if', found 'when'"),
        ("if x is a then b 1", 16, "a weight needs its sign: +1"),
        ("if x is a", 10, "expected ':' and weights behind the conditions"),
        ("if x is a then b", 17, "expected a number for 'b', found the end"),
        ("if x is a than b +1", 11, "did you mean 'then'?"),
        ("if petal width is a then b +1", 10, "a name with spaces needs double quotes"),
        ("if x is a and x is b then b +1", 15, "'x' occurs in the rule twice"),
        ("if x is a then b +1 c +2", 21, "expected a comma or the end of the rule"),
        ("if x is a then b +1e999", 18, "'+1e999' is too large a number"),
        ("if x is at high then b +1", 12, "expected 'least' or 'most', found 'high'"),
        ("if x is then then b +1", 9, "found 'then', which needs double quotes as a name"),
        ('if "x is a then b +1', 4, "a double quote is not closed"),
        (r'if "\q" is a then b +1', 4, "has an escape that JSON does not know"),
        ('if "" is a then b +1', 4, "a name must not be empty"),
        (r'if "\ud800" is a then b +1', 4, "half a character"),
    ],
)
def test_a_wrong_sentence_is_an_error_that_says_where(text, column, problem):
    with pytest.raises(RuleTextError) as error:
        parse_rule(text)
    assert problem in error.value.problem
    assert (error.value.line, error.value.column) == (1, column)


def test_words_and_classes_that_are_not_there_are_errors_that_say_where():
    rule = parse_rule("if age is from od to young then ill +1")
    with pytest.raises(
        RuleTextError, match=r"column 16: 'age' has no word 'od'; did you mean 'old'"
    ):
        rule.conditions[0].indices([("young",), ("old",)])
    turned = parse_rule("if age is from old to young then ill +1").conditions[0]
    with pytest.raises(RuleTextError, match="old comes after young; swap them"):
        turned.indices([("young",), ("old",)])
    with pytest.raises(RuleTextError, match="column 33: there is no class 'ill'"):
        rule.scores_for(["sick", "well"])
    with pytest.raises(RuleTextError, match="the target is a number, so no class"):
        rule.scores_for([])
    with pytest.raises(RuleTextError, match="expected the name of a class"):
        parse_rule("if age is old then +1").scores_for(["sick", "well"])


def test_only_text_is_a_rule():
    with pytest.raises(RuleTextError, match="a rule must be text. Got a value of type int"):
        parse_rule(3)


NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable() or "\n" in name)
SCORES = st.floats(-1e6, 1e6)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=3), NAMES, SCORES)
def test_a_sentence_is_read_as_it_is_written(feature, words, state, score):
    names = tuple(SetName((word,)) for word in words)
    condition = StatedCondition(feature, "one of", names)
    rule = StatedRule((condition,), Conclusion(((state,),), (score,)))
    try:
        str(rule).encode()
    except UnicodeEncodeError:
        return
    assert parse_rule(str(rule)) == rule
