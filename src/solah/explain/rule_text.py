"""Rules, and the one place that writes them (and weights, classes and values) as text.

Left of the bar of a sentence is the effect of a rule; right of it are counts from the training
rows::

    if CONDITIONS: CLASS ±WEIGHT[, CLASS ±WEIGHT …] | N rows, P% CLASS (Q% overall)

Two rules whose words go over into each other on most rows are printed as the straight line that
they make: ``age: ill rises from -1.10 at 20 to +0.90 at 88``. A branch of a linguistic tree does
conclude, so it has a "then".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from solah.data.spelling import spell, spell_mean, spell_number
from solah.model.document import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.model.document import Model, Target

# From here on, the share of a class and the weight for it count as on different sides.
_CLEAR_SHARE = _CLEAR_WEIGHT = 0.05
_MOST_CLASSES = 4
# A normal variable is within this many standard deviations of its mean in 90% of all cases.
OF_90 = 1.6448536269514722
_OFFSET = ", offsets other rules"


def spell_class(state: State, target: str) -> str:
    """Write a class so that it stays apart from the text around it.

    Examples
    --------
    >>> spell_class("benign", "y"), spell_class("had an affair", "y"), spell_class(2, "grower")
    ('benign', '"had an affair"', 'grower=2')
    """
    text = spell(state)
    if not any(letter.isalpha() for letter in text):
        text = f"{target}={text}"
    return f'"{text}"' if any(one.isspace() or one in ',:|"' for one in text) else text


def spell_value(value: State | None) -> str:
    """Write a value with six digits at most, a category as it is."""
    if value is None:
        return "unknown"
    return spell_number(value, 6) if isinstance(value, float) else spell(value)


def spell_set(words: Sequence[str]) -> str:
    """Write the words of a focal set, which all apply."""
    return "-or-".join(words)


def signed(number: float, decimals: int | None = None) -> str:
    """Write a number with its sign, a rounded zero as a positive one.

    Examples
    --------
    >>> signed(-0.004, 2), signed(1234.56)
    ('+0.00', '+1235')
    """
    if decimals is None:
        return spell_number(number, sign="+")
    return f"{round(number, decimals) + 0.0:+.{decimals}f}"


class Gain(NamedTuple):
    """The largest weight, and the class that it is for.

    Attributes
    ----------
    size : of two classes, the difference of their weights (log-odds); of several, the largest
        weight; of a number, the weight
    state : the class that gains most; None if none does, and for a number
    """

    size: float
    state: State | None = None


def gain_of(weights: Sequence[float], states: Sequence[State]) -> Gain:
    """Return which class gains most by weights, and how much.

    Examples
    --------
    >>> gain_of([-0.2, 0.2], ["good", "bad"])
    Gain(size=0.4, state='bad')
    >>> gain_of([1.4, -0.1, -1.3], [0, 1, 2])
    Gain(size=1.4, state=0)
    >>> gain_of([-2.5], []), gain_of([0.0, 0.0], ["good", "bad"])
    (Gain(size=-2.5, state=None), Gain(size=0.0, state=None))
    """
    if not states:
        return Gain(weights[0])
    most = max(weights)
    size = most - min(weights) if len(weights) == 2 else most
    # Weights are 0 on average, so that a largest one below 0 is a matter of rounding.
    return Gain(size, states[weights.index(most)]) if size > 0 else Gain(0.0)


def spell_largest(weights: Sequence[float], target: Target) -> str:
    """Write the largest weight with its class, of two classes as rules do; of a number it alone."""
    if not target.classes:
        return signed(weights[0])
    if named := named_class(target):
        return spell_weights(weights, target.classes, target.name, named)
    most = max(weights)
    return f"{spell_class(target.classes[weights.index(most)], target.name)} {signed(most, 2)}"


def named_class(target: Target) -> State | None:
    """Return the class that all rules name: of two classes the rarer one, else None."""
    if len(target.classes) != 2:
        return None
    first, second = target.shares or (1, 0)
    return target.classes[0 if first < second else 1]


def spell_weights(
    weights: Sequence[float], states: Sequence[State], target: str, named: State | None = None
) -> str:
    """Write weights: of two classes the difference, of several the largest first.

    Examples
    --------
    >>> spell_weights([1.416, -1.31, -0.106], ["a", "b", "c"], "y")
    'a +1.42, c -0.11, b -1.31'
    >>> spell_weights([0.2, -0.2], ["bad", "good"], "y", "good"), spell_weights([12.34], [], "y")
    ('good -0.40', 'y +12.34')
    """
    if not states:
        return f"{target} {signed(weights[0])}"
    pairs = printed_weights(weights, states, named)
    texts = [f"{spell_class(state, target)} {signed(weight, 2)}" for state, weight in pairs]
    if (more := len(texts) - _MOST_CLASSES) > 0:
        texts[2:-1] = [f"… {more + 1} more"]
    return ", ".join(texts)


def printed_weights(
    weights: Sequence[float], states: Sequence[State], named: State | None = None
) -> list[tuple[State, float]]:
    """Return the weights that are printed: of two classes the difference, else the largest first.

    Examples
    --------
    >>> printed_weights([0.2, -0.2], ["bad", "good"], "good")
    [('good', -0.4)]
    """
    pairs = sorted(zip(states, weights, strict=True), key=lambda pair: -pair[1])
    if len(pairs) != 2:
        return pairs
    (state, most), (_, least) = pairs
    return [(state, most - least)] if named in (None, state) else [(named, least - most)]


def spell_result(target: Target, belief: Sequence[float], decided: State) -> str:
    """Return a prediction with its probability, or an estimated number, as text."""
    if target.task is Task.REGRESSION:
        return f"{target.name} {spell_number(float(decided))}"
    return f"{spell_class(decided, target.name)}, {belief[target.classes.index(decided)]:.0%}"


def spell_baselines(model: Model) -> str:
    """Write the baseline of each sum, a line each; nothing if rules do not add up."""
    target, named = model.target, named_class(model.target)
    lines = []
    for node in model.sums:
        whose = "baseline" if node is model.root else f"baseline of {node.name}"
        amount = spell_weights(node.baseline, target.classes, target.name, named)
        if not target.classes:
            amount = f"{target.score_name} {spell_number(node.baseline[0])}"
        lines.append(f"{whose}: {amount}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Condition:
    """A feature and the words that describe it.

    Attributes
    ----------
    feature : the feature's name
    words : the words of the focal set, which all apply: ``hue is medium-or-high``; of several
        focal sets, all words in them; none where the value must be missing
    phrase : the common name of several focal sets: ``hue is at least medium-or-high``; empty
        for a single one
    sets : the focal sets, where several are joined
    range : where the words apply, of words with cores
    """

    feature: str
    words: tuple[str, ...]
    phrase: str = ""
    sets: tuple[tuple[str, ...], ...] = ()
    range: str = field(default="", compare=False)

    @property
    def focal_sets(self) -> tuple[tuple[str, ...], ...]:
        """The focal sets, one of which describes the feature."""
        return self.sets or (self.words,)

    def to_dict(self) -> dict[str, Any]:
        """Return the condition's parts and its text as plain values, ready for JSON."""
        return {
            "feature": self.feature,
            "words": list(self.words),
            "sets": [list(words) for words in self.focal_sets],
            "range": self.range,
            "text": str(self),
        }

    @property
    def word(self) -> str:
        """The words as text."""
        return self.phrase or spell_set(self.words)

    @property
    def short(self) -> str:
        """The condition without "is", and without the range in which a word fades."""
        return f"{self.feature} {self.word.partition(', fading')[0]}"

    def __str__(self) -> str:
        return f"{self.feature} is {self.word}"


