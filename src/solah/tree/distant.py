"""Rows that need not be in memory in, what training asks of them out, pass by pass.

Everything here has a counterpart for rows in memory, and finds the same numbers, bit for bit: words
by exact quantiles, counts by sums of integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.data import Column, Kind, Table
from solah.data.spelling import spell
from solah.exceptions import ParameterError
from solah.labels.describe import describe_numbers, describe_states, with_mean_masses
from solah.labels.drawing import sample_bound
from solah.labels.rows import integer_weights
from solah.labels.words import plan_words
from solah.model.attributes import flatten
from solah.scale.numbers import Quantiles, Spread
from solah.scale.reading import Reader, plain_attributes
from solah.tree.goals import ClassFacts, class_goal, digest_classes
from solah.tree.passes import CountRoot, CountTrees, CreditTrees
from solah.tree.side_by_side import TreeTask, learn_trees

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.sketches import FineCounts, Sketch
    from solah.model import Attribute, Tree
    from solah.scale.engines import Engine
    from solah.scale.facts import Facts, Wish
    from solah.scale.numbers import Sample
    from solah.tree.growth import Question, TreeSettings


@dataclass(frozen=True, eq=False)
class DistantRows:
    """Rows wherever they are, after a first look at them.

    Attributes
    ----------
    engine : who takes passes over them
    facts : what the columns are
    goal : the classes and what they weigh
    reader : who reads the rows
    sketches, counts : how the numbers of attributes that are measured are spread
    sample : some of the rows
    """

    engine: Engine
    facts: Facts
    goal: ClassFacts
    reader: Reader
    sketches: Mapping[str, Sketch]
    counts: Mapping[str, FineCounts]
    sample: Sample

    @classmethod
    def open(cls, estimator: Any, engine: Engine, wish: Wish, facts: Facts) -> DistantRows:
        """Count what is known of the rows, as an estimator's parameters say."""
        states = np.array(list(facts.classes))
        goal = class_goal(estimator, wish.target, states)
        of_classes = _class_weights(estimator.class_weight, facts)
        heaviest = [facts.heaviest[spell(state)] for state in facts.classes]
        _, unit = integer_weights(np.array(heaviest) * of_classes)
        attributes = plain_attributes(facts)
        reader = Reader(wish, attributes, tuple(facts.classes), of_classes, unit)
        sketches = {a.name: facts.sketches[a.name] for a in attributes if not a.is_coded}
        bound = sample_bound(facts.digests)
        spread = Spread(reader, sketches, digest_classes(goal), bound)
        found = engine.run(spread)
        sums = spread.class_sums(found)
        return cls(
            engine=engine,
            facts=facts,
            goal=ClassFacts(goal, states, sums, unit, of_classes),
            reader=reader,
            sketches=sketches,
            counts=spread.counts(found),
            sample=spread.sample(found),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(one.name for one in self.reader.attributes)

    def only(self, names: Sequence[str]) -> DistantRows:
        """Return the same rows with some of their columns."""
        places = [self.names.index(name) for name in names]
        facts, sample = self.facts, self.sample.rows
        return replace(
            self,
            facts=replace(
                facts,
                columns=tuple(facts.columns[j] for j in places),
                kinds=tuple(facts.kinds[j] for j in places),
            ),
            reader=self.reader.only(names),
            sample=replace(
                self.sample, rows=replace(sample, readings=sample.readings[:, places].copy())
            ),
        )

    @cached_property
    def _quantiles(self) -> Quantiles:
        return Quantiles(self.engine, self.reader, self.sketches, self.counts)

    def attributes(self, settings: LabelSettings) -> tuple[Attribute, ...]:
        """Describe the columns with words; what unknown values are like is not yet known."""
        plans = plan_words(self.names, settings.n_labels, settings.words)
        kinds = dict(zip(self.names, self.facts.kinds, strict=True))
        n_parts = {
            name: 2 * plan.n_words - 2
            for name, plan in plans.items()
            if kinds[name] is Kind.CONTINUOUS and plan.peaks is None
            if settings.placement == "quantile" and len(self.sketches[name].values)
        }
        quantiles = self._quantiles.find(n_parts)
        return tuple(
            describe_numbers(
                name,
                _DistantNumbers(self.sketches[name], quantiles.get(name)),
                plans[name],
                settings.placement,
            )
            if kinds[name] is Kind.CONTINUOUS
            else describe_states(name, kinds[name], self.facts.states(place), plans[name])
            for place, name in enumerate(self.names)
        )

    def sample_table(self) -> Table:
        """Return the sample as a table of the columns as they came."""
        columns = (
            _as_column(attribute, column, self.sample.rows.readings[:, place])
            for place, (attribute, column) in enumerate(
                zip(self.reader.attributes, self.facts.columns, strict=True)
            )
        )
        return Table(tuple(columns), len(self.sample.digests))


@dataclass(frozen=True, eq=False)
class _DistantNumbers:
    """A column of numbers, with those quantiles that were asked for."""

    sketch: Sketch
    found: Float | None

    @property
    def span(self) -> tuple[float, float] | None:
        return (self.sketch.low, self.sketch.high) if len(self.sketch.values) else None

    def quantiles(self, n_parts: int) -> Float:
        assert self.found is not None, "all quantiles are found before words are placed"
        assert len(self.found) == n_parts + 1
        return self.found


@dataclass(frozen=True, eq=False)
class DistantSet:
    """Rows wherever they are, described with words.

    Attributes
    ----------
    rows : the rows
    attributes : each column described
    root : (n_bins, n_classes) the counts of all rows
    """

    rows: DistantRows
    attributes: tuple[Attribute, ...]
    root: Int64

    @classmethod
    def describe(cls, rows: DistantRows, settings: LabelSettings) -> Self:
        """Describe each column with words, in a pass or two."""
        attributes = rows.attributes(settings)
        counts = rows.engine.run(CountRoot(rows.reader, attributes))["counts"]
        return cls(rows, with_mean_masses(attributes, counts.sum(axis=1)), counts)

    @property
    def goal(self) -> ClassFacts:
        """The classes and what they weigh."""
        return self.rows.goal

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return self.rows.names

    def learn_tree(self, name: str, settings: TreeSettings) -> Tree:
        """Grow one tree over all attributes, join its branches, improve its leaves."""
        task = TreeTask(name, self.attributes, settings)
        (tree,) = learn_trees([task], self.goal, self.count, self.credit)
        return tree

    def count(self, tasks: Sequence[TreeTask], questions: Sequence[Question]) -> list[Int64]:
        """Count the leaves of growing trees whose inputs are attributes, in one pass."""
        at_root = [len(question.tree.attribute) == 1 for question in questions]
        if all(at_root):
            return [self._at_root(task.inputs) for task in tasks]
        inputs = [task.inputs for task in tasks]
        one = CountTrees(self._reader(inputs), self.attributes, inputs, questions)
        return one.counts(self.rows.engine.run(one))

    def credit(
        self, tasks: Sequence[TreeTask], trees: Sequence[Tree], heads: Sequence[NDArray[np.intp]]
    ) -> list[Int64]:
        """Share rows' weights among the leaves of trees by how likely these make the classes."""
        one = CreditTrees(self._reader([task.inputs for task in tasks]), trees, heads)
        found = self.rows.engine.run(one)
        return [found[str(number)] for number in range(len(trees))]

    def _reader(self, inputs: Sequence[Sequence[Attribute]]) -> Reader:
        return self.rows.reader.only([one.name for each in inputs for one in each])

    def _at_root(self, inputs: Sequence[Attribute]) -> Int64:
        """Return the counts of a tree's root, which are part of those of all attributes."""
        bins = flatten(self.attributes).bins
        place_of = {attribute.name: j for j, attribute in enumerate(self.attributes)}
        places = [place_of[attribute.name] for attribute in inputs]
        return np.concatenate([self.root[bins[j] : bins[j + 1]] for j in places])[None]


def _class_weights(class_weight: Any, facts: Facts) -> Float:
    """Return what a row of each class weighs, as scikit-learn has it."""
    counts = np.array(list(facts.classes.values()), dtype=np.float64)
    if class_weight is None:
        return np.ones(len(counts))
    if isinstance(class_weight, str):
        return np.asarray(counts.sum() / (len(counts) * counts))
    named = {spell(name): float(weight) for name, weight in class_weight.items()}
    spelt = [spell(state) for state in facts.classes]
    strangers = [name for name in named if name not in spelt]
    if strangers and not named.keys() >= set(spelt):
        raise ParameterError(
            f"'class_weight' names the class {strangers[0]!r}, which the rows do not have"
        )
    return np.array([named.get(name, 1.0) for name in spelt])


def _as_column(attribute: Attribute, column: Column, readings: Float) -> Column:
    """Turn readings back into the values of their column."""
    if not attribute.is_coded:
        return replace(column, values=readings)
    unknown = np.isnan(readings)
    places = np.where(unknown, 0, readings).astype(np.intp)
    if all(isinstance(state, str) for state in attribute.states):
        values = np.array([*attribute.states, None], dtype=object)[
            np.where(unknown, len(attribute.states), places)
        ]
        return replace(column, values=values)
    numbers = np.array([*map(float, attribute.states), np.nan])
    return replace(column, values=numbers[np.where(unknown, len(attribute.states), places)])
