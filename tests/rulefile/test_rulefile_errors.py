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
from solah.exceptions import RuleTextError
from solah.rulefile import load_rules, read_rules, write_rules

TEXTS = [
    write_rules(random_model(np.random.default_rng(seed), shape))
    for seed, shape in enumerate(("groups", "flat fusion", "words and pairs"))
]


def at(text, piece):
    """Return the line and the column of a piece of text."""
    before, found, _ = text.partition(piece)
    assert found, piece
    return before.count("\n") + 1, len(before) - before.rfind("\n")


TRUSTED = f"""{SMALL}
policy
  needs belief 0.7 in no
  needs belief 0.9 in yes
  needs 0.5 of the evidence
  smooths over 4
  settles 2 of 3
"""


@pytest.mark.parametrize(
    ("good", "bad", "where", "problem"),
    [
        ("0.9 in yes", "0.9 in yess", "yess", "no class 'yess'; did you mean 'yes'?"),
        ("0.9 in yes", "0.9 in no", "no\n  needs 0.5", "the belief in 'no' is said twice"),
        ("  needs belief 0.9 in yes\n", "", "policy", "and yes has no line for it"),
        ("0.9 in yes", "1.9 in yes", "1.9", "from 0 to 1"),
        ("0.9 in yes", "high in yes", "high in yes", "expected the belief, found 'high'"),
        ("0.5 of the", "1.5 of the", "1.5", "from 0 to 1"),
        ("0.5 of the", "0.5 of", "evidence\n  smooths", "expected 'the', found 'evidence'"),
        ("smooths over 4", "smooths over 5", "policy", "a power of two up to 256"),
        ("smooths over 4", "smooths over 2.5", "2.5", "an integer"),
        ("smooths over 4", "settles 1 of 2", "settles 2", "this is said twice"),
        ("smooths over 4", "smoths over 4", "smoths", "expected"),
        ("settles 2 of 3", "settles 4 of 3", "policy", "from 1 to the window"),
        ("settles 2 of 3", "policy", "policy\n", "a model has one policy"),
    ],
)
def test_a_wrong_policy_is_told_where(good, bad, where, problem):
    assert TRUSTED.count(good) == 1
    text = TRUSTED.replace(good, bad)
    start = text.rindex(where) if bad == "policy" else text.index(where, len(SMALL))
    with pytest.raises(RuleTextError, match=re.escape(problem)) as refused:
        read_rules(text)
    before = text[:start]
    place = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert (refused.value.line, refused.value.column) == place


