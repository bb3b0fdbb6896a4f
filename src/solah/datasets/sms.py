"""Text messages in, the paper's yes-or-no keyword features out."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Options

from solah.data.spelling import count
from solah.data.table import Table
from solah.exceptions import DataError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

_SUBSTRINGS = {
    "urgent": ("urgent",),
    "congrat": ("congrat",),
    "!": ("!",),
    "win/won": ("win", "won"),
    "offer": ("offer",),
    "award": ("award",),
    "prize": ("prize",),
    "call": ("call",),
    "reply": ("reply",),
    "send": ("send",),
    "stop": ("stop",),
    "click": ("click",),
    "text/txt": ("text", "txt"),
    "sex": ("sex",),
    "girl": ("girl",),
    "cash": ("cash",),
    "free": ("free",),
    "0p..9p": tuple(f"{digit}p" for digit in range(10)),
    "euro/gbp/pound/£/$/€": ("euro", "gbp", "pound", "£", "$", "€"),
    "price": ("price",),
}
"""The paper's 20 features in its order, x0 to x19, each with what it looks for."""

_MEMBERS = {
    20: tuple((keyword,) for keyword in _SUBSTRINGS),
    14: (
        ("urgent",),
        ("congrat",),
        ("!",),
        ("win/won",),
        ("offer",),
        ("award", "prize"),
        ("sex", "girl"),
        ("call",),
        ("reply", "send"),
        ("stop", "click"),
        ("text/txt",),
        ("cash", "price"),
        ("free", "0p..9p"),
        ("euro/gbp/pound/£/$/€",),
    ),
}
"""Which of the 20 each feature of a set is the OR of."""


class SmsKeywords(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn text messages into keyword features: 1 where a keyword occurs, 0 elsewhere.

    These are the features of the paper's SMS spam experiments. A keyword occurs wherever its
    letters do, in either case: "win" also in "Twins". Nothing is learned from data, so
    ``transform`` works without ``fit``.

    Parameters
    ----------
    n_keywords : {20, 14}, default=20
        Which of the paper's two sets to make. The smaller one unites keywords of similar
        meaning, such as "award" and "prize", in one feature.

    See Also
    --------
    solah.datasets.load : ``load("sms_spam")`` has the messages of the paper.

    Examples
    --------
    >>> from solah.datasets import SmsKeywords
    >>> keywords = SmsKeywords(n_keywords=14)
    >>> X = keywords.transform(["WINNER! Claim your prize", "see you at six"])
    >>> X.shape
    (2, 14)
    >>> print(*keywords.get_feature_names_out()[X[0] == 1])
    ! win/won award/prize
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_keywords": [Options(Integral, set(_MEMBERS))],
    }

    def __init__(self, n_keywords: int = 20) -> None:
        self.n_keywords = n_keywords

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike | Table, y: Any = None) -> SmsKeywords:
        """Check the parameter and the messages; there is nothing to learn.

        Parameters
        ----------
        X : list, array, series, one-column frame or table of str, of length n_messages
            The messages.
        y : ignored

        Returns
        -------
        self
        """
        _read_messages(X)
        return self

    def transform(self, X: ArrayLike | Table) -> NDArray[np.float64]:
        """Tell which keywords occur in each message.

        Parameters
        ----------
        X : list, array, series, one-column frame or table of str, of length n_messages
            The messages.

        Returns
        -------
        features : ndarray of shape (n_messages, n_keywords)
            1.0 where a keyword occurs, else 0.0.

        Raises
        ------
        DataError
            If there is not exactly one column of messages, or a message is missing or not text.
        """
        self._validate_params()
        texts = [message.lower() for message in _read_messages(X)]
        found = {
            keyword: np.array([any(map(text.__contains__, substrings)) for text in texts])
            for keyword, substrings in _SUBSTRINGS.items()
        }
        features = [
            np.logical_or.reduce([found[keyword] for keyword in members])
            for members in _MEMBERS[self.n_keywords]
        ]
        return np.column_stack(features).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns of ``transform`` by their keywords: ``"award/prize"``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of str, shape (n_keywords,)
        """
        self._validate_params()
        return np.array(["/".join(members) for members in _MEMBERS[self.n_keywords]], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


def _read_messages(messages: Any) -> list[str]:
    """Return the one column of messages, all of them text."""
    if isinstance(messages, Table):
        values = np.array([column.values for column in messages.columns], dtype=object).T
        return _only_text(_one_column(values, messages), messages.first_row)
    return _only_text(_one_column(np.asarray(messages, dtype=object), messages), first_row=1)


def _one_column(values: NDArray[Any], messages: Any) -> NDArray[Any]:
    if values.ndim == 0:
        hint = "; put a single message in a list" if isinstance(messages, str) else ""
        raise DataError(
            f"messages must be a list, array, series or one-column frame of str, "
            f"not a {type(messages).__name__}{hint}"
        )
    if values.size == 0:
        raise DataError(
            f"Found array with 0 sample(s) (shape={values.shape}) while a minimum of 1 is required."
        )
    if values.shape[1:] not in ((), (1,)):
        raise DataError(
            f"messages must be one column of text, but have the shape {values.shape}; "
            "select the column that holds the messages"
        )
    return values.ravel()


def _only_text(values: Iterable[Any], first_row: int) -> list[str]:
    messages = list(values)
    strange = [row for row, message in enumerate(messages) if not isinstance(message, str)]
    if strange:
        raise DataError(
            f"the message in row {first_row + strange[0]} is {shorten(messages[strange[0]])}, "
            f"not text ({count(len(strange), 'such row')} in all); "
            "leave such rows out, or make text of them ('' for a missing message)"
        )
    return messages