class Ramp(NamedTuple):
    """Where one word of two goes over into the other, on most rows.

    Attributes
    ----------
    low, high : the ends of the ramp, as text
    """

    low: str
    high: str


@dataclass(frozen=True)
class Rule:
    """A rule of a term, which adds weights, or a branch of a tree, which concludes.

    Attributes
    ----------
    part : the name of the term or tree
    conditions : what must hold, from the root on
    target : the target's name
    shares : the share of each class among the rule's rows (of each focal set, for a number of a
        tree; the mean of an additive number)
    support : the weight of the training rows behind the rule
    decision : the class with the largest weight (of a tree, with the largest share), or the
        expected number
    task : whether a class or a number is decided
    effect : the size of the rule's effect. In a term, its weight for the class that gains most; in
        a tree, the change of that class's share from the root. For a number, the size of the
        estimate's change
    effect_class : the class that gains most; None if none does, and for a number
    adds : in a term, the weights: for each class, as pairs; for a number, beside the target's
        name. Empty in trees
    named : in a term, the class that the share is of: of two classes the rarer one
    overall : in a term, the share of that class among all training rows, or their mean
    is_outdated : whether words of the conditions were moved after rows were counted
    is_pinned : whether a refit keeps the rule
    ramp : in a term of two rules that is a straight line on most rows, the ends of this line
    number : the index among the rules of the term or tree, from low to high; that for a missing
        value is the last
    errors : the standard errors of the weights, by class; of two classes that of the difference,
        and none if they are unknown
    """

    part: str
    conditions: tuple[Condition, ...]
    target: str
    shares: tuple[float, ...]
    support: float
    decision: State
    task: Task = Task.CLASSIFICATION
    # These come from the model around the rule, and rules are compared by what they state.
    effect: float = field(default=0.0, compare=False)
    effect_class: State | None = field(default=None, compare=False)
    adds: tuple[tuple[State, float], ...] = ()
    named: State | None = field(default=None, compare=False)
    overall: float | None = field(default=None, compare=False)
    is_outdated: bool = field(default=False, compare=False)
    is_pinned: bool = field(default=False, compare=False)
    ramp: Ramp | None = field(default=None, compare=False)
    number: int = field(default=0, compare=False)
    errors: tuple[float, ...] = field(default=(), compare=False)

    @property
    def bands(self) -> dict[State, tuple[float, float]]:
        """The ranges in which the weights are, with a probability of 90%; none if unknown."""
        if not self.errors:
            return {}
        weights = self.weights
        order = [state for state, _ in self.adds if state in weights]
        halves = dict(zip(order, (OF_90 * one for one in self.errors), strict=True))
        return {state: (one - halves[state], one + halves[state]) for state, one in weights.items()}

    @property
    def weights(self) -> dict[State, float]:
        """The weights of a rule of a term as it prints them: of two classes, the difference."""
        if self.task is Task.REGRESSION:
            return dict(self.adds)
        states = [state for state, _ in self.adds]
        return dict(printed_weights([one for _, one in self.adds], states, self.named))

    @property
    def share(self) -> float | None:
        """The share of the named class among the rule's rows; None for a number, without rows."""
        if self.task is Task.REGRESSION or (self.adds and not self.support):
            return None
        return self._of(self.named, self.shares) if self.adds else max(self.shares)

    def _of(self, state: State | None, numbers: Sequence[float]) -> float:
        states: list[State | None] = [one for one, _ in self.adds]
        return numbers[states.index(state)]

    @property
    def premise(self) -> str:
        """The conditions as text; empty when there is none."""
        return " and ".join(map(str, self.conditions))

    @property
    def result(self) -> str:
        """The effect as text: the weights, or the conclusion of a branch."""
        is_number = self.task is Task.REGRESSION
        if self.adds:
            states = () if is_number else tuple(state for state, _ in self.adds)
            return spell_weights([one for _, one in self.adds], states, self.target, self.named)
        if is_number:
            return f"{self.target} {spell_number(float(self.decision))}"
        return f"{spell_class(self.decision, self.target)} {max(self.shares):.0%}"

    @property
    def counts(self) -> str:
        """The rows behind the rule as text and, in a term, the share of a class among them."""
        if self.adds and not self.support:
            return "no rows counted"
        rows = f"{spell_mean(self.support)} row{'' if self.support == 1 else 's'}"
        rows += " before its words moved" if self.is_outdated else ""
        return f"{rows}, {self.share_text}" if self.adds else rows

    @property
    def share_text(self) -> str:
        """The share of the named class among the rows, or their mean, beside all rows'."""
        overall = self.overall
        if self.task is Task.REGRESSION:
            where = "" if overall is None else f" ({spell_number(overall)} overall)"
            return f"mean {spell_number(self.shares[0])}{where}"
        assert self.named is not None
        where = "" if overall is None else f" ({overall:.0%} overall)"
        offset = _OFFSET if self.is_offset else ""
        return f"{self.share:.0%} {spell_class(self.named, self.target)}{where}{offset}"

    @property
    def is_offset(self) -> bool:
        """Whether the share is on the other side of overall than the weight, both clearly."""
        if self.share is None or self.overall is None or not self.adds:
            return False
        assert self.named is not None
        weight = self.weights[self.named]
        gap = self.share - self.overall
        return weight * gap < 0 and abs(weight) >= _CLEAR_WEIGHT and abs(gap) >= _CLEAR_SHARE

    @property
    def sentence(self) -> str:
        """The conditions and the effect as text."""
        if not self.adds:
            return f"if {self.premise} then {self.result}" if self.conditions else self.result
        return f"if {self.premise}: {self.result}" if self.conditions else f"always: {self.result}"

    @property
    def short(self) -> str:
        """The sentence for lists with little room: without "if" and "is", and with one class."""
        premise = " and ".join(one.short for one in self.conditions) or "always"
        if len(self.adds) < 3:
            return f"{premise}: {self.result}"
        weight = self._of(self.decision, [one for _, one in self.adds])
        return f"{premise}: {spell_class(self.decision, self.target)} {signed(weight, 2)}"

    def __str__(self) -> str:
        return f"{self.sentence} | {self.counts}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule's parts and its text as plain values, ready for JSON."""
        edited = {"is_outdated": self.is_outdated, "is_pinned": self.is_pinned}
        return {
            "part": self.part,
            "conditions": [condition.to_dict() for condition in self.conditions],
            "decision": self.decision,
            "shares": list(self.shares),
            "share": self.share,
            "share_of": self.named if self.adds else self.decision,
            "overall": self.overall,
            "support": self.support,
            "weights": {spell(state): one for state, one in self.weights.items()} or None,
            "bands": {spell(state): list(ends) for state, ends in self.bands.items()} or None,
            "effect": self.effect,
            "text": str(self),
            **{key: mark for key, mark in edited.items() if mark},
        }

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        return render("rule.html.j2", rule=self)


