"""Keyword features of text messages: the paper's two tables, by hand and on its messages."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from solah import LinguisticTreeClassifier, datasets
from solah.data import Column, Table
from solah.datasets import SmsKeywords
from solah.exceptions import DataError

NAMES_20 = [
    "urgent", "congrat", "!", "win/won", "offer", "award", "prize", "call", "reply", "send",
    "stop", "click", "text/txt", "sex", "girl", "cash", "free", "0p..9p",
    "euro/gbp/pound/£/$/€", "price",
]  # fmt: skip

NAMES_14 = [
    "urgent", "congrat", "!", "win/won", "offer", "award/prize", "sex/girl", "call",
    "reply/send", "stop/click", "text/txt", "cash/price", "free/0p..9p", "euro/gbp/pound/£/$/€",
]  # fmt: skip

# Written independently of the code: the paper's tables as regular expressions.
PATTERNS_20 = [
    "urgent", "congrat", "!", "win|won", "offer", "award", "prize", "call", "reply", "send",
    "stop", "click", "text|txt", "sex", "girl", "cash", "free", "[0-9]p",
    "euro|gbp|pound|£|[$]|€", "price",
]  # fmt: skip
PATTERNS_14 = [
    "urgent", "congrat", "!", "win|won", "offer", "award|prize", "sex|girl", "call",
    "reply|send", "stop|click", "text|txt", "cash|price", "free|[0-9]p", "euro|gbp|pound|£|[$]|€",
]  # fmt: skip
PATTERNS = {20: PATTERNS_20, 14: PATTERNS_14}

# The numbers, by the paper's table of 20, of the 20 that each of the 14 unites.
UNITED = [[0], [1], [2], [3], [4], [5, 6], [13, 14], [7], [8, 9], [10, 11], [12], [15, 19],
          [16, 17], [18]]  # fmt: skip

MESSAGES = ["WINNER! Call now to claim your prize", "see you at six"]


def by_patterns(messages, patterns):
    found = [[bool(re.search(one, text.lower())) for one in patterns] for text in messages]
    return np.array(found, dtype=float)


def numbers_found(message, n_keywords=20):
    return np.flatnonzero(SmsKeywords(n_keywords).transform([message])[0]).tolist()


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("an urgent matter", 0),
        ("congratulations dear", 1),
        ("hello!", 2),
        ("you could win it", 3),
        ("we won it", 3),
        ("an offer for you", 4),
        ("an award for you", 5),
        ("a prize for you", 6),
        ("call me later", 7),
        ("reply at once", 8),
        ("send it on", 9),
        ("stop it", 10),
        ("click here", 11),
        ("a long text", 12),
        ("a txt", 12),
        ("sex", 13),
        ("the girls", 14),
        ("cash only", 15),
        ("feel free", 16),
        *((f"only {digit}p", 17) for digit in range(10)),
        ("ten euros", 18),
        ("gbp", 18),
        ("a pound", 18),
        ("£", 18),
        ("$", 18),
        ("€", 18),
        ("at what price", 19),
    ],
)
@pytest.mark.parametrize("write", [str, str.upper, str.title])
def test_each_keyword_is_found_in_any_case_and_only_it(message, number, write):
    assert numbers_found(write(message)) == [number]
    assert numbers_found(write(message), 14) == [
        new for new, olds in enumerate(UNITED) if number in olds
    ]


@pytest.mark.parametrize("message", ["", "ok, see you at six", "5 p", "p5", "1O p.m.", "٣p"])
def test_other_messages_have_none(message):
    assert numbers_found(message) == []


def test_keywords_are_found_inside_words_and_several_at_once():
    found = SmsKeywords().transform(["Twins: recall the TEXTBOOK price, 150ppm"])[0]
    names = SmsKeywords().get_feature_names_out()
    assert names[found == 1].tolist() == ["win/won", "call", "text/txt", "0p..9p", "price"]


PIECES = st.sampled_from(
    [*NAMES_20, "WIN", "won", "Txt", "0p", "9P", "7", "p", "pound", "£", "$", "€", "w", "on"]
)


@given(st.lists(st.lists(st.text(max_size=5) | PIECES).map("".join), min_size=1))
def test_the_14_are_ors_of_the_20_and_both_are_what_the_patterns_find(messages):
    twenty = SmsKeywords(20).transform(messages)
    fourteen = SmsKeywords(14).transform(messages)
    ors = np.column_stack([twenty[:, olds].max(axis=1) for olds in UNITED])
    np.testing.assert_array_equal(fourteen, ors)
    np.testing.assert_array_equal(twenty, by_patterns(messages, PATTERNS_20))


@pytest.mark.parametrize(("n_keywords", "names"), [(20, NAMES_20), (14, NAMES_14)])
def test_features_are_zeros_and_ones_with_the_papers_names(n_keywords, names):
    keywords = SmsKeywords(n_keywords)
    assert keywords.get_feature_names_out().tolist() == names
    features = keywords.transform(MESSAGES)
    assert features.dtype == np.float64
    assert features.shape == (2, n_keywords)
    assert set(features.ravel()) == {0.0, 1.0}


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        lambda texts: np.array(texts)[:, np.newaxis],
        lambda texts: [[text] for text in texts],
        pd.Series,
        lambda texts: pd.Series(texts, index=[7, 3], dtype=object),
        lambda texts: pd.Series(texts, dtype="string"),
        lambda texts: pd.Series(texts, dtype="category"),
        pl.Series,
        lambda texts: pd.DataFrame({"text": texts}),
        lambda texts: pl.DataFrame({"text": texts}),
        lambda texts: Table((Column("text", np.array(texts, dtype=object)),), 2),
    ],
)
def test_messages_come_in_many_containers(make):
    expected = by_patterns(MESSAGES, PATTERNS_14)
    np.testing.assert_array_equal(SmsKeywords(14).fit_transform(make(MESSAGES)), expected)


def table(*columns, first_row=1):
    named = tuple(Column(f"x{j}", np.array(c, dtype=object)) for j, c in enumerate(columns))
    return Table(named, len(columns[0]), first_row)


@pytest.mark.parametrize("method", ["fit", "transform", "fit_transform"])
@pytest.mark.parametrize(
    ("messages", "error"),
    [
        (["hi", None], "the message in row 2 is None, not text (1 such row in all)"),
        (["hi", "you", np.nan, None], "row 3 is nan, not text (2 such rows in all)"),
        (pd.Series(["hi", None]), "row 2 is nan"),
        (pd.Series(["hi", None], dtype="string"), "row 2 is <NA>"),
        (pl.Series(["hi", None]), "row 2 is None"),
        (pl.DataFrame({"text": ["hi", None]}), "row 2 is None"),
        (table(["hi", None], first_row=41), "row 42 is None"),
        (["hi", 7], "row 2 is 7, not text"),
        ([b"hi"], "row 1 is b'hi', not text"),
        (np.zeros((2, 1)), "row 1 is 0.0, not text"),
        ([["hi"], ["you", "there"]], "row 1 is ['hi'], not text"),
        ("hi", "frame of str, not a str; put a single message in a list"),
        (None, "frame of str, not a NoneType"),
        (iter(["hi"]), "frame of str, not a list_iterator"),
        ([["hi", "you"]], "one column of text, but have the shape (1, 2); select the column"),
        (np.full((2, 1, 1), "hi"), "one column of text, but have the shape (2, 1, 1)"),
        (pd.DataFrame({"a": ["hi"], "b": [1]}), "one column of text, but have the shape (1, 2)"),
        (table(["hi"], ["you"]), "one column of text, but have the shape (1, 2)"),
        ([], "Found array with 0 sample(s) (shape=(0,))"),
    ],
)
def test_what_is_not_one_column_of_text_is_refused(method, messages, error):
    with pytest.raises(DataError, match=re.escape(error)):
        getattr(SmsKeywords(), method)(messages)


@pytest.mark.parametrize("n_keywords", [15, 14.0, "14", None, True])
def test_there_are_20_or_14_keywords(n_keywords):
    keywords = SmsKeywords(n_keywords)
    for call in (keywords.fit, keywords.transform):
        with pytest.raises(ValueError, match="The 'n_keywords' parameter of SmsKeywords must be"):
            call(MESSAGES)
    with pytest.raises(ValueError, match="The 'n_keywords' parameter of SmsKeywords must be"):
        keywords.get_feature_names_out()


# parametrize_with_checks skips every estimator of texts, since its data are numbers; these of its
# checks need no data.
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_mixin_order,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
        estimator_checks.check_valid_tag_types,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learns_checks_that_need_no_data(check):
    check("SmsKeywords", SmsKeywords())


def test_parameters_survive_clone_and_pickle_and_fit_leaves_nothing():
    keywords = SmsKeywords(n_keywords=14)
    before = vars(keywords).copy()
    assert keywords.fit(MESSAGES) is keywords
    assert vars(keywords) == before
    for copy in (clone(keywords), pickle.loads(pickle.dumps(keywords))):
        assert copy.get_params() == {"n_keywords": 14}
        np.testing.assert_array_equal(copy.transform(MESSAGES), keywords.transform(MESSAGES))
    assert keywords.set_params(n_keywords=20).transform(X=MESSAGES).shape == (2, 20)


def test_set_output_gives_frames_with_the_names():
    messages = pd.Series(MESSAGES, index=["a", "b"])
    as_pandas = SmsKeywords(14).set_output(transform="pandas").fit_transform(messages)
    assert list(as_pandas.columns) == NAMES_14
    assert list(as_pandas.index) == ["a", "b"]
    as_polars = SmsKeywords(14).set_output(transform="polars").fit_transform(MESSAGES)
    assert as_polars.columns == NAMES_14


@pytest.mark.parametrize("columns", ["text", ["text"]])
def test_a_column_transformer_may_choose_the_messages(columns):
    frame = pd.DataFrame({"text": MESSAGES, "length": [36, 14]})
    chosen = make_column_transformer((SmsKeywords(14), columns), verbose_feature_names_out=False)
    np.testing.assert_array_equal(chosen.fit_transform(frame), SmsKeywords(14).transform(MESSAGES))
    assert chosen.get_feature_names_out().tolist() == NAMES_14


def test_a_pipeline_learns_from_messages():
    model = make_pipeline(SmsKeywords(14), LinguisticTreeClassifier())
    model.fit([*MESSAGES, "a prize, a prize"], ["spam", "ham", "spam"])
    assert model.predict(["PRIZE DRAW", "at seven"]).tolist() == ["spam", "ham"]
    assert model.set_params(smskeywords__n_keywords=20)[0].n_keywords == 20


def test_a_pipelines_rules_speak_of_keywords():
    keywords = SmsKeywords(14).set_output(transform="pandas")
    model = make_pipeline(keywords, LinguisticTreeClassifier()).fit(MESSAGES, ["spam", "ham"])
    assert set(model[-1].feature_names_in_) == set(NAMES_14)
    assert str(model[-1].rules_()[0]).startswith("if ! is 0 then class ham")


def test_the_package_knows_the_name_before_it_is_imported():
    assert "SmsKeywords" in datasets.__all__
    assert "SmsKeywords" in dir(datasets)
    assert not hasattr(datasets, "EmailKeywords")


@pytest.mark.shared
@pytest.mark.parametrize("n_keywords", [20, 14])
def test_the_papers_messages(shared_data, n_keywords):
    messages = datasets.load("sms_spam")
    features = SmsKeywords(n_keywords).fit_transform(messages.table)
    assert features.shape == (5574, n_keywords)
    assert messages.class_counts == {"ham": 4827, "spam": 747}
    texts = messages.table.column("text").values
    np.testing.assert_array_equal(features, by_patterns(texts, PATTERNS[n_keywords]))
    assert features.any(axis=0).all()
