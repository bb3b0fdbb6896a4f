"""Evaluate the part of a plan that one node runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.data import Table, as_column
from solah.data.cells import state_finder
from solah.data.spelling import is_number, spell
from solah.model.document import Task
from solah.model.encode import code
from solah.model.evaluate import (
    Rows,
    Sum,
    completeness,
    damping,
    stage_outputs,
    stage_scores,
)
from solah.model.policy import UNKNOWN_PLACE, name_reasons
from solah.model.program import Link
from solah.site.change_filter import Reporter
from solah.site.decision_policy import DomainCheck, Judging, added
from solah.site.held_rows import Holding, Lead
from solah.site.messages import MAX_BYTES, Decided, NodeOutput
from solah.site.output_check import Expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    coded: Float | None = None  # these readings as the program takes them
    signals: dict[str, tuple[float, ...]] = field(default_factory=dict)  # and readings of others
    unknown: dict[str, tuple[float, float]] = field(default_factory=dict)  # in those signals
    abstain_reasons: dict[str, tuple[int, int]] = field(default_factory=dict)  # by the node
    missing: list[str] = field(default_factory=list)
    unmeasured: tuple[str, ...] = ()  # readings that are missing here
    ages: dict[str, float] = field(default_factory=dict)  # when the oldest was taken, by the node
    unsent: list[str] = field(default_factory=list)
    due: float | None = None  # since when its deadline runs; None while it is not reached
    asked: float = 0.0
    has_input: bool = False  # whether anything came in
    unread: list[str] = field(default_factory=list)  # parts whose readings did not come
    n_tried: int = 0  # how often it could not be decided for what silence may hide
    is_over: bool = False

    def note_age(self, node: str, oldest: float | None) -> None:
        """Note when the oldest of a node's readings was taken."""
        if oldest is None:
            self.ages.pop(node, None)
        else:
            self.ages[node] = oldest

    def miss(self, names: Iterable[str]) -> None:
        """Note what is missing."""
        self.missing += [name for name in names if name not in self.missing]

    def forget_signals(self) -> None:
        """Forget all but the readings."""
        self.signals, self.unknown, self.unsent = {}, {}, []
        self.missing, self.abstain_reasons, self.coded = list(self.unmeasured), {}, None
        if self.unread:
            self.readings, self.unread = None, []


