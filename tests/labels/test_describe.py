"""Tables described with words, or with those of users alone until others are chosen."""

import numpy as np
import pandas as pd

from solah.data import from_frame
from solah.labels.describe import LabelSettings, describe_table

ROWS = pd.DataFrame(
    {"heat": [1.0, 2.0, 9.5, np.nan], "place": ["roof", "hall", "roof", "hall"], "load": [3.5] * 4}
)
WEIGHTS = np.ones(4, dtype=np.int64)


def described(n_words, words=None):
    return describe_table(
        from_frame(ROWS), LabelSettings(n_words, "quantile", words, None), WEIGHTS
    )


def test_without_words_columns_have_types_and_ranges():
    found = described(None)
    heat, place, load = found.features
    assert found.labels is None
    assert (heat.words, heat.low, heat.high) == (("any",), 1.0, 9.5)
    assert place.categories == ("hall", "roof")
    assert load.words == ("any",)
    assert found.take(np.array([0, 2])).table.n_rows == 2
    assert [one.name for one in found.only(["load", "heat"]).features] == ["load", "heat"]


def test_words_of_users_are_kept_where_no_others_are_placed():
    heat, *_ = described(None, {"heat": {"cold": 2.0, "hot": 8.0}}).features
    assert heat.words == ("cold", "hot")


def test_some_columns_have_their_own_labels():
    whole = described(3)
    some = whole.only(["load", "heat"])
    np.testing.assert_array_equal(some.labels, whole.labels[:, [2, 0]])
