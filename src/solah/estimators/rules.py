"""The estimators of the additive rule model: RuleClassifier and RuleRegressor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted
from threadpoolctl import ThreadpoolController

from solah.data.spelling import spell_mean
from solah.estimators.base import LinguisticClassifier, LinguisticRegressor
from solah.estimators.inputs import known_names, read_features
from solah.estimators.rule_parameters import RULE_CONSTRAINTS, ByHand, recipe_of
from solah.estimators.trees import LinguisticTreeClassifier
from solah.exceptions import ParameterError
from solah.explain.uncertainty import recurrences, weight_errors
from solah.labels.describe import LabelSettings
from solah.labels.targets import ClassTarget
from solah.learn.learning import learn
from solah.learn.losses import LOSS_NAMES, loss_of
from solah.learn.numbers import learn_numbers
from solah.model import Target
from solah.model.evaluate import readings_of
from solah.model.provenance import Uncertainty
from solah.progress import report_progress
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.estimators.base import NumberColumn
    from solah.estimators.rule_parameters import InteractionConstraints, MonotonicConstraints
    from solah.kernels.arrays import Float
    from solah.labels.words import WordsByHand
    from solah.learn.losses import LossName
    from solah.learn.objective import PathStep
    from solah.learn.recipe import FixedRule, Part, WordKind
    from solah.learn.rows import Rows
    from solah.learn.selection import Choice
    from solah.model import Model

    FeatureGroups = (
        int | Literal["auto"] | Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None
    )


@dataclass(eq=False, repr=False)
class RuleMixin:
    """Methods of both rule estimators: fitting around custom rules, or with a selection."""

    words: WordKind | Mapping[str, WordsByHand] = "auto"
    _: KW_ONLY
    interactions: int | Literal["auto"] | Sequence[tuple[str, str]] = "auto"
    max_rules: int | Literal["auto"] | None = "auto"
    max_features: int | None = None
    feature_costs: Mapping[str, float] | None = None
    required_features: Sequence[str] | None = None
    feature_groups: FeatureGroups = "auto"
    monotonic_cst: MonotonicConstraints | None = None
    interaction_cst: InteractionConstraints | None = None
    feature_types: Mapping[str, str | Sequence[str]] | None = None
    max_flash: int | str | None = None
    platform: str = "cortex-m0plus"
    verbose: bool = False
    n_jobs: int | None = None

    _sorts_columns = True
    _by_hand = ByHand()
    _selected: ClassVar[Choice | None] = None
    _fit: ClassVar[Callable[..., None]]  # methods of classifiers and regressors
    _learn_rows: ClassVar[Callable[..., None]]
    _set_target: ClassVar[Callable[..., None]]
    _validate_params: ClassVar[Callable[..., None]]

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        rules: Sequence[str | FixedRule] | None = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Select and fit the rules.

        Parameters
        ----------
        X : array, sparse array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories, and dates become their hour,
            weekday and month, where these repeat. Or the path of a file; the classifier also takes
            folders, several files, frames or a Dask collection (:func:`solah.scan`), which need not
            fit into memory.
        y : array of shape (n_rows,)
            The classes or numbers; the name of their column if X is a file.
        sample_weight : array of shape (n_rows,), default=None
            The row weights, or the name of their column.
        rules : list of str or of FixedRule, default=None
            User-defined rules, such as ``"if smoke is high then alarm +3"``, which stay as they
            are while the others are fitted around them. Their features have user-defined words or
            categories, and no other rules: words that no rule names add nothing.
        groups : array of shape (n_rows,), default=None
            The group of each row, such as a person or a recording: settings are then selected on
            held-out groups. Or the name of a column. (``feature_groups`` is about columns.)

        Returns
        -------
        self
        """
        by_hand = ByHand(tuple(rules or ()))
        return self._fit_with(X, y, sample_weight, groups, _by_hand=by_hand)._limit_flash()

    def refit(
        self, X: Any, y: Any, keep: Model, sample_weight: Any = None, *, groups: Any = None
    ) -> Self:
        """Fit again, and keep the pinned rules of an edited model.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.
        keep : Model
            Terms with pinned rules are kept whole, with their words; all others are fitted.

        Returns
        -------
        self
        """
        return self._fit_with(
            X, y, sample_weight, groups, _by_hand=ByHand.pinned_in(keep)
        )._limit_flash()

    def _limit_flash(self) -> Self:
        if self.max_flash is not None:
            from solah.export.max_flash import limit_flash

            limit_flash(self)
        return self

    def fit_selected(self, X: Any, y: Any, selection: Choice) -> Self:
        """Fit with the settings that another fit selected, without comparing any.

        Parameters
        ----------
        X, y
            As in ``fit``.
        selection : Choice
            The ``selection_`` of a fit to similar rows.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from solah import RuleClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> first = RuleClassifier(max_rules=12).fit(X[::2], y[::2])
        >>> again = RuleClassifier(max_rules=12).fit_selected(X, y, first.selection_)
        >>> again.selection_.strength == first.selection_.strength
        True
        """
        return self._fit_with(X, y, _selected=selection)

    def estimate_uncertainty(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_resamples: int = 0,
        random_state: int = 0,
    ) -> Self:
        """Estimate confidence bands of the weights, and how often resamples have the same rules.

        Rules, figures, the report and the card show them, and the model file contains them. Editing
        the model drops them.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, in memory.
        n_resamples : int, default=0
            The number of models to fit to rows drawn with replacement, with the selected settings.
            Each takes less time than a fit.
        random_state : int, default=0
            Random seed.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If ``n_resamples`` is not an int of at least 0.
        ValueError
            If the rows, their targets and their weights differ in number.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from solah import RuleClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = RuleClassifier(max_rules=6).fit(X, y).estimate_uncertainty(X, y)
        >>> low, high = model.rules()[0].bands[0]
        >>> low < model.rules()[0].weights[0] < high
        True
        """
        check_is_fitted(self)
        model: Model = vars(self)["model_"]
        selection: Choice = vars(self)["selection_"]
        table, truth = read_features(self, X, reset=False), np.asarray(y)
        weights = np.ones(table.n_rows) if sample_weight is None else np.asarray(sample_weight)
        check_consistent_length(range(table.n_rows), truth, weights)
        if not isinstance(n_resamples, Integral) or n_resamples < 0:
            raise ParameterError(f"'n_resamples' must be an int of at least 0; got {n_resamples!r}")
        numbers = None if model.target.classes else np.asarray(truth, np.float64)
        ridge = selection.strength.ridge
        own = vars(self)
        loss = None if model.target.classes else loss_of(own["loss"], own["quantile"])
        readings = readings_of(model, table)
        errors = weight_errors(model, readings, weights, ridge, numbers, loss)
        rng, others = np.random.default_rng(random_state), []
        for _ in range(n_resamples):
            drawn = rng.integers(table.n_rows, size=table.n_rows)
            again = clone(self).fit_selected(table.take(drawn), truth[drawn], selection)
            others.append(again.model_)
        found = recurrences(model, others, table) if others else ()
        vars(self)["model_"] = replace(model, uncertainty=Uncertainty(errors, n_resamples, found))
        return self

    def with_rules(self, max_rules: int) -> Self:
        """Return the model with another maximum number of rules, such as one of ``path_``.

        Words, strength and interactions stay as selected. For this, the estimator keeps the rows
        that it was fitted to; a pickle does not contain them.

        Parameters
        ----------
        max_rules : int
            The maximum number of rules.

        Returns
        -------
        other : estimator
            The same as an estimator with this ``max_rules``, fitted to the same rows. The original
            does not change.

        Raises
        ------
        ParameterError
            If ``max_rules`` is not a positive integer, or the estimator was pickled, so that it has
            no rows.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from solah import RuleClassifier
        >>> model = RuleClassifier().fit(*load_wine(return_X_y=True))
        >>> model.with_rules(8).n_rules_ <= 8
        True
        """
        check_is_fitted(self)
        if not isinstance(max_rules, Integral) or max_rules < 1:
            raise ParameterError(
                f"'max_rules' must be an integer of at least 1. Got {max_rules!r}."
            )
        other = clone(self).set_params(max_rules=max_rules)
        other._validate_params()
        if "_fitted_to" not in vars(self):
            raise ParameterError(
                "a pickled estimator does not have the rows that it was fitted to; fit it again, "
                f"with max_rules={max_rules}"
            )
        parameters = vars(other)
        vars(other).update(vars(self) | parameters)
        by_hand, rows = self._fitted_to
        choice = replace(self.selection_, max_rules=int(max_rules))
        other._run_with(lambda: other._learn_rows(*rows), _by_hand=by_hand, _selected=choice)
        other._set_target(replace(other._target, thresholds=self._target.thresholds))
        if hasattr(self, "relevance_"):  # of all features, not only of those that rules use
            other.dependence_, other.relevance_ = self.dependence_, self.relevance_
            known = dict(zip(known_names(self), self.relevance_.tolist(), strict=True))
            other.dropped_features_ = {name: known[name] for name in other.dropped_features_}
        steps = (replace(one, is_chosen=one.max_rules == max_rules) for one in self.path_)
        other.path_ = RulePath(steps)
        return other

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fitted_to"}

    def _fit_with(self, *rows: Any, **for_this_fit: Any) -> Self:
        self._run_with(lambda: self._fit(*rows), **for_this_fit)
        return self

    def _run_with(self, run: Callable[[], None], **for_this_fit: Any) -> None:
        vars(self).update(for_this_fit)
        try:
            run()
        finally:
            for name in for_this_fit:
                delattr(self, name)

    def _learn_and_keep(self, *rows: Any) -> None:
        """Learn from described rows, and keep them for other numbers of rules."""
        self._learn_rows(*rows)
        self._fitted_to = self._by_hand, rows

    _learn = _learn_numbers = _learn_and_keep

    def _word_settings(self) -> LabelSettings:
        """Return the words that users define; the recipe places those of other columns."""
        words = self.words if isinstance(self.words, Mapping) else None
        return LabelSettings(None, "uniform", words, self.feature_types)

    def _keep(self, model: Model, names: Sequence[str], choice: Choice) -> None:
        """Store the model, with its features in column order, and the selected settings."""
        order = {name: place for place, name in enumerate(names)}
        features = sorted(model.features, key=lambda one: order[one.name])
        self.model_ = replace(model, features=tuple(features)).compiled()
        self.hierarchy_ = model.hierarchy
        self.selection_ = choice
        self.path_, self.selection_reason_ = RulePath(choice.path), choice.reason


