"""Edits a model step by step; every step is checked, and kept in the document."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from solah.data.json_reader import Reader
from solah.editing.adding import has_variances, tree_record
from solah.editing.finding import find_rule, find_trees
from solah.editing.moving import apply_move, move_word
from solah.editing.renaming import rename_attribute, rename_class, rename_node, rename_word
from solah.exceptions import ModelFormatError, ParameterError, cut, did_you_mean, shorten
from solah.model.document import Fusion, Model
from solah.model.edits import MAX_TEXT, Edit, edit_record, spell_time
from solah.model.files import save_document
from solah.model.format import read_model, to_json
from solah.model.joining import weighted_variance
from solah.rulefile.branches import goal_names
from solah.rulefile.sentence import parse_change, parse_rule

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from solah.data import State
    from solah.editing.finding import FoundRule
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.rulefile.sentence import StatedCondition


class HasModel(Protocol):
    """An estimator that is fitted, or a model that was loaded."""

    @property
    def model_(self) -> Model:
        """The model document."""


class Editor:
    """Edits a model; each step makes a new model, with all checks that a document has.

    Steps can be chained. The model that is given stays as it is, and ``model`` is the edited one,
    which lists the edits.

    Parameters
    ----------
    model : Model, fitted estimator or loaded model
    author : str, default=""
        Who edits; kept with each edit.
    time : datetime, default=None
        The time that is kept with each edit; by default the current one.

    Examples
    --------
    >>> from solah import SelfOrganisedHierarchyClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> learnt = SelfOrganisedHierarchyClassifier().fit(iris.table, iris.goal)
    >>> editor = (
    ...     learnt.edit(author="Ann", time=datetime(2026, 5, 17))
    ...     .rename_attribute("petal width (cm)", "width")
    ...     .set("if width is low then setosa +3", reason="no other has one like this")
    ...     .pin("if width is low")
    ... )
    >>> for edit in editor.model.edits:
    ...     print(edit)
    2026-05-17T00:00:00Z, Ann: renamed the attribute 'petal width (cm)' to 'width'
    2026-05-17T00:00:00Z, Ann: set the rule: if width is low then setosa +3 (because: no other \
has one like this)
    2026-05-17T00:00:00Z, Ann: pinned the rule: if width is low
    """

    def __init__(
        self, model: Model | HasModel, *, author: str = "", time: datetime | None = None
    ) -> None:
        self._model = model if isinstance(model, Model) else model.model_
        self._author, self._time = author, time

    @property
    def model(self) -> Model:
        """The edited model."""
        return self._model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the edited model as a document."""
        save_document(self._model, path)

    # --- rules ---------------------------------------------------------------------------------

    def set(self, rule: str, *, tree: str | None = None, reason: str = "") -> Self:
        """Set the evidence of a rule; no other rule changes.

        Parameters
        ----------
        rule : str
            As :func:`solah.rulefile.parse_rule` reads it. ``if x is missing then …`` says what it
            means that a reading is missing. In trees of beliefs, classes have shares (without
            signs) instead of evidence.
        tree : str, default=None
            The name of the rules that are meant, where several ask the same attributes.
        reason : str, default=""
            Why; kept with the edit.

        Notes
        -----
        What is known of the rows of a rule stays. Where the words are only some of a rule's, the
        rule becomes two, and nothing is known any longer of how the rows are shared.
        """
        stated = parse_change(rule)
        if stated.conclusion is None:
            raise ParameterError(f"{shorten(rule)} has no 'then'; remove() takes conditions only")
        found = find_rule(self._model, stated.conditions, tree)
        goal = self._model.goal
        if found.tree.scores is None:
            shares = list(stated.conclusion.shares_for(goal_names(goal)))
            change = self._leaf_change(found, {"belief": shares})
        else:
            change = self._score_change(found, stated.conclusion.scores_for(goal.states))
        told = f"{_conditions(stated.conditions)} then {stated.conclusion}"
        return self._step(change, f"set the rule: {told}", reason)

    def remove(self, rule: str, *, tree: str | None = None, reason: str = "") -> Self:
        """Switch a rule off: it adds nothing any longer.

        Parameters
        ----------
        rule : str
            Its conditions: ``if smoke is high``. Of a rule for a missing reading nothing is left,
            so that such a reading is unknown.
        tree, reason : as for ``set``
        """
        stated = parse_change(rule)
        found = find_rule(self._model, stated.conditions, tree)
        if found.tree.scores is None:
            raise stated.conditions[0].token.fail("rules with shares cannot be removed, only set")
        change: Callable[[dict[str, Any]], None]
        if found.is_missing:
            change = _without_missing(found)
        else:
            change = self._score_change(found, (0.0,) * self._model.goal.size)
        return self._step(change, f"removed the rule: {_conditions(stated.conditions)}", reason)

    def add(self, rule: str, *, reason: str = "") -> Self:
        """Add a rule on attributes that no rules are on together yet.

        Parameters
        ----------
        rule : str
            As :func:`solah.rulefile.parse_rule` reads it. Other words of these attributes add
            nothing. The rule has no rows, since nobody counted them.
        reason : as for ``set``
        """
        stated, model = parse_rule(rule), self._model
        if not isinstance(model.root, Fusion):
            raise ParameterError(
                "rules are added only where evidence is added up; set some instead"
            )
        if find_trees(model, {condition.attribute for condition in stated.conditions}):
            raise stated.conditions[0].token.fail("there are such rules already; set one of them")
        record = tree_record(model, stated)

        def change(document: dict[str, Any]) -> None:
            document["trees"].insert(-1, record)
            document["trees"][-1]["adds"].append(record["name"])

        return self._step(change, f"added the rule: {stated}", reason)

    def pin(self, rule: str, *, tree: str | None = None, reason: str = "") -> Self:
        """Mark a rule so that learning again keeps it; ``rule`` is its conditions."""
        return self._pinned(rule, tree, reason, is_pinned=True)

    def unpin(self, rule: str, *, tree: str | None = None, reason: str = "") -> Self:
        """Let learning change a rule again; ``rule`` is its conditions."""
        return self._pinned(rule, tree, reason, is_pinned=False)

    def _pinned(self, rule: str, tree: str | None, reason: str, *, is_pinned: bool) -> Self:
        stated = parse_change(rule)
        found = find_rule(self._model, stated.conditions, tree)
        change = self._leaf_change(found, {"pinned": True if is_pinned else None})
        verb = "pinned" if is_pinned else "unpinned"
        return self._step(change, f"{verb} the rule: {_conditions(stated.conditions)}", reason)

    # --- words and names -----------------------------------------------------------------------

    def move(
        self,
        attribute: str,
        word: str,
        *,
        start: float | None = None,
        end: float | None = None,
        peak: float | None = None,
        reason: str = "",
    ) -> Self:
        """Move where a word applies.

        Parameters
        ----------
        attribute, word : str
        start, end : float, default=None
            Where the word begins and ends to apply fully, for words that have ranges.
        peak : float, default=None
            Where a word, or two (``low-or-medium``), peak, for words that overlap.
        reason : as for ``set``

        Notes
        -----
        The rows of rules were counted with the words before. The document says so, and so does
        whatever prints them.
        """
        one = self._attribute(attribute)
        move = move_word(one, word, start, end, peak)
        text = f"moved the word {shorten(word)} of {shorten(attribute)}: it {move.text}"
        return self._step(lambda document: apply_move(document, one, move), text, reason)

    def rename_attribute(self, old: str, new: str, *, reason: str = "") -> Self:
        """Rename an attribute: from now on, a column of this name is read."""
        self._attribute(old)
        return self._renamed("attribute", old, new, reason, rename_attribute)

    def rename_word(self, attribute: str, old: str, new: str, *, reason: str = "") -> Self:
        """Rename a word of an attribute, which stays where it is."""
        text = f"renamed the word {shorten(old)} of {shorten(attribute)} to {shorten(new)}"
        return self._step(lambda document: rename_word(document, attribute, old, new), text, reason)

    def rename_class(self, old: State, new: State, *, reason: str = "") -> Self:
        """Rename a class, which is then decided for by its new name."""
        return self._renamed("class", old, new, reason, rename_class)

    def rename_group(self, old: str, new: str, *, reason: str = "") -> Self:
        """Rename a group, or the rules of a tree."""
        return self._renamed("group", old, new, reason, rename_node)

    def _renamed(
        self,
        what: str,
        old: State,
        new: State,
        reason: str,
        rename: Callable[[dict[str, Any], Any, Any], None],
    ) -> Self:
        text = f"renamed the {what} {shorten(old)} to {shorten(new)}"
        return self._step(lambda document: rename(document, old, new), text, reason)

    def set_prior(self, shares: Mapping[State, float], *, reason: str = "") -> Self:
        """Set what is believed when nothing is known: the share of each class.

        Parameters
        ----------
        shares : mapping of class to share
            All classes; the shares sum to 1.
        reason : as for ``set``
        """
        states = self._model.goal.states
        if not self._model.goal.prior or set(shares) != set(states):
            needed = ", ".join(map(shorten, states)) if self._model.goal.prior else "none here"
            raise ParameterError(f"shares are needed for these classes: {needed}")

        def change(document: dict[str, Any]) -> None:
            document["goal"]["prior"] = [float(shares[state]) for state in states]

        told = ", ".join(f"{state} {shares[state]:g}" for state in states)
        return self._step(change, f"set what is believed when nothing is known: {told}", reason)

    # --- steps ---------------------------------------------------------------------------------

    def _attribute(self, name: str) -> Attribute:
        known = {attribute.name: attribute for attribute in self._model.attributes}
        if name not in known:
            near = did_you_mean(name, known)
            raise ParameterError(f"the model has no attribute {shorten(name)}{near}")
        return known[name]

    def _step(self, change: Callable[[dict[str, Any]], None], text: str, reason: str) -> Self:
        """Change a copy of the document, check it, and keep the edit."""
        document = json.loads(to_json(self._model))
        change(document)
        time = spell_time(self._time or datetime.now(UTC))
        edit = Edit(cut(text, MAX_TEXT), self._author, time, reason)
        document["edits"] = [*document.get("edits", ()), edit_record(edit)]
        try:
            self._model = read_model(Reader(document, "the edited model", ModelFormatError))
        except ModelFormatError as error:
            raise ParameterError(f"this cannot be done ({text}): {error}") from None
        return self

    def _score_change(
        self, found: FoundRule, scores: Sequence[float]
    ) -> Callable[[dict[str, Any]], None]:
        """Give a rule other evidence, and its tree the variance that it has then."""
        if found.is_missing:
            return _with_missing(found, scores, self._model)
        values = list(scores)
        change = self._leaf_change(found, {"scores": values})
        if not has_variances(self._model):
            return change
        variance = _new_variance(found, np.array(values))

        def with_variance(document: dict[str, Any]) -> None:
            change(document)
            document["trees"][found.place]["variance"] = variance

        return with_variance

    def _leaf_change(
        self, found: FoundRule, values: Mapping[str, Any]
    ) -> Callable[[dict[str, Any]], None]:
        """Set keys of a rule's leaves; those that are set to None are left out."""
        uncounted = found.split_rules if found.tree.scores is not None else set[int]()

        def change(document: dict[str, Any]) -> None:
            record = document["trees"][found.place]
            nodes = record["nodes"]
            if found.is_missing:
                leaves = [_expect_missing(record)]
            else:
                leaves = [nodes[number] for number in found.leaves]
            for leaf in leaves:
                for key, value in values.items():
                    leaf.pop(key, None)
                    if value is not None:
                        leaf[key] = value
            for number in uncounted:
                nodes[number]["support"] = 0.0

        return change


