"""What must be known of all rows before they can be described with words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Kind, Table
from solah.data.spelling import spell
from solah.exceptions import ParameterError
from solah.labels.describe import describe_numbers, describe_states
from solah.labels.drawing import sample_bound
from solah.labels.goals import GoalFacts, digest_classes, integer_weights
from solah.labels.words import plan_words
from solah.scale.numbers import Quantiles, Spread
from solah.scale.reading import Reader, plain_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.labels.describe import LabelSettings
    from solah.labels.drawing import Limits
    from solah.labels.sketches import FineCounts, Sketch
    from solah.model import Attribute, Goal
    from solah.scale.engines import Engine
    from solah.scale.facts import ColumnRoles, Facts
    from solah.scale.numbers import Sample


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
    limits : how many rows are many
    """

    engine: Engine
    facts: Facts
    goal: GoalFacts
    reader: Reader
    sketches: Mapping[str, Sketch]
    counts: Mapping[str, FineCounts]
    sample: Sample
    limits: Limits

    @classmethod
    def open(
        cls,
        engine: Engine,
        roles: ColumnRoles,
        facts: Facts,
        goal: Goal,
        class_weight: Any,
        limits: Limits,
    ) -> Profile:
        """Count what must be known of all rows before they can be described."""
        states = np.array(list(facts.classes))
        of_classes = _class_weights(class_weight, facts)
        spans = np.array([facts.weights[spell(state)] for state in facts.classes])
        spans[~np.isfinite(spans)] = 0.0  # no row of the class has weight
        _, unit = integer_weights((spans * of_classes[:, None]).ravel())
        attributes = plain_attributes(facts)
        reader = Reader(roles, attributes, tuple(facts.classes), of_classes, unit)
        sketches = {a.name: facts.sketches[a.name] for a in attributes if not a.is_coded}
        bound = sample_bound(facts.digests, limits)
        spread = Spread(reader, sketches, digest_classes(goal), bound)
        found = engine.run(spread)
        sums = spread.class_sums(found)
        return cls(
            engine=engine,
            facts=facts,
            goal=GoalFacts(goal, states, sums, unit),
            reader=reader,
            sketches=sketches,
            counts=spread.counts(found),
            sample=spread.sample(found),
            limits=limits,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(one.name for one in self.reader.attributes)

    def only(self, names: Sequence[str]) -> Profile:
        """Return the same rows with some of their columns."""
        place_of = {name: place for place, name in enumerate(self.names)}
        places = [place_of[name] for name in names]
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
        plans = plan_words(self.names, settings.n_words, settings.words)
        kinds = dict(zip(self.names, self.facts.kinds, strict=True))
        n_parts = {
            name: 2 * plan.n_words - 2
            for name, plan in plans.items()
            if kinds[name] is Kind.CONTINUOUS and plan.peaks is None and plan.n_words > 1
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
