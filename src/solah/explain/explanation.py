"""Explains predictions: contributions, the rules that apply, and changes that flip them."""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.data.spelling import spell
from solah.exceptions import DataError, require
from solah.explain.contributions import Attributor
from solah.explain.counterfactuals import ChangeFinder
from solah.explain.fired_rules import FiredRows, FiredRule, RuleFinder, Semantics
from solah.explain.importance import known_of
from solah.explain.novelty import Abstention, abstention_of, novelty_of
from solah.explain.paths import Paths
from solah.explain.rule_text import named_class, printed_weights, spell_result, spell_value
from solah.explain.rules import shown_sets
from solah.explain.traversal import TracedRows, numbers_of, rows_at_once
from solah.kernels.reference import masses
from solah.model.document import Task
from solah.model.encode import encode, warn_of_unseen
from solah.model.evaluate import damping
from solah.model.features import flatten
from solah.model.policy import name_reasons

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from solah.data import State, Table
    from solah.explain.counterfactuals import Changes
    from solah.explain.novelty import Novelty
    from solah.kernels.arrays import Float
    from solah.model.document import Model

_MOST_ROWS_AT_ONCE = 1024
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Contribution(NamedTuple):
    """The effect of one feature on one prediction.

    Attributes
    ----------
    feature : the feature's name
    value : its value; None if there is none
    words : the focal sets that describe the value, as text, with their masses; None if the value
        is missing or unseen
    effects : what it adds to the probability of each class (of a number: of each focal set)
    effect : what it adds to the probability of the decision; to the expected number, for a number
    scores : its part of the scores of the classes, if the model has scores
    """

    feature: str
    value: State | None
    words: dict[str, float] | None
    effects: tuple[float, ...]
    effect: float
    scores: tuple[float, ...] | None = None

    def __str__(self) -> str:
        if self.words is None:
            known = "missing" if self.value is None else f"{spell_value(self.value)} (unseen)"
            return f"{self.feature} {known}"
        value = spell_value(self.value)
        words = ", ".join(
            name if mass == 1 else f"{mass:.0%} {name}" for name, mass in self.words.items()
        )
        return f"{self.feature} {value}" + (f" ({words})" if words != value else "")


class Explainer:
    """Explains predictions; all that depends on the model alone is computed once.

    Parameters
    ----------
    model : Model
    changes : bool, default=False
        Whether to find changes that flip a prediction, too.
    ranges : mapping of feature name to (low, high), default=None
        Limits for the values of continuous features; by default those of the training rows.
    fixed : collection of str, default=()
        Features that cannot change.
    columns : collection of str, default=()
        Other columns of the rows, which ``ranges`` and ``fixed`` may name as well.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.explain import Explainer
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> explanation = next(Explainer(model).of_table(wine.table))
    >>> explanation
    <Explanation: class_0, 100%>
    >>> explanation.contributions[0].feature
    'proline'
    """

    def __init__(
        self,
        model: Model,
        *,
        changes: bool = False,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
        columns: Collection[str] = (),
    ) -> None:
        self.model = model
        self.attributor = Attributor(model.program)
        self.rule_finder = RuleFinder(model)
        # It checks its arguments, whether changes are wanted or not.
        Paths(model, ranges, fixed, columns)
        self._changes = ChangeFinder(model, ranges, fixed, columns) if changes else None

    def of_table(self, table: Table) -> Iterator[Explanation]:
        """Explain the prediction for each row of a table, in order."""
        warn_of_unseen(table, self.model.features)
        size = min(_MOST_ROWS_AT_ONCE, rows_at_once(self.model.program))
        for start in range(0, table.n_rows, size):
            rows = ExplainedRows(self, table.rows(start, start + size))
            for place, readings in enumerate(rows.readings):
                changes = self._changes.of_row(readings) if self._changes else None
                yield Explanation(rows, place, changes)

    @cached_property
    def used(self) -> frozenset[int]:
        """The features that some term reads."""
        return frozenset(axis.source for axis in self.model.program.axes if axis.is_read)

    @cached_property
    def without_rule(self) -> frozenset[int]:
        """The features of a term that has no rule for a missing value."""
        program = self.model.program
        terms = (term for stage in program.stages for term in stage.terms if term.missing is None)
        axes = (program.axes[a] for term in terms for a in term.axes)
        return frozenset(axis.source for axis in axes if axis.is_read)


