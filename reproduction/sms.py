"""The keyword features of the paper's SMS experiments: 1 where a keyword occurs, 0 elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

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
"""The paper's 20 features in its order, x0 to x19, each with the substrings it looks for."""

_FEATURES = {
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
"""The keywords that each feature is the OR of."""


def keyword_features(messages: Iterable[str], n_keywords: int) -> NDArray[np.float64]:
    """Mark the keywords that occur in each message.

    A keyword occurs wherever its letters do, in either case: "win" also in "window".

    Parameters
    ----------
    messages : iterable of str
    n_keywords : {20, 14}
        Which of the paper's two feature sets to make. The smaller one combines keywords of
        similar meaning, such as "award" and "prize".

    Returns
    -------
    features : ndarray of shape (n_messages, n_keywords)
        1.0 where a keyword occurs, else 0.0.

    Examples
    --------
    >>> keyword_features(["WINNER! Claim your prize", "see you at six"], 14)[:, :6]
    array([[0., 0., 1., 1., 0., 1.],
           [0., 0., 0., 0., 0., 0.]])
    """
    substrings = [
        [part for keyword in keywords for part in _SUBSTRINGS[keyword]]
        for keywords in _FEATURES[n_keywords]
    ]
    found = [
        [any(part in text for part in parts) for parts in substrings]
        for text in (message.lower() for message in messages)
    ]
    return np.array(found, dtype=np.float64)
