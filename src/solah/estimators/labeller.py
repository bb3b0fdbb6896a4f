"""The transformer from values to masses on focal sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from solah.estimators.inputs import read_features, read_weights, tolerant_tags
from solah.exceptions import ColumnError, DataError
from solah.kernels.reference import masses
from solah.labels.describe import LabelSettings, describe_table
from solah.labels.targets import integer_weights
from solah.labels.words import MAX_WORDS
from solah.model.encode import encode
from solah.model.features import flatten
from solah.sklearn_private import Interval, StrOptions, fit_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.kernels.arrays import Float
    from solah.labels.words import Placement, WordsByHand
    from solah.model import WordRange

LABEL_CONSTRAINTS: dict[str, list[Any]] = {
    "n_words": [Interval(Integral, 2, MAX_WORDS, closed="both"), Mapping],
    "placement": [StrOptions({"uniform", "quantile"})],
    "words": [Mapping, None],
    "feature_types": [Mapping, None],
}


@dataclass(eq=False, repr=False)
class LinguisticLabeller(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Describe features with overlapping words.

    A value becomes masses on *focal sets*: sets of exactly those words that describe it. At most
    two neighbouring focal sets have mass, and masses sum to 1.

    Parameters
    ----------
    n_words : int or mapping of column name to int, default=3
        The number of words of a continuous feature.
    placement : {"quantile", "uniform"}, default="quantile"
        Where the words peak: at equal shares of the rows, or at equal distances over the range.
    words : mapping of column name to words, default=None
        User-defined words: their names (``["cold", "mild", "hot"]``), names with their peaks
        (``{"cold": 5, "mild": 15, "hot": 30}``), or names with the peaks of all focal sets
        (``(["cold", "mild", "hot"], [0, 8, 15, 22, 30])``).
    feature_types : mapping of column name to type, default=None
        The types of columns whose values do not show them: ``"continuous"``, ``"binary"``,
        ``"categorical"``, ``"ordinal"``, or a list of categories in their order.

    Attributes
    ----------
    features_ : tuple of Feature
        The described features.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from solah import LinguisticLabeller
    >>> labeller = LinguisticLabeller(n_words=2, placement="uniform").fit([[0.5], [10.5], [20.5]])
    >>> print(*labeller.describe("x0"), sep="\n")
    low: up to 10.5, fading out by 20.5
    high: from 10.5, fading in from 0.5
    >>> labeller.transform([[5.5]])
    array([[0.5, 0.5, 0. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = LABEL_CONSTRAINTS

    n_words: int | Mapping[str, int] = 3
    _: KW_ONLY
    placement: Placement = "quantile"
    words: Mapping[str, WordsByHand] | None = None
    feature_types: Mapping[str, str | Sequence[str]] | None = None

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> LinguisticLabeller:
        """Learn the words of each feature.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
        y : ignored
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        table = read_features(self, X, reset=True)
        weights, _ = integer_weights(read_weights(sample_weight, table.n_rows))
        settings = LabelSettings(self.n_words, self.placement, self.words, self.feature_types)
        self.features_ = describe_table(table, settings, weights).features
        return self

    def transform(self, X: ArrayLike) -> Float:
        """Return the mass of every value on every focal set.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        masses : ndarray of shape (n_rows, total number of focal sets)
        """
        check_is_fitted(self)
        table = read_features(self, X, reset=False)
        readings, sets = encode(table, self.features_), flatten(self.features_)
        return np.hstack([masses(readings[:, a], sets, a) for a in range(sets.n_features)])

    def describe(self, feature: str) -> tuple[WordRange, ...]:
        """Return the range of each word of a continuous feature.

        Parameters
        ----------
        feature : str
            The column's name.

        Returns
        -------
        ranges : tuple of WordRange
        """
        check_is_fitted(self)
        by_name = {known.name: known for known in self.features_}
        if feature not in by_name:
            raise ColumnError.unknown(feature, by_name, "the labeller")
        if not by_name[feature].is_continuous:
            raise DataError(
                f"column {feature!r} is {by_name[feature].kind.value}: its words are its "
                f"categories ({', '.join(by_name[feature].words)}), which have no ranges"
            )
        return by_name[feature].word_ranges()

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of ``transform``: ``"alcohol is medium-or-high"``."""
        check_is_fitted(self)
        names = [
            f"{feature.name} is {'-or-'.join(words)}"
            for feature in self.features_
            for words in feature.focal_sets
        ]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        return tolerant_tags(super().__sklearn_tags__())