class Version:
    """A bundle as one node sees it."""

    def __init__(self, bundle: Bundle, name: str, keep: int = KEEP) -> None:
        self.bundle, self.hash, self.starts = bundle, bundle.hash, bundle.starts
        model, plan = bundle.model, bundle.plan.node(name)
        self.plan, self.target, self.root = plan, model.target, model.root.name
        self._program = model.program
        self._expectation = Expectation(model)
        self.parts = [part for part in model.parts if part.name in plan.runs]
        self.features = [one for one in model.features if one.name in plan.reads]
        self._own = {one.name: one for one in self.features}
        self.sources = dict(plan.hears)  # of each input from elsewhere the node that sends it
        self._sent_by = {node.name: frozenset(node.sends) for node in bundle.plan.nodes}
        self._measured = {
            part.name: [one for one in part.origins if one in self._own] for part in self.parts
        }
        self._find_category = {
            one.name: state_finder(one.categories) for one in self.features if one.is_coded
        }
        self.lost = self._expectation.most_unknown
        self.decides = self.root in plan.runs
        self.below = _features_below(model.parts)
        self._top = self._program.stages[-1]
        self._has_shares = any(term.share for term in self._top.terms)
        self.rows_a_message = _rows_a_message(bundle, plan)
        self.level, self.height = _levels(bundle, name)
        self._domain = DomainCheck(model, plan.reads)
        policy = model.policy if self.decides else None
        self._judging = None if policy is None else Judging(policy, model.target)
        self.is_ordered = policy is not None and policy.remembers
        self._last_judged: int | None = None
        sending = bundle.plan.sending
        self.reporter = Reporter(sending, keep) if sending and plan.sends else None
        self.holding = (
            Holding(sending, self.hash, set(self.sources.values()))
            if sending and self.sources
            else None
        )

    @property
    def n_sources(self) -> int:
        """How many sources send rows to the node: other nodes, and its own readings."""
        return len(set(self.sources.values())) + bool(self.features)

    # --- what comes in ---------------------------------------------------------------------------

    def is_expected(self, node: str, row: NodeOutput) -> bool:
        """Whether this node waits for that one, which sends such signals."""
        sent = {*row.signals, *row.readings}
        return (
            (bool(sent) or row.previous is not None)
            and node in self.sources.values()
            and sent <= self._sent_by[node]
            and self._expectation.fits(row)
        )

    def fitting(self, readings: Mapping[str, Reading]) -> dict[str, Reading]:
        """Return what is measured here; None for what its feature cannot take."""
        kept = {
            name: as_reading(readings[name], one)
            for name, one in self._own.items()
            if name in readings
        }
        for name in kept.keys() & self._find_category.keys():
            value = kept[name]
            # As in tables, spaces around a text do not count.
            value = value.strip() if isinstance(value, str) else value
            if math.isnan(self._find_category[name](value)):
                kept[name] = None
        return kept

    def lose(self, case: Case, parts: Sequence[str]) -> None:
        """Let averages replace parts that did not come."""
        case.missing += parts
        for part in parts:
            case.signals[part] = self._expectation.without_readings.get(part, ())
            if part in self.lost:
                case.unknown[part] = self.lost[part]

    def fill_readings(self, case: Case) -> None:
        """Let averages replace readings that did not come."""
        if case.readings is None:
            case.readings = {}
            case.unread = [name for name, measured in self._measured.items() if measured]
            case.missing += case.unread

    # --- what goes out ---------------------------------------------------------------------------

    def is_done(self, case: Case) -> bool:
        """Whether everything that this node runs or sends is there of a row."""
        return all(part in case.signals for part in (*self.plan.runs, *self.plan.sends))

    def said(self, case: Case) -> NodeOutput:
        """Return what there is to send of a row."""
        signals = {part: case.signals[part] for part in case.unsent if part not in self._own}
        readings = {name: case.signals[name] for name in case.unsent if name in self._own}
        lost = signals.keys() & case.unknown.keys() & self.lost.keys()
        return NodeOutput(
            sequence=case.sequence,
            time=case.time,
            signals=signals,
            missing=tuple(case.missing),
            unknown={part: case.unknown[part] for part in signals if part in lost},
            readings={name: one[0] if one else None for name, one in readings.items()},
            oldest=min(case.ages.values(), default=None),
            abstain_reasons=added(case.abstain_reasons.values()),
        )

    def decide(self, cases: Sequence[Case]) -> list[Decided]:
        """Decide rows on which everything is evaluated."""
        target = self.target
        outputs = np.array([case.signals[self.root] for case in cases])
        names = [spell(state) for state in target.classes]
        if target.task is Task.REGRESSION:
            is_sum = target.is_additive_number
            means = outputs[:, 0] if is_sum else outputs @ np.array(target.centres)
            decisions = [repr(number) for number in means.tolist()]
        else:
            decisions = [names[place] for place in target.decide(outputs).tolist()]
        decided = [
            Decided(
                sequence=case.sequence,
                time=case.time,
                decision=decision,
                probabilities=dict(zip(names, output, strict=True)) if names else {},
                missing=tuple(case.missing),
                completeness=self._completeness(case),
                oldest=min(case.ages.values(), default=None),
            )
            for case, decision, output in zip(cases, decisions, outputs.tolist(), strict=True)
        ]
        if self._judging is None:
            return decided
        judged = zip(cases, decided, strict=True)
        return [self._judged(self._judging, case, one, names) for case, one in judged]

    def _judged(
        self, judging: Judging, case: Case, decided: Decided, names: Sequence[str]
    ) -> Decided:
        """Apply the policy of the model."""
        if self.holding is not None and self._last_judged is not None:
            judging.repeat(case.sequence - self._last_judged - 1)
        self._last_judged = case.sequence
        scores = self._scores(case)
        judged = judging.take(
            np.array(case.signals[self.root]) if scores is None else scores,
            decided.completeness,
            added(case.abstain_reasons.values()),
            is_evidence=scores is not None,
        )
        return replace(
            decided,
            decision=names[judged.place],
            probabilities=dict(zip(names, judged.belief, strict=True)),
            stable=None if judged.stable == UNKNOWN_PLACE else names[judged.stable],
            abstain_reasons=tuple(name_reasons(judged.abstain_reasons)),
        )

    def _completeness(self, case: Case) -> float:
        """Return the share of importance with a value."""
        if self._has_shares:
            share, _ = case.unknown.get(self.root, (0.0, 0.0))
            return float(completeness(np.array(share)))
        if not case.missing:
            return 1.0
        missing: set[str] = set()
        for part in case.missing:
            missing |= self.below.get(part, {part}) & (
                {*self._measured[part]} if part in case.unread else {*self._importance}
            )
        lost: float = sum(self._importance[name] for name in sorted(missing))
        return max(0.0, 1.0 - lost)

    @cached_property
    def _importance(self) -> dict[str, float]:
        from solah.explain.importance import feature_importances

        names = (one.name for one in self.bundle.model.features)
        return dict(zip(names, feature_importances(self.bundle.model).tolist(), strict=True))

    # --- nodes that are silent about rows --------------------------------------------------------

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
            case.miss(row.missing)
            case.abstain_reasons[node] = row.abstain_reasons
            case.note_age(node, row.oldest)

    def is_whole(self, case: Case) -> bool:
        """Whether nobody is silent about a row, and all that was asked for is there."""
        assert self.holding is not None
        is_read = case.readings is not None or not self.features
        return is_read and self.holding.is_whole(case.sequence, is_exact=case.n_tried > 0)

    def is_final(self, case: Case, lead: Lead) -> bool:
        """Whether the decision on a row is the one that all values would give."""
        assert self.holding is not None
        lost = {self.sources[part] for part in case.missing if part in self.sources}
        return self.holding.is_final(case.sequence, lead, lost)

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
        """Return the scores of the classes on an evaluated row; None without a sum of scores."""
        if self._top.link is not Link.SOFTMAX:
            return None
        return np.asarray(stage_scores(self._top, self._sum(self.root, [case]))[0])

    # --- evaluating ------------------------------------------------------------------------------

    def run(self, cases: Sequence[Case]) -> None:
        """Evaluate all parts, from bottom to top, on the rows that have their inputs."""
        self._code([case for case in cases if case.readings is not None and case.coded is None])
        for part in self.parts:
            received = [name for name in part.origins if name not in self._own]
            ready = [
                case
                for case in cases
                if part.name not in case.signals
                and (case.coded is not None or not self._measured[part.name])
                and all(name in case.signals for name in received)
            ]
            if ready:
                self._evaluate(part, ready)
                if part.name in self.plan.sends:
                    for case in ready:
                        case.unsent.append(part.name)

    def _code(self, cases: Sequence[Case]) -> None:
        """Turn readings into numbers, as files and frames are, and compare them with the domain."""
        if not cases or not self.features:
            return
        columns = [
            as_column(one.name, _column([(case.readings or {}).get(one.name) for case in cases]))
            for one in self.features
        ]
        coded = code(Table(tuple(columns), len(cases)), self.features).columns
        readings = np.full((len(cases), len(self._program.features)), np.nan)
        for name, column in coded.items():
            readings[:, self._program.features.index(name)] = column
        counts = self._domain.count(coded, len(cases))
        for place, (case, count) in enumerate(zip(cases, counts, strict=True)):
            case.coded = readings[place]
            case.abstain_reasons.setdefault(self.plan.name, count)
            for name in self.plan.sends:  # readings that parts on other nodes ask
                if name in self._own and name not in case.signals:
                    case.signals[name] = as_signal(float(coded[name][place]))
                    case.unsent.append(name)

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
        program = self._program
        blank = np.full(len(program.features), np.nan)
        readings = np.stack([blank if case.coded is None else case.coded for case in cases])
        origins = next(one.origins for one in self.parts if one.name == part)
        received = [name for name in origins if name not in self._own]
        for name in received:
            if name not in self.below:  # a reading of another node
                column = [(*case.signals[name], np.nan)[0] for case in cases]
                readings[:, program.features.index(name)] = column
        rows, given = Rows(program, readings), {}
        for name in received:
            if name in program.stage_numbers:
                signals = np.array([case.signals[name] for case in cases])
                rows.outputs[:, program.stage_numbers[name]] = signals
            elif name in self.below:
                signals = np.array([case.signals[name] for case in cases])
                lost = np.array([case.unknown.get(name, (0.0, 0.0)) for case in cases])
                given[program.part_numbers[name][1]] = Sum(signals, *lost.T)
        return rows.part(*program.part_numbers[part], given)