@dataclass(eq=False, repr=False, kw_only=True)
class RuleClassifier(RuleMixin, LinguisticClassifier):
    """A classifier with few readable rules, whose weights are summed.

    A penalised multinomial logistic model on the memberships of words. Each rule adds its weights
    (log-odds) to the class scores: rules of one condition, and rules of two where features
    interact. Neighbouring words with nearly the same weights are joined. Features that depend on
    each other (distance correlation) form groups, whose weights are summed first. Everything is
    selected on the training rows alone, by the cross-validated log-loss.

    Parameters
    ----------
    words : {"auto", "supervised", "quantile", "uniform"} or mapping, default="auto"
        Where words are placed: where the target changes, at quantiles, at equal distances. "auto"
        is "quantile", plus supervised words where these are clearly better on held-out rows. A
        mapping of column to words gives some columns user-defined words; see
        :class:`~solah.LinguisticLabeller`.
    interactions : "auto", int or list of pairs of columns, default="auto"
        The number of feature pairs that may have rules of two conditions, or the pairs.
    max_rules : int, "auto" or None, default="auto"
        The maximum number of rules. "auto" selects the fewest within tolerance of the best, None
        keeps all.
    max_features : int, default=None
        The maximum number of features (sensors) that the rules use.
    feature_costs : mapping of column to float, default=None
        The cost of features (power, price); 1 if not given. Expensive ones are dropped first.
    required_features : list of columns, default=None
        Features that are always kept, with at least two rules each, within any budget.
    feature_groups : "auto", int, mapping, list of lists of columns or None, default="auto"
        The feature groups, which are summed first. "auto" finds them. So does an int: the larger,
        the smaller the groups (the paper's k; "auto" is 2). A mapping of name to columns or a list
        of lists defines them, and None makes none.
    robust_to : {"groups", "features"} or None, default=None
        What may be missing when the model predicts: all values of a feature group, such as those
        of one device, or of single features. Weights are then fitted to such rows as well. A
        missing value never gets a rule of its own. This may reduce accuracy a little on complete
        rows.
    monotonic_cst : array or mapping of column to {-1, 0, 1}, default=None
        1 where the probability of the second class must not fall as the feature rises, -1 where it
        must not rise, as in :class:`~sklearn.ensemble.HistGradientBoostingClassifier`. For several
        classes, a mapping from classes to such constraints.
    interaction_cst : {"pairwise", "no_interactions"} or list of sets of columns, default=None
        Which columns may have rules of two conditions, as in scikit-learn: those of one set.
        Columns that no set names are a set of their own.
    feature_types : mapping of column to type or categories, default=None
        The types of columns whose values do not show them.
    max_flash : int or str, default=None
        The maximum flash of the exported integer C (q15): a number of bytes, or a text such as
        "1kB". As many rules as fit are selected. The compiler of ``platform`` measures them; if it
        is not installed, tables and lines are counted.
    platform : str, default="cortex-m0plus"
        The hardware for ``max_flash``, such as "cortex-m4" or "avr".
    class_weight, thresholds, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`.
    verbose : bool, default=False
        Show progress: a bar in a terminal, lines on stderr in a notebook or a log.

    Attributes
    ----------
    model_ : Model
        The model file.
    path_ : RulePath
        The compared numbers of rules: ``max_rules``, ``n_rules``, ``n_features``, and
        the cross-validated ``loss`` and ``quality`` (accuracy), with their standard errors.
        Printed, it has 95% confidence intervals. Empty if no numbers of rules were compared.
    selection_reason_ : str
        A sentence with the reason for this number of rules.
    selection_ : Choice
        The settings that were selected on held-out rows, for :meth:`fit_selected`; its
        ``word_kind`` is the placement of words that users did not define.
    feature_groups_ : tuple of tuples of str
        The groups, as column names.
    hierarchy_ : Hierarchy
        The groups as a wiring; ``print(model.hierarchy_.draw())`` shows it.
    dependence_ : ndarray of shape (n_features, n_features)
        The distance correlations between the features, of at most 2,000 rows. NaN for features
        that were not measured.
    relevance_ : ndarray of shape (n_features,)
        The distance correlations with the target.
    dropped_features_ : dict of str to float
        The features that no rule uses, with their relevance.
    classes_, n_rules_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticTreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from solah import RuleClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = RuleClassifier(max_rules=12).fit(X, y)
    >>> model.n_rules_
    11
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RULE_CONSTRAINTS,
        "robust_to": [StrOptions({"groups", "features"}), None],
        **{
            name: LinguisticTreeClassifier._parameter_constraints[name]
            for name in ("class_weight", "thresholds")
        },
    }

    robust_to: Part | None = None
    class_weight: str | Mapping[Any, float] | None = None
    thresholds: Mapping[Any, float] | ArrayLike | None = None

    def _learn_rows(self, rows: Rows) -> None:
        names = known_names(self)
        recipe = recipe_of(self, names, rows.features, rows.facts.classes.tolist())
        if self.robust_to is not None:
            recipe = recipe.losing(self.robust_to)
        with ONE_BLAS_THREAD, report_progress(None, "steps", is_shown=self.verbose) as advance:
            learned = learn(rows, recipe, lambda news: advance(1, news), self._selected)
        self._keep(learned.model, names, learned.choice)
        self.classes_, self.feature_groups_ = rows.facts.classes, learned.clusters
        self.dependence_ = learned.dependence.matrix_of(names)
        relevance = {name: learned.relevance.get(name, np.nan) for name in names}
        self.relevance_ = np.array(list(relevance.values()))
        self.dropped_features_ = {
            name: found for name, found in relevance.items() if name not in learned.used
        }


@dataclass(eq=False, repr=False, kw_only=True)
class RuleRegressor(RuleMixin, LinguisticRegressor):
    """A regressor with few readable rules, whose amounts are summed.

    The same additive model as :class:`~solah.RuleClassifier` for a number. Each rule adds an amount
    in the target's unit to the mean of all rows, or to another baseline that suits the loss. With
    ``loss="poisson"`` and ``"gamma"`` rules add to the logarithm of the prediction: +0.1 raises it
    by about 10%.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "poisson", "gamma"}, default=\
            "squared_error"
        What the fit minimises, as in :class:`~sklearn.ensemble.HistGradientBoostingRegressor`:
        "absolute_error" predicts the median and ignores outliers, "quantile" predicts a quantile,
        "poisson" is for counts and rates (at least 0), "gamma" for amounts above 0. For rates, pass
        counts divided by exposure as ``y`` and the exposure as ``sample_weight``.
    quantile : float, default=None
        The quantile to predict with ``loss="quantile"``, between 0 and 1.
    words, interactions, max_rules, max_features, feature_costs, required_features, feature_groups,
    interaction_cst, feature_types, max_flash, platform, verbose, n_jobs
        As in :class:`~solah.RuleClassifier`.
    monotonic_cst : array or mapping of column to {-1, 0, 1}, default=None
        1 where the prediction must not fall as the feature rises, -1 where it must not rise.

    Attributes
    ----------
    model_ : Model
        The model file.
    path_ : RulePath
        The numbers of rules that were compared: the cross-validated ``loss`` and ``quality`` of
        each. These are RMSE and R²; for other losses the mean absolute error, pinball loss or
        deviance, and D², the share of it that is explained.
    selection_reason_ : str
        A sentence with the reason for this number of rules.
    selection_, feature_groups_, hierarchy_, n_rules_, feature_importances_, n_features_in_,
    feature_names_in_
        As in :class:`~solah.RuleClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from solah import RuleRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> model = RuleRegressor().fit(x, 3 * x[:, 0])
    >>> model.predict([[0.5]]).round(1)
    array([1.5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RULE_CONSTRAINTS,
        "loss": [StrOptions(set(LOSS_NAMES))],
        "quantile": [Interval(Real, 0, 1, closed="neither"), None],
    }

    loss: LossName = "squared_error"
    quantile: float | None = None

    def _learn_rows(self, table: Table, numbers: NumberColumn) -> None:
        if (self.quantile is None) is (self.loss == "quantile"):
            raise ParameterError(
                f"'quantile' is for loss='quantile', such as quantile=0.9; got {self.quantile!r} "
                f"with loss={self.loss!r}"
            )
        # Rows are drawn by their content; the target is part of it.
        levels, codes = np.unique(numbers.values, return_inverse=True)
        stand_in = Target(numbers.name, classes=tuple(levels.tolist()))
        target = ClassTarget(stand_in, levels, codes, numbers.weights, numbers.weight_unit)
        rows = self._rows(table, target, numbers.groups)
        recipe = recipe_of(self, table.names, rows.features)
        loss = loss_of(self.loss, self.quantile)
        with ONE_BLAS_THREAD, report_progress(None, "steps", is_shown=self.verbose) as advance:
            learned = learn_numbers(
                rows, recipe, loss, lambda news: advance(1, news), self._selected
            )
        self._keep(learned.model, table.names, learned.choice)
        self.feature_groups_ = learned.clusters

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> Float:
        """Return a prediction interval for each row.

        Its ends are the prediction and quantiles of the residuals of training rows that were held
        out (split conformal prediction; cross-conformal below 4,000 rows). The coverage holds on
        average over rows like the training rows, not for every subset.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file.
        coverage : float, default=0.9
            The share of rows whose number is in its interval.

        Returns
        -------
        intervals : ndarray of shape (n_rows, 2)
            The lower and the upper end. With ``loss="poisson"`` and ``"gamma"`` they grow with the
            prediction, and are never below 0.

        Raises
        ------
        ParameterError
            If ``coverage`` is not between 0 and 1, or too high for the number of training rows.

        Examples
        --------
        >>> import numpy as np
        >>> from solah import RuleRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((500, 1))
        >>> model = RuleRegressor().fit(X, 3 * X[:, 0] + rng.normal(0, 0.1, 500))
        >>> model.predict_interval([[0.5]], coverage=0.95).round(1)
        array([[1.3, 1.7]])
        """
        return self._predictor().predict_interval(read_features(self, X, reset=False), coverage)


_EMPTY = "No numbers of rules were compared."


def _margin(error: float, form: str) -> str:
    """Return the half-width of a 95% confidence interval as text."""
    return f" ± {1.96 * error:{form}}" if error > 0 else ""


class RulePath(tuple["PathStep", ...]):
    """The cross-validated metrics of each number of rules; ``str()`` of it is a table.

    The table has 95% confidence intervals.

    Examples
    --------
    >>> from solah.learn.objective import PathStep
    >>> names = ("R²", "RMSE")
    >>> many = PathStep(20, 17.5, 4, loss=31.2, quality=0.9, metrics=names, loss_error=1.5)
    >>> few = PathStep(8, 8, 3, loss=33, quality=0.88, is_chosen=True, metrics=names)
    >>> print(RulePath([many, few]))
    at most  rules  features     R²        RMSE
         20     18         4  0.900  31.2 ± 2.9
          8      8         3  0.880          33  chosen
    """

    __slots__ = ()

    @property
    def _lines(self) -> list[tuple[str, ...]]:
        """The cells of the table, its head first."""
        metrics = self[0].metrics if self else ("", "")
        steps = (
            (
                f"{step.max_rules:,}",
                spell_mean(step.n_rules),
                spell_mean(step.n_features),
                f"{step.quality:.3f}" + _margin(step.quality_error, ".3f"),
                f"{step.loss:.4g}" + _margin(step.loss_error, ".2g"),
                "chosen" if step.is_chosen else "",
            )
            for step in self
        )
        return [("at most", "rules", "features", *metrics, ""), *steps]

    def __str__(self) -> str:
        if not self:
            return _EMPTY
        widths = [max(map(len, column)) for column in zip(*self._lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in self._lines
        )

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        heads, *lines = self._lines
        return render("path.html.j2", heads=heads, lines=lines, empty=_EMPTY)


class _OneBlasThread:
    """One BLAS thread from the first of several concurrent fits to the end of the last.

    The number of threads changes the order of sums, and so their last bits. BLAS has one setting
    for the whole process, so that fits in several threads share it.
    """

    def __init__(self) -> None:
        self._lock, self._n_fits = Lock(), 0

    @cached_property
    def _libraries(self) -> ThreadpoolController:
        return ThreadpoolController()  # takes milliseconds

    def __enter__(self) -> None:
        with self._lock:
            if self._n_fits == 0:
                self._take_control()
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._n_fits += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_fits -= 1
            if self._n_fits == 0:
                self._take_control()
                self._limit.restore_original_limits()
                self._take_control()

    def _take_control(self) -> None:
        """Allow this thread to set limits; threadpoolctl 3.7 and later allow one at a time."""
        for library in self._libraries.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


ONE_BLAS_THREAD = _OneBlasThread()
