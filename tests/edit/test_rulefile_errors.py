"""Rules files that are wrong: an error that says where, whatever is wrong."""

import random
import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rulefile_samples import SMALL

from random_models import any_model, random_model
from solah.edit import load_rules, read_rules, write_rules
from solah.exceptions import RuleTextError
from solah.model import save_document

TEXTS = [
    write_rules(random_model(np.random.default_rng(seed), shape))
    for seed, shape in enumerate(("groups", "groups", "groups"))
]


def at(text, piece):
    """Return the line and the column of a piece of text."""
    before, found, _ = text.partition(piece)
    assert found, piece
    return before.count("\n") + 1, len(before) - before.rfind("\n")


TRUSTED = f"""{SMALL}
policy
  min_probability no 0.7
  min_probability yes 0.9
  min_completeness 0.5
  smoothing 4
  votes 2 of 3
"""


@pytest.mark.parametrize(
    ("good", "bad", "where", "problem"),
    [
        ("yes 0.9", "yess 0.9", "yess", "no class 'yess'; did you mean 'yes'?"),
        ("yes 0.9", "no 0.9", "min_probability no 0.9", "no has a limit already"),
        ("  min_probability yes 0.9\n", "", "", "'min_probability yes', as of other classes"),
        ("yes 0.9", "yes 1.9", "1.9", "from 0 to 1"),
        ("yes 0.9", "yes high", "high\n  min", "expected the probability, found 'high'"),
        ("completeness 0.5", "completeness 1.5", "1.5", "from 0 to 1"),
        ("completeness 0.5", "completeness 0.5 of", "of\n  smooth", "the end of the line"),
        ("smoothing 4", "smoothing 5", "policy", "a power of two up to 256"),
        ("smoothing 4", "smoothing 2.5", "2.5", "an integer"),
        ("smoothing 4", "votes 1 of 2", "votes 2", "votes is set twice"),
        ("smoothing 4", "smothing 4", "smothing", "did you mean 'smoothing'?"),
        ("votes 2 of 3", "votes 4 of 3", "policy", "from 1 to the window"),
        ("votes 2 of 3", "policy", "policy\n", "a second policy; keep one"),
    ],
)
def test_a_wrong_policy_is_told_where(good, bad, where, problem):
    assert TRUSTED.count(good) == 1
    text = TRUSTED.replace(good, bad)
    start = text.rindex(where) if bad in ("policy", "") else text.index(where, len(SMALL))
    with pytest.raises(RuleTextError, match=re.escape(problem)) as refused:
        read_rules(text)
    before = text[:start]
    place = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert (refused.value.line, refused.value.column) == place


