"""The accuracy on rows that are passed over equals that on rows in memory."""

import numpy as np
import pandas as pd
import pytest

from solah import LinguisticTreeClassifier
from solah.exceptions import ColumnError, DataError, ParameterError


def test_the_accuracy_is_that_of_all_rows_and_errors_name_what_is_wrong():
    rng = np.random.default_rng(0)
    heat = rng.normal(40, 8, 900)
    kind = np.where(heat > 45, "hot", np.where(heat < 35, "cold", "mild"))
    frame = pd.DataFrame({"heat": heat + rng.normal(0, 3, 900), "kind": kind})
    tree = LinguisticTreeClassifier().fit(frame[["heat"]], frame["kind"])
    expected = tree.score(frame[["heat"]], frame["kind"])
    for n_parts in (1, 7):
        parts = [frame.iloc[start::n_parts] for start in range(n_parts)]
        assert tree.score(parts, "kind") == expected
    with pytest.raises(ColumnError, match="knid"):
        tree.score([frame], "knid")
    with pytest.raises(ColumnError, match="heat"):
        tree.score([frame.rename(columns={"heat": "warmth"})], "kind")
    with pytest.raises(ParameterError, match="name of the column"):
        tree.score([frame], frame["kind"])
    strange = frame.assign(kind=frame["kind"].where(frame.index != 41, "wet"))
    with pytest.raises(DataError, match="row 42 of 'kind' is 'wet'"):
        tree.score([strange], "kind")
