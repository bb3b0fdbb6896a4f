"""Rules by hand: those that users give, and those that are pinned in an edited model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.edit import parse_rule
from solah.estimators.rule_parameters import check_columns, place_of_class
from solah.exceptions import ParameterError, shorten
from solah.learn.recipe import FixedRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.model import Attribute, Model, Term


def _as_rule(given: Any, classes: Sequence[Any] | None) -> FixedRule:
    """Take a rule as it is, or read the sentence that says it."""
    if isinstance(given, FixedRule):
        return given
    if isinstance(given, str):
        return _read_sentence(given, classes)
    raise ParameterError(
        "'rules' must be a list of sentences, such as 'if smoke is high then alarm +3', or of "
        f"solah.FixedRule. Got {shorten(given)} in it."
    )


def _read_sentence(text: str, classes: Sequence[Any] | None) -> FixedRule:
    stated = parse_rule(text)
    condition = stated.conditions[0]
    is_one_word = condition.form == "one of" and len(condition.names) == 1
    if len(stated.conditions) > 1 or not is_one_word or len(condition.names[0].words) > 1:
        raise ParameterError(
            f"a rule by hand asks whether one attribute is one word. Got {shorten(text)}."
        )
    scores = stated.scores_for(classes or ())
    (word,) = condition.names[0].words
    named = scores[0] if classes is None else dict(zip(classes, scores, strict=True))
    return FixedRule(condition.attribute, word, named)


def _scores(given: Any, classes: Sequence[Any] | None) -> tuple[float, ...]:
    """Return one number for each output; those of classes are 0 on average."""
    if classes is None:
        if not isinstance(given, Real):
            raise ParameterError(f"a rule by hand adds a number here. Got {shorten(given)}.")
        return (float(given),)
    if not isinstance(given, Mapping) or not all(isinstance(v, Real) for v in given.values()):
        raise ParameterError(f"a rule by hand adds numbers by class. Got {shorten(given)}.")
    scores = np.zeros(len(classes))
    for one, score in given.items():
        scores[place_of_class("rules", one, classes)] = score
    return tuple((scores - scores.mean()).tolist())


def in_unit(rules: Sequence[FixedRule], unit: float) -> tuple[FixedRule, ...]:
    """Return rules whose scores are in another unit."""
    return tuple(replace(one, scores=tuple(np.array(one.scores) / unit)) for one in rules)


@dataclass(frozen=True)
class ByHand:
    """What is not learnt: rules that users give, and what is pinned in an edited model.

    Attributes
    ----------
    rules : the rules
    attributes : attributes whose words are kept with them, by name
    """

    rules: tuple[Any, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    @classmethod
    def pinned_in(cls, model: Model) -> ByHand:
        """Keep the terms of a model that have a pinned rule, whole."""
        rules: list[FixedRule] = []
        attributes: dict[str, Attribute] = {}
        for term in model.terms:
            if not term.pinned:
                continue
            if len(term.inputs) > 1:
                raise ParameterError(
                    f"the rules on {' and '.join(map(repr, term.features))} have pinned ones; "
                    "refit keeps only rules with one condition"
                )
            rules += _rules_of(term, model.goal.states)
            attribute = term.inputs[0].attribute
            attributes |= {} if attribute.is_coded else {attribute.name: attribute}
        return cls(tuple(rules), attributes)

    def resolved(
        self, names: Sequence[str], classes: Sequence[Any] | None
    ) -> tuple[FixedRule, ...]:
        """Check the rules, and give each a score for every output.

        Parameters
        ----------
        names : the columns
        classes : the classes; None for a number
        """
        rules = tuple(_as_rule(one, classes) for one in self.rules)
        check_columns("rules", [rule.attribute for rule in rules], names)
        asked = [(rule.attribute, rule.word) for rule in rules]
        for name, word in asked:
            if asked.count((name, word)) > 1:
                raise ParameterError(f"two rules by hand ask whether {name!r} is {shorten(word)}")
        return tuple(replace(rule, scores=_scores(rule.scores, classes)) for rule in rules)


def _rules_of(term: Term, states: Sequence[Any]) -> list[FixedRule]:
    """Return a rule for each word or category of a term's feature."""
    (one,) = term.inputs
    named: Sequence[Any] = one.attribute.states or one.attribute.words
    rules = []
    for line, words in enumerate(one.parts):
        numbers = term.weights[line].tolist()
        scores = dict(zip(states, numbers, strict=True)) if states else numbers[0]
        is_pinned = (line,) in term.pinned
        rules += [FixedRule(one.name, named[word], scores, is_pinned) for word in words]
    return rules


class RefitMixin:
    """Lets an estimator learn around rules by hand."""

    _by_hand = ByHand()
    _fit: Callable[..., None]  # a method of the estimators

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        rules: Sequence[str | FixedRule] | None = None,
        *,
        groups: Any = None,
    ) -> Self:
        """Learn words, rules and groups.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories. Or files, frames or a cluster,
            with y as the name of the goal's column.
        y : array of shape (n_rows,)
            The classes, or numbers.
        sample_weight : array of shape (n_rows,), default=None
        rules : list of sentences or of FixedRule, default=None
            Rules by hand, such as ``"if smoke is high then alarm +3"``, which stay as they are
            while the rest is learnt around them. Their columns have words by hand, or states, and
            no other rules: words that no rule names add nothing.
        groups : array of shape (n_rows,), default=None
            What rows belong to, such as a person or a recording: all that is settled on rows not
            learnt from is then settled on groups not learnt from. Or the name of a column, where X
            is not in memory. (``feature_groups`` of the class is about columns.)

        Returns
        -------
        self
        """
        return self._fit_around(ByHand(tuple(rules or ())), X, y, sample_weight, groups)

    def refit(
        self, X: Any, y: Any, keep: Model, sample_weight: Any = None, *, groups: Any = None
    ) -> Self:
        """Learn again, and keep what is pinned in an edited model.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.
        keep : Model
            Terms with pinned rules are kept whole, with their words; all else is learnt.

        Returns
        -------
        self
        """
        return self._fit_around(ByHand.pinned_in(keep), X, y, sample_weight, groups)

    def _fit_around(self, by_hand: ByHand, *rows: Any) -> Self:
        self._by_hand = by_hand
        try:
            self._fit(*rows)
        finally:
            del self._by_hand
        return self