class ExplainedRows:
    """Rows that were predicted together: arrays as lists, made when they are asked for.

    Parameters
    ----------
    explainer : Explainer
    table : the rows
    """

    def __init__(self, explainer: Explainer, table: Table) -> None:
        self.explainer, self.model, self._table = explainer, explainer.model, table
        self.target = self.model.target
        self.readings = encode(table, self.model.features)
        self.traced = TracedRows(self.model.program, self.readings)
        self.fired = FiredRows(explainer.rule_finder, self.traced)
        self.added = added = explainer.attributor.of_rows(self.traced)
        self.start: tuple[float, ...] = tuple(added.start.tolist())
        self.probabilities: list[tuple[float, ...]] = list(map(tuple, added.outputs.tolist()))
        self.effects: list[list[list[float]]] = added.effects.tolist()
        nothing = [None] * table.n_rows
        self.scores: list[Any] = nothing if added.scores is None else added.scores.tolist()
        self.places: list[int] = self.target.decide(added.outputs).tolist()
        if self.target.task is Task.REGRESSION:
            of_decision = numbers_of(self.target, added.effects)
            self.decisions: list[State] = numbers_of(self.target, added.outputs).tolist()
        else:
            of_decision = added.effects[np.arange(table.n_rows), :, self.places]
            self.decisions = [self.target.classes[place] for place in self.places]
        self.of_decision: list[list[float]] = of_decision.tolist()
        self.is_known: list[list[bool]] = (~np.isnan(self.readings)).tolist()
        self.completeness: list[float] = known_of(self.model, self.readings).tolist()

    @cached_property
    def dampings(self) -> list[float]:
        """The factor of all weights beside missing values, row by row."""
        if not self.model.program.has_variances or self.target.is_additive_number:
            return [1.0] * len(self.readings)
        dampings: list[float] = damping(self.traced.steps[-1].parts[-1].variance).tolist()
        return dampings

    @cached_property
    def shap_values(self) -> tuple[Float, Float]:
        """Return the Shapley values of the scores, as rules print weights, and the base values.

        They are those of a game in which dropped features vary as in the training rows.
        A model of trees has no scores, so that its are those of the probabilities.
        """
        added, target = self.added, self.target
        if not self.model.is_additive or len(self.model.nodes) > 1:
            values, base = added.effects, np.tile(added.start, (len(added.effects), 1))
            named = None
        else:
            values, named = added.terms.copy(), named_class(target)
            base = np.tile(self.model.program.stages[-1].baseline, (len(values), 1))
            # A missing value makes others count less; those that are known share what is left.
            used = np.zeros(values.shape[:2])
            used[:, list(self.explainer.used)] = 1.0
            used *= ~np.isnan(self.readings)
            parts = used / np.maximum(used.sum(axis=1, keepdims=True), 1.0)
            left = self.traced.steps[-1].scores - base - values.sum(axis=1)
            base = base + left * (used.sum(axis=1, keepdims=True) == 0)
            values += parts[:, :, None] * left[:, None, :]
        if named is not None:
            place = target.classes.index(named)
            values, base = (one[..., place] - one[..., 1 - place] for one in (values, base))
        elif values.shape[-1] == 1:
            values, base = values[..., 0], base[..., 0]
        return values, base

    @cached_property
    def novelty(self) -> Novelty:
        """How the rows compare with the training rows."""
        return novelty_of(self.model, self._table)

    @cached_property
    def values(self) -> list[list[Any]]:
        """The values of each feature: numbers (an infinite one as text), categories or None."""
        values: list[list[Any]] = []
        for feature, numbers in zip(self.model.features, self.readings.T, strict=True):
            if feature.is_coded:
                column = self._table.column(feature.name)
                cells = zip(column.values.tolist(), column.missing().tolist(), strict=True)
                values.append([None if is_missing else value for value, is_missing in cells])
            else:
                values.append(
                    [
                        x if math.isfinite(x) else (None if math.isnan(x) else str(x))
                        for x in numbers.tolist()
                    ]
                )
        return values

    @cached_property
    def _memberships(self) -> list[tuple[list[str], list[list[float]]]]:
        return [
            (names, masses(self.readings[:, j], flatten([feature]), 0).tolist())
            for j, (names, feature) in enumerate(
                zip(shown_sets(self.model), self.model.features, strict=True)
            )
        ]

    def words(self, j: int, row: int) -> dict[str, float] | None:
        """Return the focal sets that describe a value, as text, with their masses."""
        if not self.is_known[row][j]:
            return None
        named: dict[str, float] = {}
        names, memberships = self._memberships[j]
        for name, mass in zip(names, memberships[row], strict=True):
            if mass > 0:  # a word with a core may have two focal sets
                named[name] = named.get(name, 0.0) + mass
        return named