@dataclass(frozen=True)
class StraightLine:
    """Two rules of a term that are printed as the straight line between them.

    Attributes
    ----------
    low, high : the rules at its lower and its upper end
    """

    low: Rule
    high: Rule

    def __getattr__(self, name: str) -> Any:
        """Take what tables need beside the texts from the rule at the lower end."""
        if name in ("part", "conditions", "adds"):
            return getattr(self.low, name)
        raise AttributeError(name)

    share = None

    @property
    def result(self) -> str:
        """The change of the weights from one end to the other."""
        assert self.low.ramp is not None
        (start, end), ends = self.low.ramp, self.high.weights
        decimals = None if self.low.task is Task.REGRESSION else 2
        texts: list[str] = []
        for state, weight in self.low.weights.items():
            way = "rises" if ends[state] > weight else "falls"
            first, last = signed(weight, decimals), signed(ends[state], decimals)
            name = spell_class(state, self.low.target) if decimals else state
            where = ("", "") if texts else (f" at {start}", f" at {end}")
            texts.append(f"{name} {way} from {first}{where[0]} to {last}{where[1]}")
        if (more := len(texts) - _MOST_CLASSES) > 0:
            texts[2:-1] = [f"… {more + 1} more"]
        return ", ".join(texts)

    @property
    def sentence(self) -> str:
        """The feature and the line."""
        return f"{self.low.conditions[0].feature}: {self.result}"

    @property
    def counts(self) -> str:
        """The rows of both rules and, at both ends, the share of a class or the mean."""
        first, last = self.low, self.high
        if not (first.support and last.support):
            return "no rows counted"
        rows = f"{spell_mean(first.support + last.support)} rows"
        rows += " before its words moved" if first.is_outdated else ""
        if first.task is Task.REGRESSION:
            return f"{rows}, mean from {first.share_text.split(' ')[1]} to {last.share_text[5:]}"
        last = replace(last, named=first.named, overall=first.overall)
        return f"{rows}, from {first.share:.0%} to {last.share_text.removesuffix(_OFFSET)}"

    def __str__(self) -> str:
        return f"{self.sentence} | {self.counts}"