@pytest.mark.parametrize(
    ("good", "bad", "where", "problem"),
    [
        ("if smoke is low:", "if smok is low:", "smok is", "'smok'; did you mean 'smoke'?"),
        ("if smoke is low:", "if smoke is loww:", "loww", "no word 'loww'; did you mean 'low'?"),
        (": no +1, yes -1 |", ": no +1, yess -1 |", "yess", "'yess'; did you mean 'yes'?"),
        (": no +1, yes -1 |", ": no +1, no -1 |", "no -1", "the class 'no' is named twice"),
        (
            ": no +1, yes -1 |",
            ": no 1, yes -1 |",
            "-1 | 80",
            "either weights, with signs, or shares",
        ),
        (": no +1, yes -1 |", ": no 1, yes 0 |", "no 1", "a weight needs its sign: +1"),
        (": no +1, yes -1 |", " than no +1, yes -1 |", "than", "did you mean 'then'?"),
        ("if smoke is low:", "if smoke low:", "low: no", "expected 'is', found 'low'"),
        ("+1, yes -1 | 80", "+1.x, yes -1 | 80", "+1.x", "'+1.x' is not a number"),
        ("+1, yes -1 | 80", "+1, yes -- | 80", "-- |", "'--' is not a number"),
        ("+1, yes -1 | 80", "+1, yes -1e7 | 80", "if smoke is low", "number from -1e+06 to 1e+06"),
        ("pin if smoke is high", "pin if smoke is low", "pin", "for this already, in line 19"),
        (
            "pin if smoke is high",
            "pin if smoke is anything",
            "smoke is anything",
            "in line 19: smo",
        ),
        ("pin if smoke is high: no -2, yes +2 | 20 rows: 0.5, 0.5", "", "", "smoke is high"),
        ("80 rows", "-80 rows", "if smoke is low", "number of rows must be a finite number"),
        ("80 rows: 1, 0", "80 rows: 1, 1", "if smoke is low", "must be numbers that sum to 1"),
        ("80 rows: 1, 0", "80 rows: 1", "| 80 rows", "expected 2 numbers behind 'rows:'"),
        ("low  up to 2", "low  up to 4", "high from", "high does not follow the word before it"),
        ("high from 3 ", "high from x ", "x  |", "expected where the word applies, found 'x'"),
        ("high from 3 ", "high up to 3 ", "high up", "high does not follow the word before it"),
        ("missing 0.8", "missing 0.7", "feature smoke", "masses behind 'missing' must be numbers"),
        (" | missing 0.8", "", "low  up", "expected 1 mass behind 'missing' here. Got 0"),
        ("share 0.1", "", "yes", "give all classes a share, or none"),
        ("no  share 0.9  # most often\n  yes share 0.1", "no\n  yes", "sum", "classes have shares"),
        ("continuous from", "continous from", "continous", "did you mean 'continuous'?"),
        ("rules on smoke", "rules on smok", "smok |", "did you mean 'smoke'?"),
        ("solah rules 1", "solah rules 2", "2", "reads rules files of version 1"),
        ("variance 0.5", "variance nan", "nan", "expected the variance, found 'nan'"),
        ("variance 0.5", "variance 1e999", "1e999", "this must be a finite number"),
        ("feature smoke", 'feature "smoke', '"smoke cont', "a double quote is not closed"),
        ("sum alarm", "sum smoke", "smoke\n  baseline", "this 'smoke' is taken already"),
        ("sum alarm", "tree alarm on smoke", "baseline", "expected 'start', found 'baseline'"),
        ("sum alarm\n  baseline: no +1, yes -1", "", "rules on", "this must be below a sum"),
        ("baseline: no +1, yes -1", "", "rules on smoke", "expected 'baseline', found 'rules'"),
        ("# the end", "group a\n  room", "room", "there is no feature 'room' above"),
        ("# the end", "group a\n  smoke\n  smoke", "smoke\n\n", "has these rules already"),
        ("# the end", "group smoke\n  smoke", "group", "name 'smoke' is taken already"),
        ("# the end", "rules on smoke\notherwise: yes +1", "smoke\noth", "of another term"),
        ("# the end", "sum b\nbaseline: no +1", "sum alarm", "the model has no rules on 'alarm'"),
        ("target alarm classes", "target big alarm classes", "alarm cl", "needs double quotes"),
    ],
)
def test_what_is_wrong_is_found_where_it_stands(good, bad, where, problem):
    assert good in SMALL
    text = SMALL.replace(good, bad, 1)
    with pytest.raises(RuleTextError) as error:
        read_rules(text)
    assert problem in error.value.problem
    if where:
        assert (error.value.line, error.value.column) == at(f"{text}\n", where)
    else:
        assert error.value.line > text.count("\n")


def _lines(text, pattern):
    return [number for number, line in enumerate(text.split("\n")) if re.search(pattern, line)]


def _drop(rng, text, pattern):
    lines = text.split("\n")
    del lines[rng.choice(_lines(text, pattern))]
    return "\n".join(lines)


def _double(rng, text, pattern):
    lines = text.split("\n")
    place = rng.choice(_lines(text, pattern))
    lines.insert(place, lines[place])
    return "\n".join(lines)


