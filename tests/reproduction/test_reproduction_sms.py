"""Keyword features of text messages: the paper's two tables, by hand and on its messages."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.data import load_rows
from reproduction.sms import keyword_features

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


def by_patterns(messages, patterns):
    found = [[bool(re.search(one, text.lower())) for one in patterns] for text in messages]
    return np.array(found, dtype=float)


def numbers_found(message, n_keywords=20):
    return np.flatnonzero(keyword_features([message], n_keywords)[0]).tolist()


EXAMPLES = [
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
]


def test_each_keyword_is_found_in_any_case_and_only_it():
    for message, number in EXAMPLES:
        for written in (message, message.upper(), message.title()):
            assert numbers_found(written) == [number]
            united = [new for new, olds in enumerate(UNITED) if number in olds]
            assert numbers_found(written, 14) == united


PIECES = st.sampled_from(
    [
        *("urgent", "congrat", "!", "offer", "award", "prize", "call", "reply", "send", "stop"),
        *("click", "text", "sex", "girl", "cash", "free", "price", "WIN", "won", "Txt", "0p", "9P"),
        *("7", "p", "euro", "GBP", "pound", "£", "$", "€", "w", "on"),
    ]
)


@given(st.lists(st.lists(st.text(max_size=5) | PIECES).map("".join), min_size=1))
def test_the_14_are_ors_of_the_20_and_both_are_what_the_patterns_find(messages):
    twenty = keyword_features(messages, 20)
    fourteen = keyword_features(messages, 14)
    ors = np.column_stack([twenty[:, olds].max(axis=1) for olds in UNITED])
    np.testing.assert_array_equal(fourteen, ors)
    np.testing.assert_array_equal(twenty, by_patterns(messages, PATTERNS_20))


@pytest.mark.shared
@pytest.mark.parametrize("n_keywords", [20, 14])
def test_the_papers_messages(shared_data, n_keywords):
    messages = load_rows("sms_spam")
    features = load_rows(f"sms{n_keywords}").X
    assert features.shape == (5574, n_keywords)
    assert messages.class_counts == {"ham": 4827, "spam": 747}
    texts = messages.table.column("text").values
    np.testing.assert_array_equal(features, by_patterns(texts, PATTERNS[n_keywords]))
    assert features.any(axis=0).all()
