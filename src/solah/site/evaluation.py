"""Evaluate the part of a bundle that one node runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.data import Table, as_column
from solah.data.cells import state_finder
from solah.data.spelling import is_number, spell
from solah.explain.importance import feature_importances
from solah.explain.novelty import name_reasons
from solah.model.document import Task
from solah.model.encode import Coded, code
from solah.model.evaluate import (
    Rows,
    Sum,
    completeness,
    damping,
    stage_outputs,
    stage_scores,
)
from solah.model.policy import UNKNOWN_PLACE
from solah.model.program import Link
from solah.site.change_filter import Reporter
from solah.site.decision_policy import DomainCheck, Judging, added_doubts
from solah.site.held_rows import Holding, Lead
from solah.site.messages import MAX_BYTES, Decided, NodeOutput
from solah.site.output_check import Expectation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.model.document import Part
    from solah.model.features import Feature
    from solah.site.bundle import Bundle
    from solah.site.messages import Reading
    from solah.site.plan import NodePlan

KEEP = 4_096
ROWS_A_MESSAGE = 200
_BYTES_A_MESSAGE = MAX_BYTES // 2


@dataclass(eq=False)
class Case:
    """What a node knows of one row."""

    sequence: int
    seen: float  # on the node's clock
    time: float = 0.0  # of its newest reading, on the wall
    readings: Mapping[str, Reading] | None = None
    signals: dict[str, tuple[float, ...]] = field(default_factory=dict)  # and readings of others
    unknown: dict[str, tuple[float, float]] = field(default_factory=dict)  # in those signals
    abstain_reasons: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # of readings, by the node
    missing: list[str] = field(default_factory=list)
    unmeasured: tuple[str, ...] = ()  # readings that are unknown here, and named as missing
    ages: dict[str, float] = field(default_factory=dict)  # when the oldest was taken, by the node
    unsent: list[str] = field(default_factory=list)
    due: float | None = None  # since when its deadline runs; None while it is not reached
    asked: float = 0.0
    has_input: bool = False  # whether anything came in
    is_filled: bool = False  # whether averages replace what did not come
    unread: list[str] = field(default_factory=list)  # parts whose readings did not come
    n_tried: int = 0  # how often it could not be decided for what silence may hide
    is_over: bool = False

    @property
    def oldest(self) -> float | None:
        """When the oldest of its readings was taken, on the wall; None where nobody knows."""
        return min(self.ages.values(), default=None)

    def note_age(self, node: str, oldest: float | None) -> None:
        """Note when the oldest of a node's readings was taken."""
        if oldest is None:
            self.ages.pop(node, None)
        else:
            self.ages[node] = oldest