def _replace(rng, text, pattern, new):
    found = rng.choice(list(re.finditer(pattern, text, re.MULTILINE)))
    return text[: found.start()] + found.expand(new) + text[found.end() :]


MISTAKES = {
    "a rule is missing": lambda r, t: _drop(r, t, r"^ +if .* is (?!missing)"),
    "a rule stands there twice": lambda r, t: _double(r, t, r"^ +if "),
    "an unknown feature": lambda r, t: _replace(r, t, r"if x\d is", "if y7 is"),
    "an unknown word": lambda r, t: _replace(r, t, r"( is (?:at \w+ |from )?)[^\s]+", r"\1huge"),
    "an unknown class": lambda r, t: _replace(r, t, r"c1 ([+-])", r"c9 \1"),
    "no number": lambda r, t: _replace(r, t, r"[+-]\d+\.\d+", "+much"),
    "not a number": lambda r, t: _replace(r, t, r"[+-]\d+\.\d+", "nan"),
    "two points": lambda r, t: _replace(r, t, r"([+-]\d+\.\d+)", r"\1.5"),
    "too large": lambda r, t: _replace(r, t, r"[+-]\d+\.\d+", "+1e999"),
    "no sign": lambda r, t: _replace(r, t, r"c1 [+-]", "c1 "),
    "no colon": lambda r, t: _replace(r, t, r": ", " "),
    "no 'if'": lambda r, t: _replace(r, t, r"^( +)if ", r"\1"),
    "no 'is'": lambda r, t: _replace(r, t, r" is ", " "),
    "no comma": lambda r, t: _replace(r, t, r",( +c1)", r"\1"),
    "a word is missing": lambda r, t: _drop(r, t, r"(up to|peaks at) "),
    "a word stands there twice": lambda r, t: _double(r, t, r"^  \S+ +(up to|from|at|peaks at) "),
    "a feature stands there twice": lambda r, t: _double(r, t, r"^feature "),
    "a wrong kind": lambda r, t: _replace(r, t, r"categorical|ordinal|continuous", "nominal"),
    "rules that are not there": lambda r, t: _replace(r, t, r"^  x\d$", "  x9"),
    "rules in a group twice": lambda r, t: _double(r, t, r"^  x\d$"),
    "no baseline": lambda r, t: _drop(r, t, r"^  baseline"),
    "shares of more than 1": lambda r, t: _replace(r, t, r"rows: \d", "rows: 1"),
    "shares too few": lambda r, t: _replace(r, t, r"(rows: [\d.e-]+), [\d.e-]+", r"\1"),
    "rows below 0": lambda r, t: _replace(r, t, r"\| ([\d.]+) rows", r"| -\1 rows"),
    "it ends too early": lambda r, t: t[: r.randrange(t.index("\nsum"))],
    "a lonely quote": lambda r, t: _replace(r, t, r"^(rules on )", r'\1"'),
    "nonsense": lambda r, t: _replace(r, t, r"^(feature|rules|sum)", r"\1s"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_an_error_that_says_where(mistake):
    """More than 200 files: 27 mistakes, each made at 8 random places."""
    for seed in range(8):
        rng = random.Random(f"{mistake}{seed}")
        text = rng.choice(TEXTS)
        wrong = MISTAKES[mistake](rng, text)
        assert wrong != text
        with pytest.raises(RuleTextError) as error:
            read_rules(wrong)
        assert 1 <= error.value.line <= wrong.count("\n") + 1
        assert error.value.column >= 1
        assert error.value.problem


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 200), st.data())
def test_random_changes_make_an_error_or_a_sound_model(seed, data):
    text = write_rules(any_model(seed))
    place = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 5))
    piece = data.draw(st.text(max_size=4) | st.sampled_from(['"', "|", "-or-", "if ", "+ ", "1e9"]))
    with suppress(RuleTextError):
        model = read_rules(text[:place] + piece + text[place + length :])
        assert write_rules(read_rules(write_rules(model))) == write_rules(model)


