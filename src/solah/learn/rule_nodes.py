"""Rule models at the nodes of a hierarchy: additive rules on features and on what nodes believe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.data import Column, Table
from solah.labels.describe import describe_by
from solah.learn.learning import learn
from solah.learn.recipe import AdditiveRecipe, GroupSettings
from solah.model.attributes import BELIEF_WORDS, cored_attribute
from solah.model.evaluate import predict
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.learn.memory import MemoryRows
    from solah.learn.selection import Choice
    from solah.model import AdditiveNode, Attribute, Model
    from solah.model.structure import HierarchyNode

_RECIPE = AdditiveRecipe(groups=GroupSettings(None))


@dataclass(frozen=True)
class _Belief:
    """A column of what a node below believes: its name, the node, and the class by its index."""

    column: str
    node: str
    place: int


@dataclass(frozen=True, eq=False)
class RuleNode:
    """A rule model at a node.

    Attributes
    ----------
    name : the node's name
    model : the rules, with what nodes below believe as columns
    beliefs_below : these columns
    choice : what was chosen on folds
    """

    name: str
    model: Model
    beliefs_below: tuple[_Belief, ...]
    choice: Choice

    @property
    def inputs(self) -> tuple[Attribute, ...]:
        """The features and the beliefs that the rules use."""
        return self.node().inputs

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int) -> Float:
        """Return the probability of each class, given those of the nodes below."""
        names = {attribute.name for attribute in self.model.attributes}
        measured = names - {one.column for one in self.beliefs_below}
        columns = [table.column(name) for name in sorted(measured)]
        columns += [_column(one, outputs) for one in self.beliefs_below if one.column in names]
        return predict(self.model, Table(tuple(columns), table.n_rows), n_threads)

    def node(self) -> AdditiveNode:
        """Return the rules as a model of the whole hierarchy has them."""
        (node,) = self.model.sums
        below = {one.column: one for one in self.beliefs_below}
        terms = tuple(
            replace(
                term,
                inputs=tuple(
                    replace(one, attribute=_over_belief(one.attribute, below[one.name]))
                    if one.name in below
                    else one
                    for one in term.inputs
                ),
            )
            for term in node.terms
        )
        return replace(node, name=self.name, terms=terms)


def _column(belief: _Belief, outputs: Mapping[str, Float]) -> Column:
    return Column(belief.column, np.ascontiguousarray(outputs[belief.node][:, belief.place]))


def _over_belief(attribute: Attribute, belief: _Belief) -> Attribute:
    """Let words describe a belief instead of a column."""
    words = BELIEF_WORDS.get(len(attribute.words), attribute.words)
    return replace(attribute, words=words, tree=belief.node, place=belief.place)


def train_rule_node(
    node: HierarchyNode, rows: MemoryRows, choice: Choice | None = None
) -> RuleNode:
    """Learn the rules of a node from rows that know what the nodes below believe.

    A choice that was made before is taken as it is.
    """
    measured = [name for name in node.inputs if name not in rows.below]
    believed = [name for name in node.inputs if name in rows.below]
    below = _beliefs(believed, rows.goal.goal.states, rows.names)
    columns = [rows.table.column(name) for name in measured]
    columns += [_column(one, rows.outputs) for one in below]
    described = {attribute.name: attribute for attribute in rows.attributes}
    attributes = [described[name] for name in measured]
    ends = [(-np.inf, 0.0), (1.0, np.inf)]
    attributes += [
        cored_attribute(one.column, BELIEF_WORDS[2], ends, (0.5, 0.5), 0.0, 1.0) for one in below
    ]
    table = Table(tuple(columns), rows.table.n_rows)
    own = describe_by(table, tuple(attributes), rows.goal.weights, rows.n_threads)
    alone = replace(rows, described=own, outputs={}, folds=None, digests=None)
    found = learn(alone, _RECIPE, choice=choice)
    return RuleNode(node.name, found.model, below, found.choice)


def _beliefs(
    nodes: Sequence[str], states: Sequence[State], taken: Sequence[str]
) -> tuple[_Belief, ...]:
    """Describe what nodes believe: of two classes the second, of more each class."""
    places = [len(states) - 1] if len(states) < 3 else range(len(states))
    return tuple(
        _Belief(fresh_name(f"{node}({states[place]})", taken), node, place)
        for node in nodes
        for place in places
    )
