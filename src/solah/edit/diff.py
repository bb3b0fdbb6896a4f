"""Compares two models, with rows if there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from solah.data.spelling import count, spell, spell_number
from solah.edit.diff_rules import (
    Sides,
    ask_alike,
    baseline_differences,
    paired_trees,
    term_differences,
    terms_of,
    tree_differences,
)
from solah.edit.diff_text import Difference, ModelDiff, Part, instead, measure_instead, named
from solah.exceptions import ParameterError
from solah.explain.legend import pinned_parts, spell_constraints, spell_policy
from solah.model.document import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from solah.model import Feature, Target
    from solah.model.document import Term

_MOST_WORDS = 3


def diff(a: Any, b: Any, X: Any = None, y: Any = None) -> ModelDiff:
    """Compare a model with another that takes its place.

    Rules are compared as functions of the values where their words differ: the rules on a feature
    add up to a curve, and the largest difference of two curves is reported, with the value where it
    is. Trees with other branches are compared in a summary.

    Parameters
    ----------
    a, b : Model, Predictor or fitted estimator
        The model before, and the one after.
    X : data frame, Table or path, default=None
        Rows to compare decisions on, with the columns of both models.
    y : array-like of shape (n_rows,), default=None
        The truth about each row; by default the column of X with the target's name, if any.

    Returns
    -------
    diff : ModelDiff
        ``str()`` of it is a text, a notebook shows it, and its parts are objects.

    Raises
    ------
    ParameterError
        If the models decide different things.
    DataError
        If X lacks a column of one of them or has no rows, or y has another length.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> fitted = [
    ...     LinguisticTreeClassifier(max_depth=1, max_rules=n).fit(iris.table, iris.target)
    ...     for n in (4, 3)
    ... ]
    >>> found = diff(fitted[0], fitted[1], iris.table, iris.target)
    >>> print(found.of("rule")[0])
    if petal width (cm) is high then virginica 0.84 instead of 1.00
    >>> found.decisions.n_flips
    4
    """
    first, second = _document(a), _document(b)
    _refuse_strangers(first, second)
    order = get_args(Part)
    found = sorted(_differences(first, second), key=lambda one: (order.index(one.part), -one.size))
    decisions = None
    if X is not None:
        # Measuring needs scikit-learn, which takes longer to import than models to compare.
        from solah.edit.diff_decisions import compare_decisions

        decisions = compare_decisions(first, second, X, y)
    known = list(map(str, first.edits))
    return ModelDiff(
        differences=tuple(found),
        decisions=decisions,
        edits=tuple(edit for edit in map(str, second.edits) if edit not in known),
        learned_from=(first.provenance, second.provenance),
    )


def _document(model: Any) -> Model:
    document = getattr(model, "model_", model)
    if isinstance(document, Model):
        return document
    raise ParameterError(
        "models are compared: fitted estimators, what load_model returns, or documents. "
        f"Got {type(model).__name__}, which is none or not fitted."
    )


def _differences(a: Model, b: Model) -> list[Difference]:
    if a == b:
        return []
    sides = Sides.of(a.target, b.target)
    old, new = terms_of(a), terms_of(b)
    terms = [(old.get(key), new.get(key)) for key in dict.fromkeys([*new, *old])]
    found: list[Difference] = [
        *_target_differences(a.target, b.target),
        *baseline_differences(a, b, sides),
        *_feature_differences(a, b),
        *_group_differences(a, b),
        *_handwork_differences(a, b),
        *(one for both in terms for one in term_differences(*both, sides)),
        *tree_differences(a, b, sides),
        *_domain_differences(a, b),
        *_figure_differences(a, b),
        *_order_differences(a, b),
    ]
    return found or [Difference("figures", b.target.name, "nodes are called or wired otherwise")]


def _figure_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare the figures that do not decide where all values are known."""
    before = terms_of(a)
    terms = [(before[key], one) for key, one in terms_of(b).items() if key in before]
    facts = [
        new.name
        for old, new in terms
        if old.vocabulary == new.vocabulary and _facts(old.term) != _facts(new.term)
    ]
    for name, (first, second) in paired_trees(a, b).items():
        if first is not None and second is not None and ask_alike(first, second):
            branches = (
                [(one.belief, one.support) for one in of.branches] for of in (first, second)
            )
            if next(branches) != next(branches) or first.start != second.start:
                facts.append(name)
    yield from _listed("figures", "rules state other shares or numbers of rows", facts, b, "trees")
    loose = [new.name for old, new in terms if old.term.variance != new.term.variance]
    masses = {one.name: one.mean_masses for one in a.features}
    loose += [one.name for one in b.features if masses.get(one.name) not in (None, one.mean_masses)]
    yield from _listed("figures", "an unknown reading counts for more or less", loose, b)


def _facts(term: Term) -> tuple[object, ...]:
    missing = term.missing and (term.missing.support, term.missing.belief)
    return term.counts.tolist(), term.shares.tolist(), missing