TREE = """\
solah rules 1
target y classes
  a
  b
feature x continuous from 0 to 9
  low         peaks at 2
  low-or-high peaks at 4
  high        peaks at 6
feature z categorical
  s
  t
tree below on z
  start: a 0.5, b 0.5
  if z is s or t then a 0.5, b 0.5
belief hope of below in b
  dim    peaks at 0
  dim-or-bright peaks at 0.5
  bright peaks at 1
tree y on x, hope
  start: a 0.5, b 0.5
  if x is low and hope is anything then a 1, b 0
  if x is low-or-high then a 0.5, b 0.5
  if x is high then a 0, b 1
"""


@pytest.mark.parametrize(
    ("good", "bad", "where", "problem"),
    [
        ("is low-or-high then", "is low or low-or-high then", "if x is low or", "ask differently"),
        ("  if x is high then a 0, b 1\n", "", "if x is low and", "no rule covers set 2"),
        ("x is low and", "x is low or high and", "x is low or", "only the last condition"),
        ("x is low and", "x is missing and", "x is missing", "no condition for a missing value"),
        ("x is low and", "z is s and", "z is s and", "the rules are not on 'z'"),
        ("then a 0, b 1", "then a +0, b 1.0", "1.0", "either weights, with signs, or shares"),
        ("if x is high then a 0, b 1", "if x is high then b 1", "b 1\n", "no share for a here"),
        ("then a 1, b 0", "then a 1, b 1", "if x is low and", "the shares must be numbers that"),
        ("low-or-high peaks at 4", "low-or-hig peaks at 4", "low-or-hig", "is out of order"),
        ("low-or-high peaks at 4", "low-or-high from 4", "low-or-high", "needs a peak"),
        ("  low-or-high peaks at 4\n", "", "high        peaks", "is out of order"),
        ("of below in b", "of above in b", "above", "there is no node 'above' above"),
        ("of below in b", "of below in c", "c\n  dim", "there is no class 'c'"),
        ("on x, hope", "on x, x, hope", "x, x", "a list without repetition"),
        ("tree y on x, hope", "sum y", "sum y", "a sum needs a target whose classes have shares"),
        ("tree y on x, hope", "tree y on x, z", "hope is any", "the rules are not on 'hope'"),
        ("  if z is s or t then a 0.5, b 0.5\n", "", "belief", "expected a rule, which begins"),
    ],
)
def test_a_wrong_tree_is_told_where(good, bad, where, problem):
    assert read_rules(TREE).n_rules == 0
    assert good in TREE
    text = TREE.replace(good, bad, 1)
    with pytest.raises(RuleTextError, match=re.escape(problem)) as error:
        read_rules(text)
    assert (error.value.line, error.value.column) == at(text, where)


def test_a_belief_that_no_rules_are_on_is_refused():
    text = TREE.replace("on x, hope", "on x, below").replace("hope is any", "below is any")
    with pytest.raises(RuleTextError, match="line 15, column 1: the node that comes next has no"):
        read_rules(text)


def test_the_error_of_a_file_names_it(tmp_path):
    path = tmp_path / "lab.rules"
    path.write_text(SMALL.replace("is low", "is lo"), encoding="utf-8")
    with pytest.raises(RuleTextError, match=r"^lab\.rules: line 19, column 15: 'smoke' has no"):
        load_rules(path)
    path.write_bytes(SMALL.encode().replace(b"smoke is", b"sm\xffke is"))
    with pytest.raises(RuleTextError, match=r"^lab\.rules: line 19, column 8: this is not text"):
        load_rules(path)
    with pytest.raises(RuleTextError, match="more than 10 bytes"):
        load_rules(path, max_bytes=10)


def test_a_model_file_is_named_as_such(tmp_path):
    model = random_model(np.random.default_rng(0), "groups")
    save_document(model, tmp_path / "model.json")
    with pytest.raises(RuleTextError, match=r"model.json: .*this is a model file \(JSON\)"):
        load_rules(tmp_path / "model.json")
