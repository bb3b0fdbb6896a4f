"""Reads the rules of a model: part by part, or as a list that sorts, filters and writes itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, get_args, overload

import numpy as np

from solah.data.spreadsheets import guarded, table_writer
from solah.exceptions import ColumnError, DataError, ParameterError, did_you_mean, shorten
from solah.explain.rule_text import (
    Condition,
    Ramp,
    Rule,
    StraightLine,
    gain_of,
    named_class,
    printed_weights,
    spell_baselines,
    spell_set,
)
from solah.explain.traversal import numbers_of
from solah.model.document import AdditiveNode, Task, TreeNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from solah.data import State
    from solah.model.document import Model, Target, Term, TermInput
    from solah.model.features import Feature

MISSING = -1
"""The number of the rule for a missing value."""

Order = Literal["effect", "support"]
_CSV_COLUMNS = ("part", "rule", "conditions", "decision", "share", "support", "effect")
# Two words that share more of the training rows are printed as a straight line.
_MOST = 0.75


@dataclass(frozen=True)
class PartRules:
    """The rules of a term or a tree.

    Attributes
    ----------
    name : the name of the part in the program
    rules : the rules by their numbers in the program; the one for a missing value at ``MISSING``
    """

    name: str
    rules: dict[int, Rule]

    def active(self) -> dict[int, Rule]:
        """Return the rules that carry weight or add something, the strongest first."""
        by_effect = sorted(self.rules.items(), key=lambda item: (-item[1].effect, -item[1].support))
        return {
            number: rule
            for number, rule in by_effect
            if rule.support > 0 or any(weight for _, weight in rule.adds)
        }


def rules_of(model: Model) -> Rules:
    """List the active rules of a model, part by part, the strongest first."""
    return Rules((rule for part in part_rules(model) for rule in part.active().values()), model)


def part_rules(model: Model) -> list[PartRules]:
    """Return the rules of each term and tree, from bottom to top."""
    parts = []
    errors = iter(model.uncertainty.errors if model.uncertainty else ())
    for node, stage in zip(model.nodes, model.program.stages, strict=True):
        if isinstance(node, TreeNode):
            parts.append(PartRules(node.name, dict(enumerate(_tree_rules(node, model.target)))))
            continue
        for term, compiled in zip(node.terms, stage.terms, strict=True):
            rules = dict(enumerate(_term_rules(term, compiled.name, model.target)))
            if (one := term.missing) is not None:
                condition = Condition(term.features[0], (), "missing")
                figures = (one.belief, one.support, one.scores)
                rule = _adding_rule(compiled.name, [condition], model.target, *figures)
                rules[MISSING] = replace(rule, is_pinned=one.is_pinned)
            if not model.target.classes:
                # All rows have a rule of the term, so its means give theirs.
                rows = sum(rule.support for rule in rules.values())
                total = sum(rule.support * rule.shares[0] for rule in rules.values())
                overall = total / rows if rows else None
                rules = {n: replace(rule, overall=overall) for n, rule in rules.items()}
            of_term = next(errors, ((),) * len(rules))
            rules = {
                n: replace(rule, number=number, errors=errors_of_rule)
                for number, ((n, rule), errors_of_rule) in enumerate(
                    zip(rules.items(), of_term, strict=True)
                )
            }
            parts.append(PartRules(compiled.name, rules))
    return parts


def shown_sets(model: Model) -> list[list[str]]:
    """Name the focal sets of each feature as rules print them; those of straight lines by ends."""
    straight = {term.features[0] for term in model.terms if straight_ramp(term)}
    return [
        [text.partition(", fading")[0] for text in (one.text for one in feature.word_ranges())]
        if feature.name in straight and len(feature.words) == 2
        else [feature.shown_words[place] for place in feature.set_words]
        if feature.cores
        else list(map(spell_set, feature.focal_sets))
        for feature in model.features
    ]


def _tree_rules(tree: TreeNode, target: Target) -> Iterator[Rule]:
    """Read the branches of a tree as rules."""
    edited = {feature.name for feature in tree.inputs if feature.is_moved}
    for branch in tree.branches:
        conditions = tuple(
            one
            for place, sets in branch.conditions
            for one in _set_conditions(tree.inputs[place], sets)
        )
        moved, gains = np.array(branch.belief) - np.array(tree.start), None
        if target.task is Task.REGRESSION:
            effect = abs(float(numbers_of(target, moved)))
        else:
            # Gains and losses cancel out, so that a largest gain below 0 is a matter of rounding.
            effect = max(float(moved.max()), 0.0)
            gains = target.classes[int(moved.argmax())] if effect else None
        yield Rule(
            part=tree.name,
            conditions=conditions,
            target=target.name,
            shares=branch.belief,
            support=branch.support,
            decision=_decision(branch.belief, target),
            task=target.task,
            effect=effect,
            effect_class=gains,
            is_outdated=any(condition.feature in edited for condition in conditions),
            is_pinned=branch.is_pinned,
        )


def _term_rules(term: Term, name: str, target: Target) -> Iterator[Rule]:
    """Read the cells of a term as rules."""
    is_outdated = any(one.feature.is_moved for one in term.inputs)
    ramp = None if is_outdated else straight_ramp(term)
    for cell in term.cells():
        sides = zip(cell, term.inputs, strict=True)
        is_ranged = ramp is not None or len(term.inputs) > 1
        conditions = [
            one for line, side in sides for one in _line_conditions(side, line, is_ranged)
        ]
        if ramp is not None:
            conditions = [replace(one, phrase=one.range) for one in conditions]
        if not conditions and term.missing is not None:
            feature = term.inputs[0].feature
            conditions = [Condition(feature.name, feature.words, "known", feature.focal_sets)]
        shares, weights = term.shares[cell].tolist(), term.weights[cell].tolist()
        rule = _adding_rule(name, conditions, target, shares, float(term.counts[cell]), weights)
        is_pinned = cell in term.pinned
        yield replace(rule, is_outdated=is_outdated, is_pinned=is_pinned, ramp=ramp)


def straight_ramp(term: Term) -> Ramp | None:
    """Return where a term of two rules is a straight line, if most rows are there; else None.

    The mean product u(1 - u) of two memberships is 0 for rows that one word describes fully, and
    1/6 for rows spread evenly between both; the term's variance shows which.
    """
    feature = term.inputs[0].feature
    if term.shape != (2,) or not feature.cores or feature.tree is not None:
        return None
    apart = float(((term.weights[1] - term.weights[0]) ** 2).mean())
    rows = float(term.counts.sum())
    if not (apart > 0 and rows > 0 and term.variance > 0):
        return None
    share = float(term.counts[1]) / rows
    if 6 * (share * (1 - share) - term.variance / apart) <= _MOST:
        return None
    low, high = term.inputs[0].asked.word_ranges()
    start, _, end = low.text.removeprefix("up to ").partition(", fading out by ")
    return Ramp(start, end) if high.text else None


def _adding_rule(
    name: str,
    conditions: Sequence[Condition],
    target: Target,
    belief: Sequence[float],
    support: float,
    weights: Sequence[float],
) -> Rule:
    gain = gain_of(weights, target.classes)
    decision = _decision(belief, target) if gain.state is None else gain.state
    named: State | None = None
    overall: float | None = None
    if target.classes:
        named = decision if len(target.classes) > 2 else named_class(target)
        overall = target.shares[target.classes.index(named)] if target.shares else None
    return Rule(
        part=name,
        conditions=tuple(conditions),
        target=target.score_name,
        shares=tuple(belief),
        support=support,
        decision=decision,
        task=target.task,
        effect=abs(gain.size),
        effect_class=gain.state,
        adds=tuple(zip(target.classes or (target.score_name,), weights, strict=True)),
        named=named,
        overall=overall,
    )


def _decision(belief: Sequence[float], target: Target) -> State:
    """Return the class with the largest belief, or the expected number."""
    if target.task is Task.REGRESSION:
        return float(numbers_of(target, np.array(belief)))
    return target.classes[belief.index(max(belief))]


def _line_conditions(side: TermInput, line: int, is_ranged: bool) -> tuple[Condition, ...]:
    """Require one of the words of a line; nothing if the line has all words."""
    feature, part = side.feature, side.parts[line]
    if len(part) == len(feature.words) > 1:
        return ()
    words = tuple(feature.words[word] for word in part)
    if not feature.cores:
        phrase = side.phrase(line) if len(words) > 1 else ""
        return (Condition(feature.name, words, phrase, tuple((one,) for one in words)),)
    is_ranged &= len(feature.words) > 1
    shown = feature.range_between(part[0], part[-1]) if is_ranged else side.phrase(line)
    phrase = "" if words == (shown,) else shown
    where = side.asked.word_ranges()[line].text
    return (Condition(feature.name, words, phrase, tuple((one,) for one in words), where),)


def _set_conditions(feature: Feature, places: Sequence[int]) -> tuple[Condition, ...]:
    """Require that one of these focal sets describes a feature; nothing if any may."""
    if len(places) == feature.n_focal_sets > 1:
        return ()
    sets = [feature.focal_sets[place] for place in places]
    if len(sets) == 1:
        return (Condition(feature.name, sets[0]),)
    names = list(map(spell_set, sets))
    if not feature.is_ordered:
        phrase = " or ".join(names)
    elif places[0] == 0:
        phrase = f"at most {names[-1]}"
    elif places[-1] == feature.n_focal_sets - 1:
        phrase = f"at least {names[0]}"
    else:
        phrase = f"from {names[0]} to {names[-1]}"
    words = tuple(dict.fromkeys(word for words in sets for word in words))
    return (Condition(feature.name, words, phrase, tuple(sets)),)


class Rules(list["Rule"]):
    """The rules of a model, or some of them: a list that a notebook shows as a table.

    Parameters
    ----------
    rules : the rules
    model : the model that they are of, which knows its classes and words

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    >>> rules = tree.rules()
    >>> print(rules[:2])
    if petal width (cm) is low then setosa 100% | 20 rows
    if petal width (cm) is medium then versicolor 91% | 42 rows
    >>> print(rules.filter(class_="virginica").sort("support")[0])
    if petal width (cm) is at least medium-or-high then virginica 84% | 56 rows
    >>> rules[0].effect, rules[0].effect_class
    (0.666..., 'setosa')
    """

    def __init__(self, rules: Iterable[Rule], model: Model) -> None:
        super().__init__(rules)
        self.model = model

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> Rule: ...
    @overload
    def __getitem__(self, place: slice, /) -> Rules: ...
    def __getitem__(self, place: SupportsIndex | slice, /) -> Rule | Rules:
        if isinstance(place, slice):
            return Rules(super().__getitem__(place), self.model)
        return super().__getitem__(place)

    def copy(self) -> Rules:
        """Return a list of the same rules."""
        return self[:]

    def __repr__(self) -> str:
        return "\n".join(map(str, self.lines()))

    def lines(self) -> list[Rule | StraightLine]:
        """Return the rules as they are printed: two that make a straight line as one."""
        ends: dict[str, list[Rule]] = {}
        for rule in self:
            if rule.ramp is not None:
                ends.setdefault(rule.part, []).append(rule)
        lines: list[Rule | StraightLine] = []
        for rule in self:
            both = ends.get(rule.part, []) if rule.ramp else []
            if len(both) != 2:
                lines.append(rule)
            elif rule is both[0]:
                is_low = rule.conditions[0].range.startswith("up to")
                lines.append(StraightLine(*both) if is_low else StraightLine(*both[::-1]))
        return lines

    @property
    def baseline(self) -> str:
        """The baseline, to which the rules add; empty if none adds."""
        return spell_baselines(self.model)

    def filter(
        self,
        class_: State | None = None,
        feature: str | None = None,
        part: str | None = None,
    ) -> Rules:
        """Keep the rules that decide for a class, look at a feature, and are of a part.

        Parameters
        ----------
        class_ : a class, default=None
            Its text will do. None keeps the rules of all classes, and so on.
        feature : str, default=None
            The name of a feature, or of a tree that feeds others.
        part : str, default=None
            The name of a term or tree.

        Returns
        -------
        rules : Rules

        Raises
        ------
        DataError
            If there is no such class or feature.
        ParameterError
            If there is no such part.
        """
        kept: Iterable[Rule] = self
        model, target = self.model, self.model.target
        if class_ is not None:
            name, classes = str(class_), list(map(str, target.classes))
            if not classes:
                raise DataError(f"{target.name!r} is a number, so it has no class {name!r}")
            if name not in classes:
                raise DataError(
                    f"{target.name!r} has no class {name!r}{did_you_mean(name, classes)}"
                )
            kept = [rule for rule in kept if str(rule.decision) == name]
        if feature is not None:
            features = [one.name for node in model.nodes for one in node.inputs]
            if feature not in features:
                raise ColumnError.unknown(feature, features, "the model")
            kept = [rule for rule in kept if feature in _features_in([rule])]
        if part is not None:
            parts = [one.name for one in model.parts if one.kind in ("term", "tree")]
            if part not in parts:
                raise ParameterError(f"the model has no rules {part!r}{did_you_mean(part, parts)}")
            kept = [rule for rule in kept if rule.part == part]
        return Rules(kept, model)

    def sort(  # type: ignore[override]
        self,
        by: Order = "effect",
        *,
        key: Callable[[Rule], Any] | None = None,
        reverse: bool = False,
    ) -> Rules:
        """Return the rules sorted, the largest first; this list stays as it is.

        Parameters
        ----------
        by : {"effect", "support"}, default="effect"
            How far a rule moves what is decided, or the weight of the rows behind it.
        key : callable, default=None
            Sort by its result for each rule instead, the smallest first, as lists do.
        reverse : bool, default=False
            Reverse the order.

        Returns
        -------
        rules : Rules
            A new list.
        """
        if key is not None:
            return Rules(sorted(self, key=key, reverse=reverse), self.model)
        if by not in get_args(Order):
            raise ParameterError(
                f"rules are sorted by 'effect' or by 'support'. Got {shorten(by)} instead."
            )
        largest_first = sorted(self, key=lambda rule: getattr(rule, by), reverse=not reverse)
        return Rules(largest_first, self.model)

    @property
    def are_of_one_tree(self) -> bool:
        """Whether the model is a single tree, so that its name is not needed."""
        return len(self.model.parts) == 1

    @property
    def features(self) -> list[Feature]:
        """The features whose words the rules use: measured ones first, then beliefs."""
        used = _features_in(self)
        believed = [a for node in self.model.nodes for a in node.inputs if a.tree is not None]
        return [a for a in (*self.model.features, *believed) if a.name in used]

    @property
    def trees_used(self) -> list[str]:
        """The trees whose beliefs the conditions use, from bottom to top."""
        used = _features_in(self)
        inputs = (a for node in self.model.nodes for a in node.inputs if a.name in used)
        origins = {feature.origin for feature in inputs}
        return [node.name for node in self.model.nodes if node.name in origins]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rules as plain values, ready for JSON or a frame."""
        return [rule.to_dict() for rule in self]

    def to_markdown(self) -> str:
        """Return a Markdown page: a table of the rules, then the words they use."""
        from solah.explain.legend import rules_page

        return rules_page(self)

    def to_csv(self) -> str:
        """Return CSV: one line per rule, with a column ``P(class)`` for the share of each class.

        For an additive model, columns ``weight(class)`` have the weights as rules print them
        (``weight`` has that of a number), and the first line is the baseline. The support is empty
        where words moved after rows were counted. Texts that a spreadsheet would take for formulas
        get an apostrophe before them.
        """
        page = StringIO()
        rows = table_writer(page)
        target, root = self.model.target, self.model.root
        states, named = target.classes or (target.score_name,), named_class(target)
        baseline = root.baseline if isinstance(root, AdditiveNode) else ()
        start = dict(printed_weights(baseline, states, named)) if baseline else {}
        columns = [state for state in states if state in start]
        added = [f"weight({state})" for state in columns] if target.classes else ["weight"]
        shares = [f"P({state})" for state in target.classes]
        rows.writerow([*_CSV_COLUMNS, *shares, *(added if baseline else ())])
        if baseline:
            blank = [""] * (len(_CSV_COLUMNS) - 2 + len(shares))
            rows.writerow([root.name, guarded(self.baseline), *blank, *map(start.get, columns)])
        rows.writerows(
            [
                *map(guarded, (rule.part, rule.sentence, rule.premise, rule.decision)),
                *(rule.share, "" if rule.is_outdated else rule.support, rule.effect),
                *(rule.shares if shares else ()),
                *(rule.weights.get(state, "") for state in columns),
            ]
            for rule in self
        )
        return page.getvalue()

    def _repr_html_(self) -> str:
        from solah.explain.html import rules_table

        return rules_table(self)


def _features_in(rules: Iterable[Rule]) -> set[str]:
    return {condition.feature for rule in rules for condition in rule.conditions}
