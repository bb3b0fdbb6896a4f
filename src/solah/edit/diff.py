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
    from collections.abc import Callable, Iterable, Iterator

    from solah.model import Feature, Target
    from solah.model.document import Term

_MOST_WORDS = 3


def diff(a: Any, b: Any, X: Any = None, y: Any = None) -> ModelDiff:
    """Compare a model with another that takes its place.

    Where words differ, rules are compared as functions of the values: the rules on a feature add
    up to a curve, and the largest difference of two curves is reported with its value. Trees with
    other branches are summarised.

    Parameters
    ----------
    a, b : Model, Predictor or fitted estimator
        The model before, and the one after.
    X : data frame, Table or path, default=None
        Rows to compare decisions on, with the columns of both models.
    y : array-like of shape (n_rows,), default=None
        The target of each row; by default the column of X with the target's name, if any.

    Returns
    -------
    diff : ModelDiff
        ``str()`` of it is a text, a notebook shows it, and its parts are objects.

    Raises
    ------
    ParameterError
        If the models predict different things.
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
        training_data=(first.provenance, second.provenance),
    )


def _document(model: Any) -> Model:
    document = getattr(model, "model_", model)
    if isinstance(document, Model):
        return document
    raise ParameterError(
        "diff() compares fitted estimators, loaded models and documents. "
        f"Got {type(model).__name__}, which is not fitted or none of these."
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
        *(one for both in terms for one in term_differences(*both, sides)),
        *tree_differences(a, b, sides),
        *_other_differences(a, b),
    ]
    return found or [Difference("figures", b.target.name, "another order, or other names of nodes")]


def _other_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare constraints, policies, marks, the training domain and counts."""
    lists: tuple[tuple[str, Callable[[Model], list[str]], Part], ...] = (
        ("constraint", spell_constraints, "target"),
        ("policy", spell_policy, "policy"),
        ("training domain", _spell_domain, "policy"),
        ("pinned rules in", pinned_parts, "figures"),
        ("words moved after rows were counted, of", _moved_features, "figures"),
    )
    for what, sentences, part in lists:
        for verb, some in zip(("new", "gone"), _changes(sentences(a), sentences(b)), strict=True):
            for one in some:
                yield Difference(part, b.target.name, f"{what}: {one} ({verb})")
    before, masses = terms_of(a), {one.name: one.mean_masses for one in a.features}
    terms = [(before[key], one) for key, one in terms_of(b).items() if key in before]
    counts = [
        new.name
        for old, new in terms
        if old.vocabulary == new.vocabulary and _facts(old.term) != _facts(new.term)
    ]
    counts += [
        name
        for name, (old, new) in paired_trees(a, b).items()
        if old is not None and new is not None and ask_alike(old, new)
        if (old.branches, old.start) != (new.branches, new.start)
    ]
    missing = [new.name for old, new in terms if old.term.variance != new.term.variance]
    missing += [
        one.name for one in b.features if masses.get(one.name) not in (None, one.mean_masses)
    ]
    for what, names in (
        ("other shares or numbers of rows", counts),
        ("missing values count for more or less", missing),
    ):
        if names:
            text = f"{what}: {named(names)}"
            yield Difference("figures", b.target.name, text, details={"of": names})


def _facts(term: Term) -> tuple[object, ...]:
    missing = term.missing and (term.missing.support, term.missing.belief)
    return term.counts.tolist(), term.shares.tolist(), missing


def _moved_features(model: Model) -> list[str]:
    return [one.name for one in model.features if one.is_moved]


def _spell_domain(model: Model) -> list[str]:
    """Write the ranges and the pairs of a training domain."""
    if model.domain is None:
        return []
    texts = [
        f"{one.name} {spell_number(one.low)} to {spell_number(one.high)}, "
        f"cuts {', '.join(map(spell_number, one.cuts)) or 'none'}"
        for one in model.domain.cells
        if one.low is not None and one.high is not None
    ]
    for pair in model.domain.pairs:
        seen = "/".join("".join("01"[flag] for flag in row) for row in pair.seen)
        texts.append(f"{pair.first} & {pair.second} {seen}")
    return texts or ["categories"]


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
    raise ParameterError(f"these models predict different things: {tasks}")


def _changes(before: Iterable[str], after: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names that came, and those that went."""
    old, new = list(before), list(after)
    return [one for one in new if one not in old], [one for one in old if one not in new]


# --- the target ----------------------------------------------------------------------------------


def _target_differences(a: Target, b: Target) -> Iterator[Difference]:
    """Compare names, classes, overall shares and thresholds."""

    def differs(text: str, **details: object) -> Difference:
        return Difference("target", b.name, text, details=details)

    if a.name != b.name:
        yield differs(f"the target is called {b.name} instead of {a.name}", before=a.name)
    if a.link != b.link:
        yield differs(f"rules add up to {b.score_name} instead of {a.score_name}", before=a.link)
    before, after = [[*map(spell, target.classes)] for target in (a, b)]
    came, went = _changes(before, after)
    yield from (differs(f"class {name} is new", new=name) for name in came)
    yield from (differs(f"class {name} is gone", gone=name) for name in went)
    equal = {name: 1 / len(names) for names in (before, after) for name in names}
    for what, old, new in (
        ("overall shares", a.shares, b.shares),
        ("thresholds", a.thresholds, b.thresholds),
    ):
        first = dict(zip(before, old, strict=True)) if old else equal
        second = dict(zip(after, new, strict=True)) if new else equal
        moved = [name for name in after if first.get(name) not in (None, second[name])]
        if moved and old != new:
            texts = [f"{name} {instead(second[name], first[name])}" for name in moved]
            yield differs(f"{what}: {', '.join(texts)}", before=first, after=second)
    if (a.words, a.peaks, a.centres) != (b.words, b.peaks, b.centres):
        text = f"{b.name} has other words: {named(b.words)} instead of {named(a.words)}"
        if a.words == b.words:
            text = f"the words of {b.name} have other ranges"
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
        parts = [f"has its categories in another order: {named(after)}"]
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
        text = f"training range of {b.name}: {' and '.join(ends)}"
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
        far = f"{spell_number(most, 3)} ({100 * size:.2g}% of its range)"
        moved = [
            f"{word} is {where} instead of {before[word]}"
            for word, where in after.items()
            if before[word] != where
        ]
        text = f"words move by up to {far}"
        text += f": {'; '.join(moved[:_MOST_WORDS])}" if moved else ""
    details = {"before": before, "after": after}
    yield Difference("words", b.name, f"{b.name}: {text}", size, details)


def _edges(feature: Feature) -> list[float]:
    """Return the ends of the ranges of words, or the peaks of focal sets."""
    ends = [end for core in feature.cores for end in core]
    return ends[1:-1] if feature.cores else [*feature.peaks]


# --- groups --------------------------------------------------------------------------------------


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
