"""The base class of the estimators: nested parameters, and what a fitted model offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from solah.estimators.inputs import known_names, read_features, tolerant_tags
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.explain import attribute_importances, rules_of
from solah.kernels.choose import count_threads
from solah.labels.limits import LIMITS, Limits
from solah.model import Model, save_document
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import ArrayLike

    from solah.edit import Editor
    from solah.explain import Explanation, Semantics
    from solah.explain.rule_list import Rules
    from solah.kernels.arrays import Float


class LinguisticEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators that learn a model document; not for use by itself."""

    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {}
    """The parameters that are objects with parameters of their own, and their classes."""
    _limits: ClassVar[Limits] = LIMITS
    _reads_in_passes = False
    """Whether the estimator learns from files, frames and Dask collections as well."""

    model_: Model

    @classmethod
    def with_settings(cls, settings: Mapping[str, Any], **parameters: Any) -> Self:
        """Make an estimator with those of the settings that it knows, such as ``PAPER``.

        Parameters of nested objects are given flat: ``min_support=0.05`` is set in ``tree``.

        Parameters
        ----------
        settings : mapping of parameter name to value
            Parameters of other estimators of solah are left out.
        **parameters
            Further parameters, which win over the settings.

        Returns
        -------
        estimator

        Raises
        ------
        ParameterError
            If no estimator of solah has a parameter that ``settings`` names, or if this one lacks
            one of ``**parameters``.
        """
        if "tree" in settings and "tree" not in cls._parts:
            settings = {**settings["tree"].get_params(deep=False), **settings}
        own = _parameters(cls)
        _refuse_unknown(settings, _all_parameters(LinguisticEstimator), "no estimator of solah has")
        _refuse_unknown(parameters, own, f"{cls.__name__} does not have")
        given = {name: value for name, value in settings.items() if name in own} | parameters
        homes = {name: cls._part_with(name) for name in given}
        made = cls(**{name: value for name, value in given.items() if homes[name] is None})
        return made.set_params(
            **{f"{homes[name]}__{name}": value for name, value in given.items() if homes[name]}
        )

    @classmethod
    def _part_with(cls, name: str) -> str | None:
        """Name the nested object that has a parameter; None where it is the estimator's own."""
        if name in cls._get_param_names():
            return None
        return next(part for part, kind in cls._parts.items() if name in kind._get_param_names())

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``tree__max_depth`` is one of the nested ``tree``.

        A nested object is copied before it changes, for others may share it; where there is none
        yet, it is made with its defaults.

        Parameters
        ----------
        **params

        Returns
        -------
        self
        """
        for name in {key.partition("__")[0] for key in params if "__" in key} & {*self._parts}:
            part = params.get(name, getattr(self, name))
            is_set = isinstance(part, self._parts[name])
            params[name] = clone(part) if is_set else self._parts[name]()
        super().set_params(**params)
        return self

    def _validate_params(self) -> None:
        super()._validate_params()
        for name, kind in self._parts.items():
            part = getattr(self, name)
            if isinstance(part, kind):
                part._validate_params()

    @property
    def n_branches_(self) -> int:
        """The paper's branch number (beta): every edge of a split counted, empty ones too."""
        return self._model().n_branches

    @property
    def n_rules_(self) -> int:
        """The number of branches that carry weight."""
        return self._model().n_rules

    @property
    def feature_importances_(self) -> Float:
        """Each attribute's share of what was learnt.

        Of the information gained by all splits, or of how far weighted evidence moves beliefs.
        """
        model = self._model()
        share_of = dict(
            zip(
                [attribute.name for attribute in model.attributes],
                attribute_importances(model),
                strict=True,
            )
        )
        return np.array([share_of.get(name, 0.0) for name in known_names(self)])

    def rules(self) -> Rules:
        """List the rules that carry weight, tree by tree, the strongest first.

        Returns
        -------
        rules : Rules
            A list that filters, sorts and writes itself, and that a notebook shows as a table.
            ``str(rule)`` is a sentence; its parts are attributes.
        """
        return rules_of(self._model())

    def semantics(self, X: ArrayLike) -> list[Semantics]:
        """Return, for each row, the rules that fired in each tree, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        semantics : list of Semantics
            ``str()`` of one is a text; its parts are objects.
        """
        return self._predictor().semantics(read_features(self, X, reset=False))

    def explain(
        self,
        X: ArrayLike,
        *,
        changes: bool = False,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
    ) -> list[Explanation]:
        """Explain, for each row, why the model decides as it does.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
        changes : bool, default=False
            Whether to look for what would change each decision too.
        ranges : mapping of attribute name to (low, high), default=None
            Where measured readings may go; by default as far as the training rows went.
        fixed : collection of str, default=()
            Attributes that cannot change. Any column of fit may be named, also one that no rule
            asks for.

        Returns
        -------
        explanations : list of Explanation
            ``str()`` of one is a text, a notebook shows it, and its parts are objects.
        """
        predictor = self._predictor()
        table = read_features(self, X, reset=False)
        return predictor.explain(table, changes=changes, ranges=ranges, fixed=fixed)

    def node_beliefs(self, X: ArrayLike) -> dict[str, Float]:
        """Return what each node believes, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        beliefs : dict of node name to ndarray of shape (n_rows, n_classes)
        """
        return self._predictor().node_beliefs(read_features(self, X, reset=False))

    def evidence(self, X: ArrayLike) -> Float:
        """Return the share of the model's knowledge that each row's known readings can reach.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        shares : ndarray of shape (n_rows,)
            1 when no reading that matters is missing, 0 when all are.
        """
        return self._predictor().evidence(read_features(self, X, reset=False))

    def edit(self, *, author: str = "", time: datetime | None = None) -> Editor:
        """Begin to edit the model that was learnt, which itself stays as it is.

        Parameters
        ----------
        author : str, default=""
            Who edits; kept with each edit.
        time : datetime, default=None
            The time that is kept with each edit; by default the current one.

        Returns
        -------
        editor : Editor
            Its ``model`` is the edited one.
        """
        from solah.edit import Editor

        return Editor(self._model(), author=author, time=time)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model document, whole or not at all; ``solah.load_model`` reads it.

        Parameters
        ----------
        path : str or path
        """
        save_document(self._model(), path)

    def _model(self) -> Model:
        check_is_fitted(self)
        return self.model_

    def _predictor(self) -> Predictor:
        n_threads = 1 if self.n_jobs is None else count_threads(self.n_jobs)
        return Predictor(self._model(), n_threads)

    def _html_repr(self) -> str:
        """Show scikit-learn's diagram and, below it, what was learnt."""
        from solah.explain.html import model_summary

        diagram = str(super()._html_repr())
        return diagram + model_summary(self.model_) if hasattr(self, "model_") else diagram

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return tolerant_tags(super().__sklearn_tags__())


def _parameters(estimator: type[LinguisticEstimator]) -> list[str]:
    """Return the parameters of an estimator, those of its nested objects among them."""
    names = set(estimator._get_param_names())
    return sorted(names.union(*(kind._get_param_names() for kind in estimator._parts.values())))


def _all_parameters(estimator: type[LinguisticEstimator]) -> list[str]:
    """Return the parameters of an estimator and of all that derive from it."""
    names = set(_parameters(estimator))
    return sorted(names.union(*map(_all_parameters, estimator.__subclasses__())))


def _refuse_unknown(names: Iterable[str], known: Sequence[str], who_lacks: str) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ParameterError(f"{who_lacks} a parameter {shorten(name)}{hint}")
