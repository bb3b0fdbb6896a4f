"""Check that messages fit a bundle, and describe them for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.model.document import Task
from solah.model.evaluate import part_outputs
from solah.site.observed import DOUBTS, Output, shown
from solah.site.output_check import Expectation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.site.bundle import Bundle
    from solah.site.messages import Decided, NodeOutput
    from solah.site.observed import WatchedPart


class Fitting:
    """Reads messages by a bundle.

    Parameters
    ----------
    bundle : Bundle
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, model = bundle, bundle.model
        self.hash, self.root = bundle.hash, model.root.name
        self.nodes = {node.name: node for node in bundle.plan.nodes}
        self.decider = bundle.plan.home[self.root]
        self.labels = [spell(state) for state in model.target.classes]
        self._target = model.target
        self._parts = {part.name: part for part in model.parts}
        self._names = {*self._parts, *(one.name for one in model.features)}
        self._places = {name: place for place, name in enumerate(self._parts)}
        self._expectation = Expectation(model)
        self._sent = {self.root}.union(*(node.sends for node in bundle.plan.nodes))

    # --- messages --------------------------------------------------------------------------------

    def may_send(self, node: str, row: NodeOutput) -> bool:
        """Whether this is what that node sends of a row."""
        return (
            node in self.nodes
            and {*row.signals, *row.readings} <= set(self.nodes[node].sends)
            and self._expectation.fits(row)
        )

    def may_decide(self, node: str, row: Decided) -> bool:
        """Whether that node decides, and on one of the classes."""
        is_known = row.decision in self.labels if self.labels else _is_number(row.decision)
        return (
            node == self.decider
            and is_known
            and row.settled in (*self.labels, "", None)
            and set(row.abstain_reasons).issubset(DOUBTS)
            and row.beliefs.keys() == set(self.labels)
            and all(map(_is_share, row.beliefs.values()))
            and self._names >= set(row.missing)
        )

    def place(self, decision: str) -> int | None:
        """Return the place of a class; None where a number is decided."""
        return self.labels.index(decision) if self.labels else None

    def output(self, part: str, signal: tuple[float, ...]) -> Output:
        """Return the output of a part from its message: of a term, scores."""
        belief = part_outputs(self.bundle.model.program, part, np.array([signal]))[0]
        return self._spelt(tuple(belief.tolist()))

    def root_output(self, row: Decided) -> Output:
        """Return the probabilities at the top from a decision."""
        if self.labels:
            return self._spelt(tuple(row.beliefs[label] for label in self.labels))
        return Output((), _about(float(row.decision)), None)

    def _spelt(self, belief: tuple[float, ...]) -> Output:
        if self._target.is_additive_number:
            return Output((), _about(belief[0]), None)
        shares = tuple(round(share, 4) for share in belief)
        if self._target.task is Task.REGRESSION:
            return Output(shares, _about(float(np.dot(belief, self._target.centres))), None)
        place = int(self._target.decide(np.array([belief]))[0])
        return Output(shares, shown(self.labels[place]), shares[place])

    # --- describing ------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Describe the model, ready for JSON."""
        return {
            "hash": self.hash,
            "starts": self.bundle.starts,
            "target": shown(self._target.name),
            "task": self._target.task.value,
            "classes": [shown(label) for label in self.labels],
        }

    def describe_parts(
        self, received: Mapping[str, WatchedPart], missing: tuple[str, ...]
    ) -> list[dict[str, Any]]:
        """Describe the parts from bottom to top, given their last outputs."""
        return [self._describe_part(name, received.get(name), missing) for name in self._parts]

    def _describe_part(
        self, name: str, last: WatchedPart | None, missing: tuple[str, ...]
    ) -> dict[str, Any]:
        part = self._parts[name]
        return {
            "place": self._places[name],
            "name": shown(name),
            "node": self.bundle.plan.home[name],
            "kind": part.kind,
            "hears": [self._places[one] for one in part.origins if one in self._parts],
            "asks": [shown(one) for one in part.origins if one not in self._parts],
            "state": self._state(name, last, missing),
            "row": last.row if last else None,
            "heard": last.received if last else None,
            "belief": list(last.output.belief) if last else [],
            "says": last.output.decision if last else None,
            "certainty": last.output.certainty if last else None,
        }

    def _state(self, name: str, last: WatchedPart | None, missing: tuple[str, ...]) -> str:
        if shown(name) in missing:
            return "missing"
        if last is not None:
            return "heard"
        return "waiting" if name in self._sent else "inside"


def _is_share(value: float) -> bool:
    return -1e-9 <= value <= 1 + 1e-9


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _about(number: float) -> str:
    return f"about {spell_number(number)}"