def as_signal(reading: float | None) -> tuple[float, ...]:
    """Return a coded reading as what one node sends to another; nothing if it is missing."""
    return () if reading is None or math.isnan(reading) else (reading,)


def as_reading(value: object, feature: Feature) -> Reading:
    """Return a reading as its feature takes it; None for what it cannot take."""
    if isinstance(value, bool | int):
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


def _features_below(parts: Iterable[Part]) -> dict[str, frozenset[str]]:
    """Name the features that each part depends on, itself or through others."""
    below: dict[str, frozenset[str]] = {}
    for part in parts:
        names = (below.get(origin, {origin}) for origin in part.origins)
        below[part.name] = frozenset(name for some in names for name in some)
    return below


def _rows_a_message(bundle: Bundle, plan: NodePlan) -> int:
    """Return how many rows surely fit into one message."""
    model = bundle.model
    size, classes = model.target.size, map(spell, model.target.classes)
    names = sum(len(name.encode()) for name in classes)
    every = [*(one.name for one in model.features), *(part.name for part in model.parts)]
    everything = sum(len(name.encode()) + 8 for name in every)
    # A signal, and the share and the variance of what is missing in it.
    sent = sum(2 * len(part.encode()) + 30 * size + 80 for part in plan.sends)
    row = 200 + everything + max(6 * names + 35 * size, sent)
    return max(1, min(ROWS_A_MESSAGE, _BYTES_A_MESSAGE // row))


def _levels(bundle: Bundle, name: str) -> tuple[int, int]:
    """Return how many nodes are one above the other up to this one, and in all."""
    levels: dict[str, int] = {}
    for node in reversed(bundle.plan.nodes):
        below = [levels.get(home, 0) for _, home in node.hears]
        levels[node.name] = 1 + max(below) if below else 0
    return levels[name], max(levels.values())
