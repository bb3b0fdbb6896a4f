"""All that solah uses of scikit-learn and that scikit-learn does not promise to keep.

It has no public way to declare and check parameters as its own estimators do. Where a new version
moves one of these names, this is the one file to mend; no other imports a private name of it.
"""

from __future__ import annotations

from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "validate_parameters",
]

check_sample_weight = _check_sample_weight
fit_context = _fit_context
validate_parameters = validate_parameter_constraints