class Version:
    """A bundle as one node sees it."""

    def __init__(self, bundle: Bundle, name: str, keep: int = KEEP) -> None:
        self.bundle, self.hash, self.starts = bundle, bundle.hash, bundle.starts
        model = bundle.model
        self.plan: NodePlan = bundle.plan.node(name)
        self.target = model.target
        self._program = model.program
        self._expectation = Expectation(model)
        parts = {part.name: part for part in model.parts}
        self.parts = [parts[name] for name in self.plan.runs]
        self.features: list[Feature] = [
            one for one in model.features if one.name in self.plan.reads
        ]
        self.sources = dict(self.plan.hears)  # of each input from elsewhere the node that sends it
        self._sent_by = {node.name: frozenset(node.sends) for node in bundle.plan.nodes}
        own = {one.name: one for one in self.features}
        self.inputs = {
            part.name: Inputs(
                [name for name in part.origins if name not in own],
                [own[name] for name in part.origins if name in own],
            )
            for part in self.parts
        }
        self._own = own
        self._find_category = {
            one.name: state_finder(one.categories) for one in self.features if one.is_coded
        }
        self.mean_masses = self._ignorance()
        self.lost = self._expectation.most_unknown
        self.decides = model.root.name in self.plan.runs
        self.root = model.root.name
        self.below = _features_below(bundle)
        self._top = self._program.stages[-1]
        self._has_shares = any(term.share for term in self._top.terms)
        self.rows_a_message = _rows_a_message(bundle, self.plan)
        self.level, self.height = _levels(bundle, name)
        self._domain = DomainCheck(model, self.plan.reads)
        policy = model.policy if self.decides else None
        self._judging = None if policy is None else Judging(policy, model.target)
        self.is_ordered = policy is not None and policy.remembers
        self._last_judged: int | None = None
        sending = bundle.plan.sending
        self.reporter = Reporter(sending, keep) if sending and self.plan.sends else None
        self.holding = (
            Holding(sending, set(self.sources.values())) if sending and self.sources else None
        )

    def _ignorance(self) -> dict[str, tuple[float, ...]]:
        """Return the signals of others for a row of which nothing is known."""
        signals = self._expectation.without_readings
        return {part: signals.get(part, as_signal(None)) for part in self.sources}

    @cached_property
    def importance(self) -> dict[str, float]:
        """The share of each feature in the model's knowledge."""
        names = (one.name for one in self.bundle.model.features)
        return dict(zip(names, feature_importances(self.bundle.model).tolist(), strict=True))

    def known_share(self, case: Case) -> float:
        """Return the share of the model's knowledge that a row's readings reached."""
        if self._has_shares:
            share, _ = case.unknown.get(self.root, (0.0, 0.0))
            return float(completeness(np.array(share)))
        unknown: set[str] = set()
        for part in case.missing:
            if part in case.unread:
                unknown.update(one.name for one in self.inputs[part].measured)
            else:
                unknown |= self.below.get(part, {part})
        lost: float = sum(self.importance[name] for name in sorted(unknown))
        return max(0.0, 1.0 - lost)

    @property
    def n_sources(self) -> int:
        """How many sources send rows to the node: other nodes, and its own readings."""
        return len(set(self.sources.values())) + bool(self.features)

    def is_expected(self, node: str, row: NodeOutput) -> bool:
        """Whether this node waits for that one, which sends such signals."""
        sent = (*row.signals, *row.readings)
        return (
            (bool(sent) or row.previous is not None)
            and node in self.sources.values()
            and all(part in self._sent_by[node] for part in sent)
            and self._expectation.fits(row)
        )

    def is_done(self, case: Case) -> bool:
        """Whether everything that this node runs or sends is there of a row."""
        return all(part in case.signals for part in (*self.plan.runs, *self.plan.sends))

    def said(self, case: Case) -> NodeOutput:
        """Return what there is to send of a row."""
        signals = {part: case.signals[part] for part in case.unsent if part not in self._own}
        return NodeOutput(
            sequence=case.sequence,
            time=case.time,
            signals=signals,
            missing=tuple(case.missing),
            unknown={
                part: case.unknown[part]
                for part in signals
                if part in case.unknown and part in self.lost
            },
            readings={
                name: case.signals[name][0] if case.signals[name] else None
                for name in case.unsent
                if name in self._own
            },
            oldest=case.oldest,
            abstain_reasons=added_doubts([*case.abstain_reasons.values()]),
        )

    def decide(self, cases: Sequence[Case]) -> list[Decided]:
        """Decide rows on which everything is evaluated."""
        beliefs = np.array([case.signals[self.root] for case in cases])
        return [
            self._judged(
                case,
                Decided(
                    sequence=case.sequence,
                    time=case.time,
                    decision=decision,
                    beliefs=belief,
                    missing=tuple(case.missing),
                    known=self.known_share(case),
                    oldest=case.oldest,
                ),
            )
            for case, (decision, belief) in zip(cases, self._spelt(beliefs), strict=True)
        ]

    def _judged(self, case: Case, decided: Decided) -> Decided:
        """Apply the policy of the model, where it has one."""
        if self._judging is None:
            return decided
        if self.holding is not None and self._last_judged is not None:
            self._judging.repeat(case.sequence - self._last_judged - 1)
        self._last_judged = case.sequence
        scores = self._scores(case)
        is_evidence = scores is not None
        judged = self._judging.take(
            np.array(case.signals[self.root]) if scores is None else scores,
            decided.known,
            added_doubts([*case.abstain_reasons.values()]),
            is_evidence=is_evidence,
        )
        names = [spell(state) for state in self.target.classes]
        return replace(
            decided,
            decision=names[judged.place],
            beliefs=dict(zip(names, judged.belief, strict=True)),
            settled=None if judged.settled == UNKNOWN_PLACE else names[judged.settled],
            abstain_reasons=tuple(name_reasons(judged.abstain_reasons)),
        )

    def hold(self, case: Case, patience: float) -> None:
        """Use the last values of nodes for the rows that they did not send."""
        assert self.holding is not None
        for node in sorted(set(self.sources.values())):
            row = self.holding.row_of(node, case.sequence, case.seen - patience)
            if row is None:
                self.lose(case, [part for part, home in self.sources.items() if home == node])
                continue
            case.signals |= row.signals
            case.signals |= {name: as_signal(one) for name, one in row.readings.items()}
            case.unknown |= row.unknown
            case.missing += [part for part in row.missing if part not in case.missing]
            case.abstain_reasons[node] = row.abstain_reasons
            case.note_age(node, row.oldest)

    def lose(self, case: Case, parts: Sequence[str]) -> None:
        """Let mean_masses take the place of parts that did not come."""
        case.missing += parts
        for part in parts:
            case.signals[part] = self.mean_masses[part]
            if part in self.lost:
                case.unknown[part] = self.lost[part]

    def is_whole(self, case: Case) -> bool:
        """Whether nobody is silent about a row, and all that was asked for is there."""
        assert self.holding is not None
        is_read = case.readings is not None or not self.features
        return is_read and self.holding.is_whole(case.sequence, is_exact=case.n_tried > 0)

    def stands(self, case: Case, lead: Lead) -> bool:
        """Whether the decision on a row is the one that all values would give."""
        assert self.holding is not None
        lost = {self.sources[part] for part in case.missing if part in self.sources}
        return self.holding.stands(case.sequence, lead, lost)

    def lead(self, case: Case) -> Lead:
        """Return the lead of the decision on an evaluated row, in scores."""
        scores = self._scores(case)
        if scores is None:
            return Lead(0, np.full(1, np.inf))
        if self.target.thresholds:
            scores = scores - np.log(np.array(self.target.thresholds))
        winner = int(self.target.decide(np.array([case.signals[self.root]]))[0])
        _, variance = case.unknown.get(self.root, (0.0, 0.0))
        over = (scores[winner] - scores) / float(damping(np.array(variance)))
        over[winner] = np.inf
        return Lead(winner, over)

    def _scores(self, case: Case) -> Float | None:
        """Return the scores of the classes on an evaluated row; None where none are added up."""
        if self._top.link is not Link.SOFTMAX:
            return None
        return np.asarray(stage_scores(self._top, self._sum(self.root, [case]))[0])

    def _spelt(self, beliefs: Float) -> Iterator[tuple[str, dict[str, float]]]:
        target = self.target
        if target.task is Task.REGRESSION:
            means = (
                beliefs[:, 0] if target.is_additive_number else beliefs @ np.array(target.centres)
            )
            for number in means.tolist():
                yield repr(number), {}
            return
        names = [spell(state) for state in target.classes]
        for place, belief in zip(target.decide(beliefs).tolist(), beliefs.tolist(), strict=True):
            yield names[place], dict(zip(names, belief, strict=True))

    def fitting(self, readings: Mapping[str, Reading]) -> tuple[dict[str, Reading], int]:
        """Return what is measured here, unknown where it cannot be, and how many cannot be."""
        kept = {
            one.name: as_reading(readings[one.name], one)
            for one in self.features
            if one.name in readings
        }
        for name, find in self._find_category.items():
            value = kept.get(name)
            # Spaces around a text are no part of it, as in tables.
            known = find(value.strip() if isinstance(value, str) else value)
            if name in kept and math.isnan(known):
                kept[name] = None
        n_unfit = sum(kept[name] is None and readings[name] is not None for name in kept)
        return kept, n_unfit

    def run(self, cases: Sequence[Case], is_windowed: bool) -> None:
        """Evaluate all parts, from bottom to top, on the rows that have their inputs."""
        self._check(cases, is_windowed)
        self._code_sent(cases, is_windowed)
        for part in self.parts:
            inputs = self.inputs[part.name]
            ready = [
                case
                for case in cases
                if part.name not in case.signals
                and (not inputs.measured or self._has_readings(case, is_windowed))
                and all(name in case.signals for name in inputs.received)
            ]
            if not ready:
                continue
            self._evaluate(part, ready)
            if part.name in self.plan.sends:
                for case in ready:
                    case.unsent.append(part.name)

    def _check(self, cases: Sequence[Case], is_windowed: bool) -> None:
        """Compare readings with what the training rows held."""
        ready = [
            case
            for case in cases
            if self.plan.name not in case.abstain_reasons and self._has_readings(case, is_windowed)
        ]
        if ready and self._domain.features:
            counts = self._domain.count(_coded(self._domain.features, ready))
            for case, count in zip(ready, counts, strict=True):
                case.abstain_reasons[self.plan.name] = count

    def _code_sent(self, cases: Sequence[Case], is_windowed: bool) -> None:
        """Code the readings that parts on other nodes ask."""
        for name in self.plan.sends:
            ready = [
                case
                for case in cases
                if name in self._own
                and name not in case.signals
                and self._has_readings(case, is_windowed)
            ]
            if not ready:
                continue
            codes = _coded([self._own[name]], ready).columns[name].tolist()
            for case, number in zip(ready, codes, strict=True):
                case.signals[name] = as_signal(number)
                case.unsent.append(name)

    def _has_readings(self, case: Case, is_windowed: bool) -> bool:
        """Whether the readings of a row are there; in a window, some may still come."""
        if case.readings is None or not is_windowed or case.is_filled:
            return case.readings is not None
        return all(one.name in case.readings for one in self.features)

    def _evaluate(self, part: Part, cases: Sequence[Case]) -> None:
        """Evaluate a part on rows whose inputs are all there."""
        total = self._sum(part.name, cases)
        signals = total.weights
        if part.name in self._program.stage_numbers:
            stage = self._program.stages[self._program.stage_numbers[part.name]]
            signals = stage_outputs(stage, stage_scores(stage, total))
        for case, signal in zip(cases, signals.tolist(), strict=True):
            case.signals[part.name] = tuple(signal)
        for place in np.flatnonzero(total.share).tolist():
            lost = float(total.share[place]), float(total.variance[place])
            cases[place].unknown[part.name] = lost

    def _sum(self, part: str, cases: Sequence[Case]) -> Sum:
        """Add up a part of the program, given its readings and what is known of other parts."""
        program, inputs = self._program, self.inputs[part]
        readings = np.full((len(cases), len(program.features)), np.nan)
        columns = dict(_coded(inputs.measured, cases).columns)
        columns |= {
            name: np.array([(*case.signals[name], np.nan)[0] for case in cases])
            for name in inputs.received
            if name not in self.below
        }
        for name, column in columns.items():
            readings[:, program.features.index(name)] = column
        rows, given = Rows(program, readings), {}
        for name in (name for name in inputs.received if name in self.below):
            signals = np.array([case.signals[name] for case in cases])
            if name in program.stage_numbers:
                rows.outputs[:, program.stage_numbers[name]] = signals
            else:
                lost = np.array([case.unknown.get(name, (0.0, 0.0)) for case in cases])
                given[program.part_numbers[name][1]] = Sum(signals, *lost.T)
        return rows.part(*program.part_numbers[part], given)


