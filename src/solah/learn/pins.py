"""Rules by hand: scores that are given, around which the others are fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.learn.objective import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.cone import Cone
    from solah.learn.objective import Objective
    from solah.learn.terms import Term
    from solah.learn.vocabulary import Vocabulary


@dataclass(frozen=True)
class FixedRule:
    """A rule by hand, which is kept as it is while the rest is learnt.

    Attributes
    ----------
    attribute : the attribute that it asks for
    word : one of its words or states
    scores : what the rule adds: evidence (log-odds) by class, for a number an amount
    is_pinned : whether it is marked in the document

    Examples
    --------
    >>> FixedRule("smoke", "high", {"alarm": 3.0})
    FixedRule(attribute='smoke', word='high', scores={'alarm': 3.0}, is_pinned=True)
    """

    attribute: str
    word: Any
    scores: Mapping[Any, float] | Sequence[float] | float
    is_pinned: bool = True


@dataclass(frozen=True, eq=False)
class Given:
    """The scores of all words of an attribute, by hand.

    Attributes
    ----------
    scores : (n_words, n_outputs)
    pinned : the places of the words that rules name
    """

    scores: Float
    pinned: frozenset[int]

    @classmethod
    def read(cls, vocabulary: Vocabulary, rules: Sequence[FixedRule], n_outputs: int) -> Given:
        """Put rules, whose scores are resolved, beside the words of their attribute."""
        attribute = vocabulary.attribute
        if not (attribute.is_coded or vocabulary.is_fixed):
            raise ParameterError(
                f"a rule by hand asks whether {attribute.name!r} is {shorten(rules[0].word)}, and "
                f"its words are learnt; give it words by hand: words={{{attribute.name!r}: …}}"
            )
        words: list[Any] = list(attribute.states if attribute.is_coded else attribute.words)
        scores, pinned = np.zeros((len(words), n_outputs)), set[int]()
        for rule in rules:
            named = [place for place, word in enumerate(words) if rule.word in (word, str(word))]
            if not named:
                close = did_you_mean(str(rule.word), map(str, words))
                raise ParameterError(
                    f"a rule by hand asks whether {attribute.name!r} is {shorten(rule.word)}; it "
                    f"is {', '.join(map(str, words))}{close}"
                )
            place = named[0]
            scores[place] = np.asarray(rule.scores)
            pinned |= {place} if rule.is_pinned else set()
        return cls(scores, frozenset(pinned))


@dataclass(frozen=True, eq=False)
class Pins:
    """Which parameters are given, and what they are.

    Attributes
    ----------
    is_given : (n_parameters,)
    values : (n_parameters, n_outputs) 0 where nothing is given
    """

    is_given: NDArray[np.bool_]
    values: Float

    @classmethod
    def of(cls, terms: Sequence[Term], n_outputs: int, *, is_first: bool) -> Pins:
        """Gather what terms are given: of their first parameters, or of those that are left."""
        given, values = [np.zeros(0, dtype=np.bool_)], [np.zeros((0, n_outputs))]
        for term in terms:
            shares = term.reduction()
            own = getattr(term, "given", None)
            width = shares.shape[0 if is_first else 1]
            given.append(np.full(width, own is not None))
            if own is None:
                values.append(np.zeros((width, n_outputs)))
            else:
                values.append(shares @ own.scores if is_first else own.scores)
        return cls(np.concatenate(given), np.vstack(values))

    def fit(
        self,
        objective: Objective,
        columns: Float,
        weights: Float,
        penalty: Float,
        start: Scores | None = None,
        pull: Float | None = None,
        cone: Cone | None = None,
        *,
        is_rough: bool = False,
    ) -> Scores:
        """Fit the parameters that are free; see :meth:`Objective.fit`."""
        free = ~self.is_given
        if free.all():
            return objective.fit(columns, weights, penalty, start, pull, cone, is_rough=is_rough)
        found = objective.beside(columns @ self.values).fit(
            columns[:, free],
            weights,
            penalty[np.ix_(free, free)],
            None if start is None else replace(start, weights=start.weights[free]),
            None if pull is None else pull[np.append(free, True)],
            None if cone is None else cone.reduced(np.eye(len(free))[:, free]),
            is_rough=is_rough,
        )
        scores = self.values.copy()
        scores[free] = found.weights
        return Scores(scores, found.bias)
