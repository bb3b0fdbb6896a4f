"""Edits a model step by step; every step is checked, and kept in the model."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from solah.data.json_reader import Reader
from solah.edit.changes import (
    find_rules,
    map_features,
    meant_words,
    moved,
    pieces_of,
    rename_class,
    rename_feature,
    rename_node,
    rename_word,
    spread_of,
)
from solah.edit.sentence import parse_change, parse_rule, target_names
from solah.exceptions import ModelFormatError, ParameterError, cut, did_you_mean, shorten
from solah.model.document import AdditiveNode, MissingRule, Model, Term, TermInput, TreeNode
from solah.model.format import read_model, save_document, to_json
from solah.model.provenance import MAX_TEXT, Edit, spell_time

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from solah.data import State
    from solah.edit.changes import Found
    from solah.edit.sentence import StatedRule
    from solah.model.document import Branch
    from solah.model.features import Feature


class HasModel(Protocol):
    """An estimator that is fitted, or a model that was loaded."""

    @property
    def model_(self) -> Model:
        """The model."""


class Editor:
    """Edits a model; each step makes a new model, with all checks of a model file.

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
    >>> from solah import RuleClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> learned = RuleClassifier().fit(iris.table, iris.target)
    >>> editor = (
    ...     learned.edit(author="Ann", time=datetime(2026, 5, 17))
    ...     .rename_feature("petal width (cm)", "width")
    ...     .set("if width is low then setosa +3", reason="no other has one like this")
    ...     .pin("if width is low")
    ... )
    >>> for edit in editor.model.edits:
    ...     print(edit)
    2026-05-17T00:00:00Z, Ann: renamed the feature 'petal width (cm)' to 'width'
    2026-05-17T00:00:00Z, Ann: set the rule: if width is low: setosa +3 (because: no other \
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
        """Write the edited model to a file."""
        save_document(self._model, path)

    # --- rules ---------------------------------------------------------------------------------

    def set(self, rule: str, *, node: str | None = None, reason: str = "") -> Self:
        """Set the weights of a rule; no other rule changes.

        Parameters
        ----------
        rule : str
            As :func:`solah.edit.parse_rule` reads it. ``if x is missing: …`` sets the rule for a
            missing value. In linguistic trees, classes have shares (without signs) instead of
            weights.
        node : str, default=None
            The name of the node that is meant, where several have rules on the same features.
        reason : str, default=""
            Why; kept with the edit.

        Notes
        -----
        The counts of a rule stay. Where the words are only some of a line's, the line becomes two,
        and neither has counts. (The parts of a branch share its rows as the training rows are
        spread over the words.)
        """
        stated = parse_change(rule)
        if stated.conclusion is None:
            raise ParameterError(
                f"{shorten(rule)} has no ':' with weights; remove() takes conditions only"
            )
        found, target = find_rules(self._model, stated.conditions, node), self._model.target
        if isinstance(found.part, TreeNode):
            belief = stated.conclusion.shares_for(target_names(target))
            model = self._with_branches(found, lambda branch: replace(branch, belief=belief))
        else:
            model = self._with_weights(found, found.part, stated.scores_for(target.classes))
        return self._step(model, f"set the rule: {stated}", reason)

    def remove(self, rule: str, *, node: str | None = None, reason: str = "") -> Self:
        """Switch a rule off: it adds nothing any longer.

        Parameters
        ----------
        rule : str
            Its conditions: ``if smoke is high``. The rule for a missing value is deleted, so that
            such a value adds the average of the others.
        node, reason : as for ``set``
        """
        stated = parse_change(rule)
        found = find_rules(self._model, stated.conditions, node)
        if isinstance(found.part, TreeNode):
            raise stated.conditions[0].token.fail(
                "a branch cannot be removed; set its shares instead"
            )
        if found.meant:
            model = self._with_weights(found, found.part, (0.0,) * self._model.target.size)
        else:
            _missing_rule(found.part)
            model = found.replaced(self._model, replace(found.part, missing=None))
        return self._step(model, f"removed the rule: {stated.premise}", reason)

    def add(self, rule: str, *, reason: str = "") -> Self:
        """Add a rule on one feature or two that have no rules together yet.

        Parameters
        ----------
        rule : str
            As :func:`solah.edit.parse_rule` reads it. Other words of these features add nothing.
            The rule has no rows, since nobody counted them.
        reason : as for ``set``
        """
        stated, root = parse_rule(rule), self._model.root
        if not isinstance(root, AdditiveNode):
            raise ParameterError(
                "rules can only be added to an additive model; set an existing one instead"
            )
        if len(stated.conditions) > 2:
            raise stated.conditions[2].token.fail("a rule must have one or two conditions")
        features = {condition.feature for condition in stated.conditions}
        if any(set(term.features) == features for term in root.terms):
            raise stated.conditions[0].token.fail(
                "the model already has rules on these features; set one of them"
            )
        root = replace(root, terms=(*root.terms, self._new_term(stated)))
        model = replace(self._model, nodes=(*self._model.nodes[:-1], root))
        return self._step(model, f"added the rule: {stated}", reason)

    def _new_term(self, stated: StatedRule) -> Term:
        """Make a term of one rule; its other rules add nothing."""
        known = {feature.name: feature for feature in self._model.features}
        inputs, cell = [], []
        for condition in stated.conditions:
            name = condition.feature
            if name not in known:
                near = did_you_mean(name, known)
                raise condition.token.fail(f"the model has no feature {shorten(name)}{near}")
            if condition.form == "missing":
                raise condition.token.fail("a rule for a missing value is set, not added")
            one = known[name]
            if one.is_continuous and not one.cores:
                raise condition.token.fail(
                    f"the words of {shorten(name)} overlap, but a rule with weights requires "
                    f"words with ranges"
                )
            words = meant_words(one, condition)
            parts = pieces_of(one, range(len(one.words)), words)
            inputs.append(TermInput(one, tuple(parts)))
            cell.append([line for line, part in enumerate(parts) if words.issuperset(part)])
        target, shape = self._model.target, tuple(len(one.parts) for one in inputs)
        weights = np.zeros((*shape, target.size))
        weights[np.ix_(*cell)] = stated.scores_for(target.classes)
        shares = np.broadcast_to(target.shares or (0.0,), weights.shape)
        term = Term(tuple(inputs), weights, shares, np.zeros(shape))
        return replace(term, variance=spread_of(term)) if self._has_variances else term

    @property
    def _has_variances(self) -> bool:
        """Whether the model is less sure where values are missing."""
        return any(term.variance for term in self._model.terms)

    def _with_weights(self, found: Found, term: Term, scores: tuple[float, ...]) -> Model:
        """Give rules other weights, and their term the variance that it has then."""
        if not found.meant:
            shares = self._model.target.shares or (0.0,)
            rule = term.missing or MissingRule(0.0, shares, scores)
            return found.replaced(self._model, replace(term, missing=replace(rule, scores=scores)))
        weights = term.weights.copy()
        for cell in found.meant:
            weights[cell] = scores
        changed = replace(term, weights=weights)
        if self._has_variances:
            before, after = spread_of(term), spread_of(changed)
            scaled = term.variance * after / before if before > 0 and term.variance else after
            changed = replace(changed, variance=scaled)
        return found.replaced(self._model, changed)

    def _with_branches(self, found: Found, change: Callable[[Branch], Branch]) -> Model:
        assert isinstance(found.part, TreeNode)
        branches = enumerate(found.part.branches)
        changed = tuple(change(one) if number in found.meant else one for number, one in branches)
        return found.replaced(self._model, replace(found.part, branches=changed))

    def pin(self, rule: str, *, node: str | None = None, reason: str = "") -> Self:
        """Mark a rule that a refit keeps; ``rule`` is its conditions."""
        return self._pinned(rule, node, reason, is_pinned=True)

    def unpin(self, rule: str, *, node: str | None = None, reason: str = "") -> Self:
        """Remove the mark of ``pin``; ``rule`` is its conditions."""
        return self._pinned(rule, node, reason, is_pinned=False)

    def _pinned(self, rule: str, node: str | None, reason: str, *, is_pinned: bool) -> Self:
        stated = parse_change(rule)
        found = find_rules(self._model, stated.conditions, node)
        term = found.part
        if isinstance(term, TreeNode):
            model = self._with_branches(found, lambda one: replace(one, is_pinned=is_pinned))
        elif found.meant:
            pinned = term.pinned | found.meant if is_pinned else term.pinned - found.meant
            model = found.replaced(self._model, replace(term, pinned=pinned))
        else:
            missing = replace(_missing_rule(term), is_pinned=is_pinned)
            model = found.replaced(self._model, replace(term, missing=missing))
        verb = "pinned" if is_pinned else "unpinned"
        return self._step(model, f"{verb} the rule: {stated.premise}", reason)

    # --- words and names -----------------------------------------------------------------------

    def move(
        self,
        feature: str,
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
        feature, word : str
        start, end : float, default=None
            Where the word begins and ends to apply fully, for words that have ranges.
        peak : float, default=None
            Where a word, or two (``low-or-medium``), peak, for words that overlap.
        reason : as for ``set``

        Notes
        -----
        The rows of rules were counted with the words before. The model file and printed rules
        mark that.
        """
        before = self._feature(feature)
        after, told = moved(before, word, start, end, peak)
        model = map_features(self._model, lambda one: after if one == before else one)
        text = f"moved the word {shorten(word)} of {shorten(feature)}: it {told}"
        return self._step(model, text, reason)

    def rename_feature(self, old: str, new: str, *, reason: str = "") -> Self:
        """Rename a feature: from now on, a column of this name is read."""
        self._feature(old)
        text = f"renamed the feature {shorten(old)} to {shorten(new)}"
        return self._step(rename_feature(self._model, old, new), text, reason)

    def rename_word(self, feature: str, old: str, new: str, *, reason: str = "") -> Self:
        """Rename a word of a feature, which stays where it is."""
        text = f"renamed the word {shorten(old)} of {shorten(feature)} to {shorten(new)}"
        return self._step(rename_word(self._model, feature, old, new), text, reason)

    def rename_class(self, old: State, new: State, *, reason: str = "") -> Self:
        """Rename a class, which is then predicted by its new name."""
        text = f"renamed the class {shorten(old)} to {shorten(new)}"
        return self._step(rename_class(self._model, old, new), text, reason)

    def rename_group(self, old: str, new: str, *, reason: str = "") -> Self:
        """Rename a group of features, or a node."""
        text = f"renamed the group {shorten(old)} to {shorten(new)}"
        return self._step(rename_node(self._model, old, new), text, reason)

    def set_prior(self, shares: Mapping[State, float], *, reason: str = "") -> Self:
        """Set the overall shares, which count where values are missing.

        Parameters
        ----------
        shares : mapping of class to share
            All classes; the shares sum to 1.
        reason : as for ``set``
        """
        target = self._model.target
        if not target.shares or set(shares) != set(target.classes):
            needed = ", ".join(map(shorten, target.classes)) if target.shares else "none here"
            raise ParameterError(f"shares are needed for these classes: {needed}")
        prior = tuple(float(shares[state]) for state in target.classes)
        named = zip(target.classes, prior, strict=True)
        shown = ", ".join(f"{state} {share:g}" for state, share in named)
        model = replace(self._model, target=replace(target, shares=prior))
        return self._step(model, f"set the overall shares: {shown}", reason)

    def _feature(self, name: str) -> Feature:
        known = {feature.name: feature for feature in self._model.features}
        if name not in known:
            near = did_you_mean(name, known)
            raise ParameterError(f"the model has no feature {shorten(name)}{near}")
        return known[name]

    def _step(self, model: Model, text: str, reason: str) -> Self:
        """Check a changed model as a file is checked, and keep the edit."""
        time = spell_time(self._time or datetime.now(UTC))
        edit = Edit(cut(text, MAX_TEXT), self._author, time, reason)
        try:
            # Bands are those of the fit.
            edited = replace(model, edits=(*model.edits, edit), uncertainty=None, intervals=None)
            record = json.loads(to_json(edited))
            self._model = read_model(Reader(record, "the edited model", ModelFormatError))
        except ValueError as error:  # of what is read; or of a number that is not finite
            raise ParameterError(f"the edit is not possible ({text}): {error}") from None
        return self


def _missing_rule(term: Term) -> MissingRule:
    """Return the rule of a term for a missing value, which must be there."""
    if term.missing is None:
        name = term.features[0]
        raise ParameterError(f"there is no rule for a missing {shorten(name)}")
    return term.missing