class Inputs(NamedTuple):
    """What a part asks: other parts and readings, and features measured here."""

    received: list[str]
    measured: list[Feature]


def as_signal(reading: float | None) -> tuple[float, ...]:
    """Return a coded reading as what one node sends to another; nothing where it is unknown."""
    return () if reading is None or math.isnan(reading) else (reading,)


def _coded(features: Sequence[Feature], cases: Sequence[Case]) -> Coded:
    """Turn readings into columns of numbers, as files and frames are."""
    columns = [
        as_column(one.name, _column([(case.readings or {}).get(one.name) for case in cases]))
        for one in features
    ]
    return code(Table(tuple(columns), len(cases)), features)


def as_reading(value: object, feature: Feature) -> Reading:
    """Return a reading as its feature takes it; None for what it cannot take."""
    if isinstance(value, bool):
        value = float(value)
    if isinstance(value, int):
        value = float(value)
    if feature.is_coded:
        return value if isinstance(value, str | float) else None
    if isinstance(value, str):
        return float(value) if is_number(value) else None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _column(values: list[Reading]) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    if all(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    return np.array(values, dtype=object)


def _features_below(bundle: Bundle) -> dict[str, frozenset[str]]:
    """Name the features that each part depends on, itself or through others."""
    below: dict[str, frozenset[str]] = {}
    for part in bundle.model.parts:
        below[part.name] = frozenset(
            name for origin in part.origins for name in below.get(origin, {origin})
        )
    return below


def _rows_a_message(bundle: Bundle, plan: NodePlan) -> int:
    """Return how many rows surely fit into one message."""
    target = bundle.model.target
    names = sum(len(spell(state).encode()) for state in target.classes)
    model = bundle.model
    every = [*(one.name for one in model.features), *(part.name for part in model.parts)]
    everything = sum(len(name.encode()) + 8 for name in every)
    # A signal, and the share and the variance of what is unknown in it.
    sent = sum(2 * len(part.encode()) + 30 * target.size + 80 for part in plan.sends)
    row = 200 + everything + max(6 * names + 35 * target.size, sent)
    return max(1, min(ROWS_A_MESSAGE, _BYTES_A_MESSAGE // row))


def _levels(bundle: Bundle, name: str) -> tuple[int, int]:
    """Return how many nodes stand one above the other up to this one, and in all."""
    levels: dict[str, int] = {}
    for node in reversed(bundle.plan.nodes):
        below = [levels.get(home, 0) for _, home in node.hears]
        levels[node.name] = 1 + max(below) if below else 0
    return levels[name], max(levels.values())