def _listed(
    part: Part, text: str, names: Sequence[str], model: Model, key: str = "of"
) -> Iterator[Difference]:
    if names:
        details = {key: list(names)}
        yield Difference(part, model.target.name, f"{text}: {named(names)}", details=details)


def _moved_features(model: Model) -> list[str]:
    return [one.name for one in model.features if one.is_moved]


def _handwork_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare constraints, policies, pinned rules and moved words."""
    spellers: tuple[tuple[str, Callable[[Model], list[str]], Part], ...] = (
        ("the model keeps to", spell_constraints, "target"),
        ("the policy says", spell_policy, "policy"),
        ("pinned rules in", pinned_parts, "figures"),
        ("words moved after rows were counted, of", _moved_features, "figures"),
    )
    for what, sentences, part in spellers:
        for verb, some in zip(("new", "gone"), _changes(sentences(a), sentences(b)), strict=True):
            for one in some:
                yield Difference(part, b.target.name, f"{what}: {one} ({verb})")


def _domain_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare the training domains, as far as the models report them."""
    if a.domain is None or b.domain is None:
        if a.domain is not b.domain:
            text = "what the training rows held is " + ("told" if b.domain else "no longer told")
            yield Difference("policy", b.target.name, text)
        return
    cells = {one.name: one for one in a.domain.cells}
    moved = [one.name for one in b.domain.cells if cells.get(one.name) not in (None, one)]
    text = "the training rows held other ranges, or are cut otherwise"
    yield from _listed("policy", text, moved, b)
    old, new = (
        {f"{one.first} & {one.second}": one for one in domain.pairs}
        for domain in (a.domain, b.domain)
    )
    pairs = [name for name in dict.fromkeys([*new, *old]) if old.get(name) != new.get(name)]
    yield from _listed("policy", "other cells occurred together", pairs, b)


def _refuse_strangers(a: Model, b: Model) -> None:
    """Refuse models without a common task, class, or name of the target or of a feature."""
    first, second = a.target, b.target
    who = f"{first.name!r} and {second.name!r}"
    classes = [list(map(spell, target.classes)) for target in (first, second)]
    features = [{one.name for one in model.features} for model in (a, b)]
    if first.task is not second.task:
        tasks = f"{first.name!r} is for {first.task.value}, {second.name!r} for {second.task.value}"
    elif first.classes and not set(classes[0]) & set(classes[1]):
        tasks = f"{who} have no class in common ({named(classes[0])}; {named(classes[1])})"
    elif first.name != second.name and not features[0] & features[1]:
        tasks = f"{who} share no feature"
    else:
        return
    raise ParameterError(f"these models decide different things: {tasks}")