@pytest.mark.parametrize(
    ("good", "bad", "where", "problem"),
    [
        ("if smoke is low ", "if smok is low ", "smok is", "'smok'; did you mean 'smoke'?"),
        ("if smoke is low ", "if smoke is loww ", "loww", "no word 'loww'; did you mean 'low'?"),
        ("then no +1, yes", "then no +1, yess", "yess", "no class 'yess'; did you mean 'yes'?"),
        ("then no +1, yes", "then no +1, no", "no -1", "the class 'no' is named twice"),
        ("then no +1", "then no 1", "-1 | 80", "evidence has signs, and shares have none"),
        ("then no +1", "than no +1", "than", "expected 'then', found 'than'; did you mean 'then'?"),
        ("if smoke is low ", "if smoke low ", "low  then", "expected 'is', found 'low'"),
        ("+1, yes -1 | 80", "+1.x, yes -1 | 80", "+1.x", "'+1.x' is no number"),
        ("+1, yes -1 | 80", "+1, yes -- | 80", "-- |", "'--' is no number"),
        ("+1, yes -1 | 80", "+1, yes -1e7 | 80", "if smoke is low", "number from -1e+06 to 1e+06"),
        ("pin if smoke is high", "pin if smoke is low", "pin", "already, in line 17"),
        ("80 rows", "-80 rows", "if smoke is low", "number of rows must be a finite number"),
        ("80 rows: 1, 0", "80 rows: 1, 1", "if smoke is low", "must be numbers that sum to 1"),
        ("80 rows: 1, 0", "80 rows: 1", "80 rows", "expected 2 numbers behind 'rows:'"),
        ("80 rows", "40 + 30 + 10 rows", "40 +", "expected 1 numbers of rows"),
        ("low  up to 2", "low  up to 4", "high from", "high begins at 3.0, and the word before it"),
        ("high from 3 ", "high from x ", "x  |", "expected where the word begins, found 'x'"),
        ("high from 3 ", "high up to 3 ", "high up", "must begin with 'from'"),
        (
            "unknown 0.8",
            "unknown 0.7",
            "attribute smoke",
            "masses behind 'unknown' must be numbers",
        ),
        (" | unknown 0.8", "", "low  up", "expected 1 mass behind 'unknown' here. Got 0"),
        ("prior 0.1", "", "yes", "other classes have a prior"),
        ("continuous from", "continous from", "continous", "did you mean 'continuous'?"),
        ('adds "of smoke"', 'adds "of smok"', '"of smok"', "did you mean 'of smoke'?"),
        ("solah rules 1", "solah rules 2", "2", "reads rules files of version 1"),
        ("variance 0.5", "variance nan", "nan", "expected the variance, found 'nan'"),
        ("variance 0.5", "variance 1e999", "variance", "this must be a finite number"),
        ('"of smoke" on', '"of smoke on', '"of smoke on', "a double quote is not closed"),
        ("sum alarm", "group alarm", "begins", "expected 'attribute', 'belief'"),
        ("sum alarm", "sum smoke", "smoke\n  adds", "the name 'smoke' is taken already"),
        ("begins with no +1, yes -1", "", "# the end", "expected 'begins', found the end"),
        ("goal alarm classes", "goal smoke alarm classes", "alarm classes", "needs double quotes"),
    ],
)
def test_what_is_wrong_is_found_where_it_stands(good, bad, where, problem):
    assert good in SMALL
    text = SMALL.replace(good, bad, 1)
    with pytest.raises(RuleTextError) as error:
        read_rules(text)
    assert problem in error.value.problem
    line, column = at(text, where)
    if "found the end" in problem:
        assert error.value.line > line
    else:
        assert (error.value.line, error.value.column) == (line, column)


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
    "a rule is missing": lambda r, t: _drop(r, t, r"^ +if .* then"),
    "a rule stands there twice": lambda r, t: _double(r, t, r"^ +if .* then"),
    "an unknown attribute": lambda r, t: _replace(r, t, r"if x\d is", "if y7 is"),
    "an unknown word": lambda r, t: _replace(r, t, r"( is (?:at \w+ |from )?)[^\s]+", r"\1huge"),
    "an unknown class": lambda r, t: _replace(r, t, r"c1 ([+-])", r"c9 \1"),
    "no number": lambda r, t: _replace(r, t, r"[+-]\d+\.\d+", "+much"),
    "not a number": lambda r, t: _replace(r, t, r"[+-]\d+\.\d+", "nan"),
    "two points": lambda r, t: _replace(r, t, r"([+-]\d+\.\d+)", r"\1.5"),
    "too large": lambda r, t: _replace(r, t, r"[+-]\d+\.\d+", "+1e999"),
    "no sign": lambda r, t: _replace(r, t, r"c1 [+-]", "c1 "),
    "no 'then'": lambda r, t: _replace(r, t, r" then ", " "),
    "no 'if'": lambda r, t: _replace(r, t, r"^( +)if ", r"\1"),
    "no 'is'": lambda r, t: _replace(r, t, r" is ", " "),
    "no comma": lambda r, t: _replace(r, t, r",( +c1)", r"\1"),
    "a word is missing": lambda r, t: _drop(r, t, r"(up to|peaks at) "),
    "a word stands there twice": lambda r, t: _double(r, t, r"^  \S+ +(up to|from|at|peaks at) "),
    "an attribute stands there twice": lambda r, t: _double(r, t, r"^attribute "),
    "a wrong kind": lambda r, t: _replace(r, t, r"categorical|ordinal|continuous", "nominal"),
    "nothing adds it": lambda r, t: _drop(r, t, r"^  adds "),
    "it is added twice": lambda r, t: _double(r, t, r"^  adds "),
    "no beginning": lambda r, t: _drop(r, t, r"^  begins with"),
    "shares of more than 1": lambda r, t: _replace(r, t, r"rows: \d", "rows: 1"),
    "shares too few": lambda r, t: _replace(r, t, r"(rows: [\d.e-]+), [\d.e-]+", r"\1"),
    "rows below 0": lambda r, t: _replace(r, t, r"\| ([\d.]+)( \+ .*)? rows", r"| -\1\2 rows"),
    "it ends too early": lambda r, t: t[: r.randrange(len(t) * 4 // 5)],
    "a lonely quote": lambda r, t: _replace(r, t, r"^(  adds )", r'\1"'),
    "nonsense": lambda r, t: _replace(r, t, r"^(attribute|rules|sum)", r"\1s"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("seed", range(8))
def test_a_mistake_is_an_error_that_says_where(mistake, seed):
    """More than 200 files: 27 mistakes, each made at 8 random places."""
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


def test_a_few_lines_cannot_stand_for_millions_of_nodes():
    lines = ["solah rules 1", "goal y classes", "  a", "  b"]
    for number in range(5):
        lines.append(f"attribute x{number} categorical")
        lines += [f"  s{state}" for state in range(200)]
    lines.append("rules y on x0, x1, x2, x3, x4")
    lines += [f"if x{number} is anything and" for number in range(4)]
    lines.append("if x4 is anything then a 0.5, b 0.5")
    with pytest.raises(RuleTextError, match="more than 4,194,304 nodes"):
        read_rules("\n".join(lines))


def test_the_error_of_a_file_names_it(tmp_path):
    path = tmp_path / "lab.rules"
    path.write_text(SMALL.replace("is low", "is lo"), encoding="utf-8")
    with pytest.raises(RuleTextError, match=r"^lab\.rules: line 17, column 15: 'smoke' has no"):
        load_rules(path)
    path.write_bytes(SMALL.encode().replace(b"smoke is", b"sm\xffke is"))
    with pytest.raises(RuleTextError, match=r"^lab\.rules: line 17, column 8: this is not text"):
        load_rules(path)
    with pytest.raises(RuleTextError, match="more than 10 bytes"):
        load_rules(path, max_bytes=10)