class Explanations(list["Explanation"]):
    """Explanations of several predictions."""

    def to_shap(self) -> Any:
        """Return the contributions as a ``shap.Explanation``, for its plots.

        Values are exact Shapley values of the score: log-odds, of two classes those of the rarer
        one, or a number. Base values and values sum to the score. shap is not installed with solah.

        Returns
        -------
        explanation : shap.Explanation

        Raises
        ------
        MissingExtraError
            If shap is not installed.
        """
        if not self:
            raise DataError("there are no rows to explain")
        shap = require("shap", "", "to_shap()")
        model = self[0]._rows.model
        pairs = [(one._rows.shap_values, one._place) for one in self]
        named = named_class(model.target)
        outputs = list(model.target.classes or model.target.words or [model.target.name])
        return shap.Explanation(
            values=np.array([values[place] for (values, _), place in pairs]),
            base_values=np.array([base[place] for (_, base), place in pairs]),
            data=np.array(
                [[column[one._place] for column in one._rows.values] for one in self], dtype=object
            ),
            feature_names=[feature.name for feature in model.features],
            output_names=list(map(spell, [named] if named is not None else outputs)),
        )


class Explanation:
    """An explanation of one prediction.

    Attributes
    ----------
    target : the target
    decision : the predicted class, or the expected number
    probabilities, start : the probability of each class, and the same before any value is known
    completeness : the completeness: the share of all importance that has a value
    damping : the factor of all weights beside missing values: 1 if nothing is missing
    damps : whether the model has such a factor
    changes : changes that flip the prediction, if they were asked for
    """

    def __init__(self, rows: ExplainedRows, place: int, changes: Changes | None = None) -> None:
        self._rows, self._place = rows, place
        self.target = rows.target
        self.decision = rows.decisions[place]
        self.probabilities = rows.probabilities[place]
        self.start = rows.start
        self.completeness = rows.completeness[place]
        self.damping = rows.dampings[place]
        self.damps = rows.model.program.has_variances
        self.changes = changes

    @property
    def probability(self) -> float:
        """The probability of the decision; for words of a number, the largest; for a sum, 1."""
        if self.target.is_additive_number:
            return 1.0
        if self.target.task is Task.REGRESSION:
            return max(self.probabilities)
        return self.probabilities[self._rows.places[self._place]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The features without a value that the model can use."""
        known = self._rows.is_known[self._place]
        return tuple(one.name for j, one in enumerate(self._rows.model.features) if not known[j])

    @property
    def missing_without_rule(self) -> tuple[str, ...]:
        """Of the missing features, those without a rule for missing values."""
        names = [one.name for one in self._rows.model.features]
        needed = {names[j] for j in self._rows.explainer.without_rule}
        return tuple(name for name in self.missing if name in needed)

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """The effects of the features, the largest first; they sum to ``after - before``."""
        rows, row = self._rows, self._place
        own, effects, scores = rows.of_decision[row], rows.effects[row], rows.scores[row]
        return tuple(
            Contribution(
                feature=rows.model.features[j].name,
                value=rows.values[j][row],
                words=rows.words(j, row),
                effects=tuple(effects[j]),
                effect=own[j],
                scores=tuple(scores[j]) if scores else None,
            )
            for j in sorted(rows.explainer.used, key=lambda j: (-abs(own[j]), j))
        )

    @cached_property
    def rules(self) -> tuple[FiredRule, ...]:
        """The rules that apply, with their weights in the row, by their effect on it."""
        return tuple(self.strongest_rules(None)[0])

    def strongest_rules(self, top: int | None) -> tuple[list[FiredRule], int]:
        """Return the first rules that apply, and how many there are."""
        return self._rows.fired.strongest(self._place, top)

    @cached_property
    def semantics(self) -> Semantics:
        """The rules that fired in each part of the model, from bottom to top."""
        return self._rows.fired.semantics(self._place)

    @property
    def groups(self) -> dict[str, list[float]]:
        """The sums of the feature groups by their names: for each class, or of a number."""
        added, parts = self._rows.traced.added, self._rows.model.parts
        names = [part.name for part in parts if part.kind == "group"]
        return {name: added[name][self._place].tolist() for name in names}

    @cached_property
    def abstention(self) -> Abstention:
        """The reasons for the policy to abstain, the row taken by itself."""
        rows = self._rows
        if rows.model.policy is None and rows.model.domain is None:
            return Abstention()
        values = [values[self._place] for values in rows.values]
        return abstention_of(rows.model, rows.novelty, self._place, self.probabilities, values)

    @property
    def before(self) -> float:
        """The probability of the decision, or the number, before any value is known."""
        return self._of_decision(self.start)

    @property
    def after(self) -> float:
        """The same now; ``before`` and all contributions sum to it."""
        return self._of_decision(self.probabilities)

    def _of_decision(self, outputs: tuple[float, ...]) -> float:
        if self.target.task is Task.REGRESSION:
            return float(numbers_of(self.target, np.array(outputs)))
        return outputs[self._rows.places[self._place]]

    @property
    def conclusion(self) -> str:
        """The prediction as text, with its probability."""
        return spell_result(self.target, self.probabilities, self.decision)

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return plain values, ready for JSON.

        Parameters
        ----------
        top : int or None, default=None
            The maximum number of rules; None includes all.
        """
        rows, row = self._rows, self._place
        added: list[Any] = rows.effects[row]
        unit = "effects"
        if (scores := rows.scores[row]) is not None:
            added, unit = list(map(self._printed, scores)), "scores"
        return {
            "target": self.target.name,
            "classes": list(self.target.classes or self.target.words),
            "thresholds": list(self.target.thresholds),
            "decision": self.decision,
            "probability": self.probability,
            "probabilities": list(self.probabilities),
            "start": list(self.start),
            "before": self.before,
            "after": self.after,
            "completeness": self.completeness,
            "abstains": self.abstention.abstains,
            "abstain_reasons": name_reasons(self.abstention.flags),
            "reasons": list(self.abstention.reasons),
            "damping": self.damping,
            "features": [
                {
                    "feature": feature.name,
                    "value": rows.values[j][row],
                    "words": rows.words(j, row),
                    "effect": rows.of_decision[row][j],
                    unit: added[j],
                }
                for j, feature in enumerate(rows.model.features)
            ],
            "groups": {name: self._printed(sums) for name, sums in self.groups.items()},
            "rules": [
                {"part": one.rule.part, "rule": one.rule.sentence, "membership": one.membership}
                for one in self.strongest_rules(top)[0]
            ],
            "changes": None if self.changes is None else self.changes.to_dict(),
        }

    def _printed(self, scores: Sequence[float]) -> dict[str, float]:
        """Return scores by class as rules print them: of two classes, the difference."""
        target = self.target
        names = target.classes or (target.name,)
        return {spell(one): x for one, x in printed_weights(scores, names, named_class(target))}

    def to_json(self, top: int | None = None) -> str:
        """Return the same as one line of JSON."""
        return _ENCODER.encode(self.to_dict(top))

    def __str__(self) -> str:
        from solah.explain.explanation_text import lines_of

        return "\n".join(line.text for line in lines_of(self))

    def __repr__(self) -> str:
        return f"<Explanation: {self.conclusion}>"

    def _repr_html_(self) -> str:
        from solah.explain.html import as_html

        return as_html(self)
