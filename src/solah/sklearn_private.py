"""The private names of scikit-learn that solah uses.

It has no public way to declare and check parameters as its own estimators do. Where a new version
moves one of these names, this is the one file to change; no other imports a private name of it.
"""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
]
