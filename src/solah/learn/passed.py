"""Rows in files, frames or on a cluster: read again for each pass, never all in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Kind, Table
from solah.data.spelling import spell
from solah.exceptions import ParameterError
from solah.hierarchy.dependence.counting import distant_dependence, distant_relevance
from solah.kernels.arrays import TreeShape
from solah.labels.describe import (
    Description,
    describe_numbers,
    describe_states,
    label_table,
    with_mean_masses,
)
from solah.labels.drawing import sample_bound
from solah.labels.weights import integer_weights
from solah.labels.words import plan_words
from solah.learn.goals import ClassGoal, GoalFacts, digest_classes
from solah.learn.growth import Question
from solah.learn.memory import MemoryRows
from solah.learn.nodes import TreeNode
from solah.learn.passes import CountLeaves, TablePass
from solah.learn.rows import Rows
from solah.model.attributes import flatten
from solah.scale.numbers import Quantiles, Spread
from solah.scale.reading import Reader, plain_attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solah.hierarchy.dependence import Dependence
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.sketches import FineCounts, Sketch
    from solah.learn.nodes import NodeModel
    from solah.learn.passes import BlockPass
    from solah.model import Attribute, Goal, Tree
    from solah.scale.engines import Engine
    from solah.scale.facts import Facts, Wish
    from solah.scale.numbers import Sample
    from solah.scale.passes import Statistics


@dataclass(frozen=True, eq=False)
class Profile:
    """What is known of rows that are passed over, after a first look at them.

    Attributes
    ----------
    engine : takes passes over the rows
    facts : what the columns are
    goal : the classes and what they weigh
    reader : reads the rows as numbers
    sketches, counts : how the numbers of continuous attributes are distributed
    sample : some of the rows
    """

    engine: Engine
    facts: Facts
    goal: GoalFacts
    reader: Reader
    sketches: Mapping[str, Sketch]
    counts: Mapping[str, FineCounts]
    sample: Sample

    @classmethod
    def open(
        cls, engine: Engine, wish: Wish, facts: Facts, goal: Goal, class_weight: Any
    ) -> Profile:
        """Count what must be known of all rows before they can be described."""
        states = np.array(list(facts.classes))
        of_classes = _class_weights(class_weight, facts)
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
            goal=GoalFacts(goal, states, sums, unit, of_classes),
            reader=reader,
            sketches=sketches,
            counts=spread.counts(found),
            sample=spread.sample(found),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(one.name for one in self.reader.attributes)

    def only(self, names: Sequence[str]) -> Profile:
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
                _FoundNumbers(self.sketches[name], quantiles.get(name)),
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
class _FoundNumbers:
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
class PassedRows(Rows):
    """Rows that are passed over, described with words.

    Attributes
    ----------
    profile : what is known of the columns
    described : the columns, described
    root : (n_bins, n_classes) the counts of all rows by word and class
    n_threads : how many threads work on what passes find
    trees : the trees below, each after those it is fed by
    """

    profile: Profile
    described: tuple[Attribute, ...]
    root: Int64
    n_threads: int = 1
    trees: tuple[Tree, ...] = ()

    is_many = True

    @classmethod
    def describe(cls, profile: Profile, settings: LabelSettings, n_threads: int = 1) -> PassedRows:
        """Describe each column with words, in a pass or two."""
        attributes = profile.attributes(settings)
        root = Question(TreeShape.stump(), np.zeros(1, dtype=np.int32))
        one = CountLeaves([attributes], [root], len(profile.goal.classes), "counting words")
        (counts,) = profile.engine.run(TablePass(one, profile.reader, attributes))["0"]
        described = with_mean_masses(attributes, counts.sum(axis=1))
        return cls(profile, described, counts, n_threads)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns, described."""
        return self.described

    @property
    def facts(self) -> GoalFacts:
        """The goal, and what all rows weigh together."""
        return self.profile.goal

    @property
    def below(self) -> frozenset[str]:
        """The names of the trees below."""
        return frozenset(tree.name for tree in self.trees)

    def run(self, one: BlockPass) -> Statistics:
        """Sum up all rows."""
        origins = {attribute.origin for each in one.inputs for attribute in each}
        trees = self.trees if origins & self.below else ()
        origins |= {attribute.origin for tree in trees for attribute in tree.inputs}
        reader = self.profile.reader.only(tuple(origins))
        described = {attribute.name: attribute for attribute in self.attributes}
        attributes = tuple(described[attribute.name] for attribute in reader.attributes)
        return self.profile.engine.run(TablePass(one, reader, attributes, trees))

    def count(
        self, inputs: Sequence[tuple[Attribute, ...]], questions: Sequence[Question]
    ) -> list[Int64]:
        """Count rows at the leaves of growing trees; at their roots they are counted already."""
        at_root = all(len(question.tree.attribute) == 1 for question in questions)
        if at_root and not any(one.origin in self.below for each in inputs for one in each):
            return [self._counts(of_tree)[None] for of_tree in inputs]
        return super().count(inputs, questions)

    def draw(self, n_rows: int | None = None) -> MemoryRows:
        """Return the sample, or so many rows of it."""
        sample, goal, table = self.profile.sample.rows, self.facts, self.profile.sample_table()
        integers, unit = integer_weights(sample.weights.astype(np.float64) * goal.weight_unit)
        drawn = MemoryRows(
            Description(table, self.attributes, label_table(table, self.attributes)),
            ClassGoal(goal.goal, goal.classes, sample.codes, integers, unit, goal.plain_weights),
            self.n_threads,
            digests=self.profile.sample.digests,
        )
        return drawn if n_rows is None or n_rows >= table.n_rows else drawn.draw(n_rows)

    def only(self, names: Sequence[str]) -> PassedRows:
        """Return the same rows with some of their columns."""
        attributes = tuple(self.attributes[self.names.index(name)] for name in names)
        return replace(
            self,
            profile=self.profile.only(names),
            described=attributes,
            root=self._counts(attributes),
        )

    def described_as(self, settings: LabelSettings) -> PassedRows:
        """Describe the same rows with other words."""
        return PassedRows.describe(self.profile, settings, self.n_threads)

    def dependence(self, *, bias_corrected: bool = False) -> Dependence:
        """Measure how far attributes depend on each other and on the goal."""
        return distant_dependence(
            self.profile, bias_corrected=bias_corrected, n_threads=self.n_threads
        )

    def relevance(self, *, bias_corrected: bool = False) -> Float:
        """Measure how far attributes depend on the goal."""
        return distant_relevance(self.profile, bias_corrected=bias_corrected)

    def with_folds(self, n_folds: int) -> PassedRows:
        """Refuse: what a fold believes would have to be kept of every row."""
        raise ParameterError(
            "'cross_fit' is for rows in memory; leave it out, or read the rows into memory"
        )

    def above(
        self, models: Sequence[NodeModel], train: Callable[[PassedRows], Sequence[NodeModel]]
    ) -> PassedRows:
        """Return the same rows; passes walk them through the trees of these models."""
        trees = tuple(model.tree for model in models if isinstance(model, TreeNode))
        return replace(self, trees=(*self.trees, *trees))

    def _counts(self, inputs: Sequence[Attribute]) -> Int64:
        """Return the counts of all rows by the words of some attributes and by class."""
        bins = flatten(self.attributes).bins
        place_of = {attribute.name: j for j, attribute in enumerate(self.attributes)}
        places = [place_of[attribute.name] for attribute in inputs]
        return np.concatenate([self.root[bins[j] : bins[j + 1]] for j in places])


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
