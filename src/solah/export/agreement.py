"""Measure how often a model and its export decide alike, on rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from solah.data import Column, Table
from solah.exceptions import AgreementError, DataError, ParameterError
from solah.export.fixed_simulator import FixedSimulator
from solah.export.programs import Program, Run, reading_of
from solah.model.decide import PolicyDecider
from solah.model.document import Task
from solah.model.encode import encode
from solah.model.evaluate import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from solah.export.blob import Blob
    from solah.export.c_export import Export
    from solah.export.simulator import Simulator
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature

    Places = NDArray[np.intp]

MIN_AGREEMENT = 0.995
"""The share of rows that an export must decide as its model does, unless another is given."""
# An estimated number agrees if it is as near as this, as a share of the target's range.
_NEAR = 0.005
_N_DRAWN = 2_000
_UNKNOWN_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far an export decides as its model does.

    Attributes
    ----------
    n_rows : how many rows were compared
    share : of how many of them the decision is the same; of an estimated number, of how many it
        is within 0.5 % of the range of the target (of one that is added up, of its estimates)
    largest_difference : between probabilities, or between predicted numbers
    expected, found : (n_rows,) the classes by their places, or the numbers, as the model decides
        and as the export does
    settled_share : the share of rows, in the order of time, with the same stable decision;
        None if the model has no policy, or the export does without
    n_clipped : how many rows have a reading that integers clip before the word it belongs to
    clipped : how many rows this is of each feature
    """

    n_rows: int
    share: float
    largest_difference: float
    expected: Places | Float
    found: Places | Float
    settled_share: float | None = None
    n_clipped: int = 0
    clipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def least_share(self) -> float:
        """The smaller of the shares of equal decisions and equal stable decisions."""
        return self.share if self.settled_share is None else min(self.share, self.settled_share)


def agreement(model: Model, simulator: Simulator | Run, table: Table) -> Agreement:
    """Compare the arithmetic of an export with its model.

    Parameters
    ----------
    model : Model
        The model file.
    simulator : Simulator or Run
        That of its export, which computes what the device does, bit for bit, or runs the program.
    table : Table
        The rows to compare them on.

    Returns
    -------
    agreement : Agreement

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.export import agreement, export_c
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> agreement(model, export_c(model, numbers="q15").simulator, wine.table).share
    1.0
    """
    return agreement_on(model, simulator, encode(table, model.features))


def agreement_on(
    model: Model, simulator: Simulator | Run, rows: Float, measured: Float | None = None
) -> Agreement:
    """Compare them on rows as numbers, a column for each feature of the model.

    ``measured`` are the same rows as the device computes them from samples.
    """
    if not len(rows):
        raise DataError("there are no rows to compare the export with the model on")
    beliefs = run(model.program, rows)
    expected_rows, rows = rows, rows if measured is None else measured
    clipped = _clipped(model, simulator, rows)
    if model.target.task is Task.REGRESSION:
        numbers, estimates = _numbers(model, beliefs), simulator.estimate(rows) * simulator.unit
        away = np.abs(estimates - numbers)
        share = float((away <= _NEAR * _range(model)).mean())
        return Agreement(len(rows), share, float(away.max()), numbers, estimates, None, *clipped)
    expected, (found, believed) = model.target.decide(beliefs), simulator.decide(rows)
    away = np.abs(believed * simulator.belief_unit - beliefs)
    share = float((found == expected).mean())
    settled = _settled_share(model, simulator, expected_rows, rows)
    return Agreement(len(rows), share, float(away.max()), expected, found, settled, *clipped)


def require_agreement(
    model: Model,
    export: Export | Blob | Program,
    table: Table | None = None,
    least: float = MIN_AGREEMENT,
    measured: Table | None = None,
) -> Agreement:
    """Compare an export with its model, and refuse one that decides too few rows alike.

    Parameters
    ----------
    model : Model
        The model file.
    export : Export, Blob or Program
        What was made of it.
    table : Table, default=None
        The rows to compare them on; None for rows drawn around the words of the model.
    least : float, default=0.995
        The share of rows that must be decided alike; of a model with a policy also of those on
        which the stable decision is the same, in their order.
    measured : Table, default=None
        The same rows as the device computes them from samples, with ``export.features``.

    Returns
    -------
    agreement : Agreement

    Raises
    ------
    AgreementError
        Fewer are.
    ParameterError
        What runs the export is not installed.
    """
    if export.simulator is None:
        raise ParameterError("the program cannot be compared with the model: node is not installed")
    if table is None:
        found = agreement_on(model, export.simulator, drawn_rows(model))
    else:
        on_device = None if measured is None else encode(measured, model.features)
        found = agreement_on(model, export.simulator, encode(table, model.features), on_device)
    if not found.least_share >= least:  # nor is it above NaN
        raise AgreementError(_refusal(export, found, is_drawn=table is None, least=least))
    return found