def _changes(before: Iterable[str], after: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names that came, and those that went."""
    old, new = list(before), list(after)
    return [one for one in new if one not in old], [one for one in old if one not in new]


# --- the target ----------------------------------------------------------------------------------


def _target_differences(a: Target, b: Target) -> Iterator[Difference]:
    """Compare names, classes, class shares and thresholds."""

    def differs(text: str, **details: object) -> Difference:
        return Difference("target", b.name, text, details=details)

    if a.name != b.name:
        yield differs(f"the target is called {b.name} instead of {a.name}", before=a.name)
    before, after = [[*map(spell, target.classes)] for target in (a, b)]
    came, went = _changes(before, after)
    yield from (differs(f"class {name} is new", new=name) for name in came)
    yield from (differs(f"class {name} is gone", gone=name) for name in went)
    if not came and not went and before != after:
        yield differs(f"the classes stand in another order: {named(after)}", order=after)
    equal = [(1 / max(len(target.classes), 1),) * len(target.classes) for target in (a, b)]
    thresholds = a.thresholds or equal[0], b.thresholds or equal[1]
    for what, old, new in (
        ("the class shares are", a.shares, b.shares),
        ("the thresholds of decisions are", *thresholds),
    ):
        first, second = dict(zip(before, old, strict=False)), dict(zip(after, new, strict=False))
        moved = [name for name in second if first.get(name) not in (None, second[name])]
        if moved:
            spelt = ", ".join(f"{name} {instead(second[name], first[name])}" for name in moved)
            yield differs(f"{what} {spelt}", before=first, after=second)
    if bool(a.thresholds) != bool(b.thresholds) and thresholds[0] == thresholds[1]:
        yield differs("thresholds are written out that change nothing")
    if (a.words, a.peaks, a.centres) != (b.words, b.peaks, b.centres):
        text = f"the words for {b.name} stand elsewhere"
        if a.words != b.words:
            words = f"{named(b.words)} instead of {named(a.words)}"
            text = f"{b.name} is thought of in other words: {words}"
        yield differs(text, before=list(a.centres), after=list(b.centres))


# --- features and words --------------------------------------------------------------------------


def _feature_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare which features there are, and their words."""
    before, after = ({one.name: one for one in model.features} for model in (a, b))
    came, went = _changes(before, after)
    for names, verb in ((came, "new"), (went, "gone")):
        for name in names:
            yield Difference("feature", name, f"{name} is {verb}", 1.0, {"new": verb == "new"})
    for name, new in after.items():
        if (old := before.get(name)) is None:
            continue
        if old.kind is not new.kind:
            text = f"{name} is {new.kind.value} instead of {old.kind.value}"
            yield Difference("feature", name, text)
        elif new.is_continuous:
            yield from _range_differences(old, new)
            yield from _word_differences(old, new)
        else:
            yield from _state_differences(old, new)


def _state_differences(a: Feature, b: Feature) -> Iterator[Difference]:
    before, after = [*map(spell, a.categories)], [*map(spell, b.categories)]
    came, went = _changes(before, after)
    parts = [f"{verb} {named(some)}" for verb, some in (("gains", came), ("loses", went)) if some]
    if not parts and before != after:
        parts = [f"has its states in another order: {named(after)}"]
    if parts:
        text = f"{b.name} {' and '.join(parts)}"
        yield Difference("feature", b.name, text, details={"new": came, "gone": went})


def _range_differences(a: Feature, b: Feature) -> Iterator[Difference]:
    ends = [
        f"{where} {measure_instead(new, old)}"
        for where, new, old in (("from", b.low, a.low), ("to", b.high, a.high))
        if new is not None and old is not None and new != old
    ]
    if ends:
        details = {"before": [a.low, a.high], "after": [b.low, b.high]}
        text = f"{b.name} was learned {' and '.join(ends)}"
        yield Difference("feature", b.name, text, details=details)


def _word_differences(a: Feature, b: Feature) -> Iterator[Difference]:
    if (a.words, a.peaks, a.cores) == (b.words, b.peaks, b.cores):
        return
    before, after = ({one.word: one.text for one in of.word_ranges()} for of in (a, b))
    size = 0.0
    if (a.peaks, a.cores) == (b.peaks, b.cores):
        pairs = zip(a.words, b.words, strict=True)
        text = ", ".join(f"{old} is called {new}" for old, new in pairs if old != new)
    elif a.words != b.words or len(_edges(a)) != len(_edges(b)):
        ranges = "; ".join(f"{word} {where}" for word, where in after.items())
        text, size = f"{count(len(b.words), 'word')} instead of {len(a.words)}: {ranges}", 1.0
        if len(a.words) == len(b.words):
            text = f"other words: {ranges}"
    else:
        most = max(abs(new - old) for old, new in zip(_edges(a), _edges(b), strict=True))
        span = (b.high or 0.0) - (b.low or 0.0)
        size = most / span if span > 0 else 1.0
        far = f"{spell_number(most, 3)} ({100 * size:.2g} % of its range)"
        moved = [
            f"{word} is {where} instead of {before[word]}"
            for word, where in after.items()
            if before[word] != where
        ]
        text = f"edges of words move by up to {far}"
        text += f": {'; '.join(moved[:_MOST_WORDS])}" if moved else ""
    details = {"before": before, "after": after}
    yield Difference("words", b.name, f"{b.name}: {text}", size, details)


def _edges(feature: Feature) -> list[float]:
    """Return the ends of the ranges of words, or the peaks of focal sets."""
    ends = [end for core in feature.cores for end in core]
    return ends[1:-1] if feature.cores else [*feature.peaks]


# --- groups and order ----------------------------------------------------------------------------


def _group_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare which features are summed first; groups are matched by name."""
    before, after = _groups(a), _groups(b)
    for name in dict.fromkeys([*after, *before]):
        old, new = (sorted(groups.get(name, ())) for groups in (before, after))
        came, went = _changes(old, new)
        if not came and not went:
            continue
        changes = [f"gains {named(came)}"] if came else []
        changes += [f"loses {named(went)}"] if went else []
        if name not in before or name not in after:
            changes = [f"is {'new' if name in after else 'gone'}: {named(new or old)}"]
        details = {"new": came, "gone": went}
        yield Difference("group", name, f"the group {name} {', '.join(changes)}", details=details)


def _groups(model: Model) -> dict[str, frozenset[str]]:
    """Return the features of each group, and of each sum below the root."""
    found = {}
    for node in model.sums:
        for group in node.groups:
            terms = (node.terms[number] for number in group.terms)
            found[group.name] = frozenset(name for term in terms for name in term.origins)
        if node is not model.root:
            found[node.name] = frozenset(node.origins)
    return found


def _order_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare the order of features and of nodes."""
    for name, before, after in (
        ("features", [one.name for one in a.features], [one.name for one in b.features]),
        ("nodes", [one.name for one in a.parts], [one.name for one in b.parts]),
    ):
        if before != after and sorted(before) == sorted(after):
            yield Difference("figures", name, f"the {name} stand in another order")
