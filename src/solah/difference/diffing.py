"""Compares two model documents, with rows if there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.difference.evidence import (
    Sides,
    are_comparable,
    bias_differences,
    term_differences,
    terms_of,
)
from solah.difference.spelling import named
from solah.difference.structure import (
    attribute_differences,
    goal_differences,
    group_differences,
    order_differences,
    refuse_strangers,
)
from solah.difference.trees import have_one_shape, importance_differences, tree_differences
from solah.difference.values import Difference, ModelDiff
from solah.exceptions import ParameterError
from solah.explain.handwork import (
    moved_attributes,
    pinned_trees,
    spell_edits,
    spell_policy,
    spell_promises,
)
from solah.model.document import Model, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PARTS = ("goal", "attribute", "words", "group", "rule", "tree", "policy", "figures")


def diff(a: Any, b: Any, X: Any = None, y: Any = None) -> ModelDiff:
    """Say what differs between a model and another that takes its place.

    Rules are compared as functions of the readings where their words differ: what the rules about
    an attribute add is a curve, and the largest difference of two curves is told, with the reading
    where it is. Trees with other branches are compared in a summary.

    Parameters
    ----------
    a, b : Model, Evaluator or fitted estimator
        The model before, and the one after: documents, what ``load_model`` returns, or what was
        fitted.
    X : data frame, Table or path, default=None
        Rows to compare decisions on, with the columns of both models.
    y : array-like of shape (n_rows,), default=None
        The truth about each row; by default the column of X with the goal's name, if it is there.

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
    ...     LinguisticTreeClassifier(max_depth=1, max_rules=n).fit(iris.table, iris.goal)
    ...     for n in (4, 3)
    ... ]
    >>> found = diff(fitted[0], fitted[1], iris.table, iris.goal)
    >>> print(found.of("rule")[0])
    if petal width (cm) is high then virginica 0.84 instead of 1.00
    >>> found.decisions.n_flips
    4
    """
    first, second = _document(a), _document(b)
    refuse_strangers(first, second)
    found = sorted(_differences(first, second), key=lambda one: (_PARTS.index(one.part), -one.size))
    decisions = None
    if X is not None:
        # Measuring needs scikit-learn, which takes longer to import than models to compare.
        from solah.difference.decisions import compare_decisions

        decisions = compare_decisions(first, second, X, y)
    known = spell_edits(first)
    return ModelDiff(
        differences=tuple(found),
        decisions=decisions,
        edits=tuple(edit for edit in spell_edits(second) if edit not in known),
        learnt_from=(first.provenance, second.provenance),
    )


def _document(model: Any) -> Model:
    document = getattr(model, "model_", model)
    if isinstance(document, Model):
        return document
    raise ParameterError(
        "models are compared: fitted estimators, what load_model returns, or documents. "
        f"Got {type(model).__name__}, which is none or not fitted."
    )


def _differences(a: Model, b: Model) -> Iterator[Difference]:
    if a == b:
        return
    sides = Sides.of(a.goal, b.goal)
    found: list[Difference] = [
        *goal_differences(a.goal, b.goal),
        *bias_differences(a, b, sides),
        *attribute_differences(a, b),
        *group_differences(a, b),
        *_handwork_differences(a, b),
        *_rule_differences(a, b, sides),
        *_domain_differences(a, b),
        *_figure_differences(a, b),
        *order_differences(a, b),
    ]
    yield from found or [Difference("figures", b.goal.name, "nodes are called or wired otherwise")]


def _rule_differences(a: Model, b: Model, sides: Sides) -> Iterator[Difference]:
    """Compare rules as functions where they add evidence, and trees by their branches."""
    before, after = terms_of(a), terms_of(b)
    compared: list[Tree] = []
    for names in dict.fromkeys([*after, *before]):
        first, second = before.get(names, []), after.get(names, [])
        if are_comparable(first, second):
            compared += [*first, *second]
            yield from term_differences(first, second, sides)
    done = {id(tree) for tree in compared}
    left = [[tree for tree in model.trees if id(tree) not in done] for model in (a, b)]
    of_trees = list(tree_differences(left[0], left[1], a, b, sides))
    yield from of_trees
    if any(one.part == "tree" for one in of_trees):
        yield from importance_differences(a, b)


def _figure_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare the figures that do not decide where all readings are known."""
    old = {tree.name: tree for tree in a.trees}
    pairs = [(old[tree.name], tree) for tree in b.trees if tree.name in old]
    facts = [
        after.name
        for before, after in pairs
        if have_one_shape(before, after) and _facts(before) != _facts(after)
    ]
    if facts:
        text = "rules state other shares or numbers of rows"
        yield Difference("figures", b.goal.name, _of(text, facts), details={"trees": facts})
    loose = [after.name for before, after in pairs if before.variance != after.variance]
    by_name = {one.name: one for one in a.attributes}
    loose += [
        one.name
        for one in b.attributes
        if one.name in by_name and one.ignorance != by_name[one.name].ignorance
    ]
    if loose:
        text = "an unknown reading counts for more or less"
        yield Difference("figures", b.goal.name, _of(text, loose), details={"of": loose})


def _handwork_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare what the models keep to, and what learning again is to keep."""
    for what, spell, part in (
        ("the model keeps to", spell_promises, "goal"),
        ("the policy says", spell_policy, "policy"),
        ("pinned rules in", pinned_trees, "figures"),
        ("words moved after rows were counted, of", moved_attributes, "figures"),
    ):
        before, after = spell(a), spell(b)
        for verb, some in (
            ("new", [one for one in after if one not in before]),
            ("gone", [one for one in before if one not in after]),
        ):
            for one in some:
                yield Difference(part, b.goal.name, f"{what}: {one} ({verb})")  # type: ignore[arg-type]


def _domain_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Compare what the training rows held, as far as the models tell."""
    if a.domain is None or b.domain is None:
        if a.domain is not b.domain:
            text = "what the training rows held is " + ("told" if b.domain else "no longer told")
            yield Difference("policy", b.goal.name, text)
        return
    before = {one.name: one for one in a.domain.cells}
    moved = [one.name for one in b.domain.cells if before.get(one.name) not in (None, one)]
    if moved:
        text = _of("the training rows held other ranges, or are cut otherwise", moved)
        yield Difference("policy", b.goal.name, text, details={"of": moved})
    seen = {(one.first, one.second): one for one in a.domain.pairs}
    pairs = {(one.first, one.second): one for one in b.domain.pairs}
    names = [
        " & ".join(key) for key in dict.fromkeys([*pairs, *seen]) if pairs.get(key) != seen.get(key)
    ]
    if names:
        text = _of("other cells occurred together", names)
        yield Difference("policy", b.goal.name, text, details={"of": names})


def _facts(tree: Tree) -> tuple[object, ...]:
    missing = tree.missing and (tree.missing.support, tree.missing.belief)
    return (tree.support.tobytes(), tree.belief.tobytes(), missing)


def _of(text: str, names: Iterable[str]) -> str:
    return f"{text}: {named(list(names))}"
