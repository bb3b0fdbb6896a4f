"""Parameters that are objects with parameters of their own, such as the trees of a hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator, clone

from solah.exceptions import ParameterError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class NestedSettings(BaseEstimator):  # type: ignore[misc]
    """Base of estimators some of whose parameters are nested; not for use by itself."""

    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {}
    """The parameters that are objects with parameters of their own, and their classes."""

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
        _refuse_unknown(settings, _all_parameters(NestedSettings), "no estimator of solah has")
        _refuse_unknown(parameters, own, f"{cls.__name__} does not have")
        given = {name: value for name, value in settings.items() if name in own} | parameters
        homes = {name: cls._part_with(name, given) for name in given}
        made = cls(**{name: value for name, value in given.items() if homes[name] is None})
        return made.set_params(
            **{f"{homes[name]}__{name}": value for name, value in given.items() if homes[name]}
        )

    @classmethod
    def _part_with(cls, name: str, given: Mapping[str, Any]) -> str | None:
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


def _parameters(estimator: type[NestedSettings]) -> list[str]:
    """Return the parameters of an estimator, those of its nested objects among them."""
    names = set(estimator._get_param_names())
    return sorted(names.union(*(kind._get_param_names() for kind in estimator._parts.values())))


def _all_parameters(estimator: type[NestedSettings]) -> list[str]:
    """Return the parameters of an estimator and of all that derive from it."""
    names = set(_parameters(estimator))
    return sorted(names.union(*map(_all_parameters, estimator.__subclasses__())))


def _refuse_unknown(names: Iterable[str], known: Sequence[str], who_lacks: str) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ParameterError(f"{who_lacks} a parameter {shorten(name)}{hint}")