def _conditions(conditions: Sequence[StatedCondition]) -> str:
    return f"if {' and '.join(map(str, conditions))}"


def _with_missing(
    found: FoundRule, scores: Sequence[float], model: Model
) -> Callable[[dict[str, Any]], None]:
    goal = model.goal
    told = {"mean": 0.0} if goal.is_additive_number else {"belief": list(goal.prior)}

    def change(document: dict[str, Any]) -> None:
        record = document["trees"][found.place]
        record["missing"] = {"support": 0.0, **told, **record.get("missing", {})}
        record["missing"]["scores"] = list(scores)

    return change


def _without_missing(found: FoundRule) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        _expect_missing(document["trees"][found.place])
        del document["trees"][found.place]["missing"]

    return change


def _expect_missing(record: dict[str, Any]) -> dict[str, Any]:
    """Return the rule of a tree for a missing reading, which must be there."""
    if "missing" not in record:
        raise ParameterError(f"{shorten(record['name'])} has no rule for a missing reading")
    rule: dict[str, Any] = record["missing"]
    return rule


def _new_variance(found: FoundRule, scores: Float) -> float:
    """Return the variance of a tree's evidence: as much more or less as its leaves vary."""
    tree = found.tree
    assert tree.scores is not None
    weights = tree.support[tree.leaves]
    if not weights.sum() > 0:
        weights = np.ones(len(weights))
    changed = tree.scores.copy()
    changed[list(found.leaves)] = scores
    before = weighted_variance(tree.scores[tree.leaves], weights)
    after = weighted_variance(changed[tree.leaves], weights)
    return tree.variance * after / before if before > 0 and tree.variance else after