def _refusal(
    export: Export | Blob | Program, found: Agreement, *, is_drawn: bool, least: float
) -> str:
    """Return the message for too few equal decisions, and the probable reason."""
    rows = f"{found.n_rows:,} {'drawn ' if is_drawn else ''}rows"
    what = "program" if isinstance(export, Program) else "device"
    settled = ""
    if found.settled_share is not None:
        settled = f", and has the same stable decision on {_percent(found.settled_share)} of them"
    clipped = (f"readings of {found.n_clipped:,} rows are clipped",) if found.n_clipped else ()
    way_out = ("export it as C with --arithmetic float",) if export.numbers == "q15" else ()
    reasons = "; ".join((*export.warnings, *clipped, *way_out))
    return (
        f"the {what} decides as the model does on {_percent(found.share)} of {rows}{settled}, and "
        f"{_percent(least)} are asked for (--min-agreement)" + (reasons and f": {reasons}")
    )


def sample_rows(model: Model, n_rows: int, seed: int = 0) -> Float:
    """Draw readings, for want of measured ones: near a word as often as the training rows were."""
    rng = np.random.default_rng(seed)
    return np.column_stack([_sample(rng, one, n_rows) for one in model.features])


def _sample(rng: np.random.Generator, feature: Feature, n_rows: int) -> Float:
    peaks, masses = np.array(feature.peaks), np.array(feature.mean_masses)
    near = rng.choice(len(peaks), n_rows, p=masses / masses.sum())
    if feature.is_coded:
        return near.astype(np.float64)
    beside = np.clip(near + rng.choice([-1, 1], n_rows), 0, len(peaks) - 1)
    # Few readings lie on the way to a word that has little of the mass.
    is_between = rng.uniform(size=n_rows) * masses[near] < masses[beside]
    share = np.where(is_between, rng.uniform(size=n_rows), 0.0)
    return np.asarray((1 - share) * peaks[near] + share * peaks[beside])


def drawn_rows(model: Model) -> Float:
    """Draw rows around the words of a model, a few of their readings missing."""
    rows = sample_rows(model, _N_DRAWN)
    unknown = np.random.default_rng(1).random(rows.shape) < _UNKNOWN_SHARE
    return np.where(unknown, np.nan, rows)


def _settled_share(
    model: Model, simulator: Simulator | Run, rows: Float, measured: Float
) -> float | None:
    """Decide on rows in order, and return the share of equal stable decisions."""
    if isinstance(simulator, Run) or simulator.policy is None or model.policy is None:
        return None
    expected = PolicyDecider(model).take(_table(model, rows)).stable_places
    return float((simulator.judge(measured).settled == expected).mean())


def _table(model: Model, rows: Float) -> Table:
    """Write rows as numbers as a table, states by their names."""
    named = []
    for feature, values in zip(model.features, rows.T, strict=True):
        column = values
        if feature.is_coded:
            column = np.array([reading_of(feature, value) for value in values], dtype=object)
        named.append(Column(feature.name, column))
    return Table(tuple(named), len(rows))


def _clipped(model: Model, simulator: Simulator | Run, rows: Float) -> tuple[int, dict[str, int]]:
    """Count the rows of which a reading is clipped, in all and of each feature."""
    if not isinstance(simulator, FixedSimulator):
        return 0, {}
    clipped = simulator.clipped(rows)
    counts = zip(model.features, clipped.sum(axis=0).tolist(), strict=True)
    return int(clipped.any(axis=1).sum()), {one.name: count for one, count in counts if count}


def _numbers(model: Model, beliefs: Float) -> Float:
    """Return the numbers that a model estimates, from the output of its last node."""
    if model.target.is_additive_number:
        return beliefs[:, 0]
    return np.asarray(beliefs @ np.array(model.target.centres))


def _range(model: Model) -> float:
    """Return the range of a target that is a number; of one that is added up, that of estimates."""
    if model.target.is_additive_number:
        return float(np.ptp(_numbers(model, run(model.program, drawn_rows(model)))))
    return float(np.ptp(model.target.centres))


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
