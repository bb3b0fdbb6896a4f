"""Exports a model as C99 or a module for MicroPython, with its Python simulator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from solah.exceptions import ParameterError
from solah.export.c_writer import rules_of, write_c, write_python
from solah.export.fixed_simulator import FixedSimulator
from solah.export.fixed_tables import fixed_tables
from solah.export.float_simulator import FloatSimulator
from solah.export.float_tables import float_tables
from solah.export.layout import lay_out
from solah.export.names import check_identifier, check_module
from solah.export.online import Learner, LearningSimulator, Pace
from solah.export.plain import is_plain, is_small
from solah.export.policy_tables import policy_tables
from solah.export.signal_tables import refuse_counts_of_features, signal_tables
from solah.model.policy import AbstainReason
from solah.signals.stream import SignalStream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from solah.explain.rule_text import Rule
    from solah.export.c_writer import Style
    from solah.export.fixed_signals import FixedFeatures
    from solah.export.signal_tables import SignalTables
    from solah.export.tables import Tables
    from solah.export.units import Counts
    from solah.model.document import Model
    from solah.model.signals import Signals
    from solah.signals.stream import WithPolicy

Numbers = Literal["float", "q15"]


@dataclass(frozen=True, eq=False)
class Export:
    """A model for devices.

    Attributes
    ----------
    name : the name of files and functions
    numbers : the arithmetic: ``"float"`` or ``"q15"``, integers
    files : the texts of its files, by name
    simulator : predicts in Python as the device does, bit for bit
    rules : those that a device may name as reasons, by their numbers
    unit : the size of one unit of scores or of a predicted number
    warnings : what does not fit well into integers
    style : whether the C is a function per feature, or tables
    gives_reasons : whether the firmware names the rules behind a decision
    signals : how readings are computed from samples; None if they are not
    features : the device's arithmetic from samples to features, in integers; None in float32
    """

    name: str
    numbers: Numbers
    files: Mapping[str, str]
    simulator: FloatSimulator | FixedSimulator
    rules: tuple[Rule, ...] = ()
    unit: float = 1.0
    warnings: tuple[str, ...] = ()
    style: Style = "tables"
    gives_reasons: bool = False
    signals: Signals | None = None
    features: FixedFeatures | None = None

    def stream(self) -> SignalStream:
        """Return an object that takes samples and decides as the device does, bit for bit."""
        if self.signals is None:
            raise ParameterError("the model was fitted to readings, not to recordings of signals")
        simulator = self.simulator
        if simulator.policy is None:

            def decide(readings: NDArray[np.float64]) -> tuple[Any, NDArray[Any]]:
                if simulator.is_number:
                    return simulator.estimate(readings)[0], np.empty(0)
                places, beliefs = simulator.decide(readings)
                return int(places[0]), beliefs[0]

            return SignalStream(self.signals, decide, self.features)
        judge = simulator.start_judging()

        def judged(readings: NDArray[np.float64]) -> WithPolicy:
            one = judge.take(readings)
            reasons = AbstainReason(int(one.abstain_reasons[0]))
            return int(one.decisions[0]), one.beliefs[0], int(one.settled[0]), reasons

        return SignalStream(self.signals, judged, self.features)

    @property
    def learns(self) -> bool:
        """Whether the device learns."""
        return isinstance(self.simulator, LearningSimulator)


def export_c(
    model: Model,
    *,
    name: str = "model",
    numbers: Numbers = "float",
    style: Style | None = None,
    reasons: bool = False,
    missing: bool = True,
    adc: Mapping[str, Counts] | None = None,
    learning: Pace | None = None,
) -> Export:
    """Write a model as C99 for devices.

    Parameters
    ----------
    model : Model
        The model file.
    name : str, default="model"
        The name of files and functions.
    numbers : {"float", "q15"}, default="float"
        The arithmetic of the device: float32, or integers alone.
    style : {"plain", "tables"}, default=None
        A function per feature, which a reviewer can read, or tables that one runtime reads. None
        for plain C, unless tables are clearly smaller.
    reasons : bool, default=False
        Whether the device names the rules behind a decision; that takes tables.
    missing : bool, default=True
        Whether a reading may be missing. Without, code is smaller, and all readings must be known.
    adc : mapping of feature name to Counts, default=None
        Features that the device reads as counts of an analog-digital converter. Their thresholds
        are counts then, and no reading is converted. In a model of samples, channels.
    learning : Pace, default=None
        How fast the device learns; None if it does not. Learning is done in integers.

    Returns
    -------
    export : Export

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.export import export_c
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> export = export_c(model, name="wine", numbers="q15")
    >>> sorted(file for file in export.files if not file.startswith("solah"))
    ['wine.c', 'wine.h']
    """
    check_identifier(name)
    if numbers not in ("float", "q15"):
        raise ParameterError(f"'numbers' must be 'float' or 'q15'. Got {numbers!r} instead.")
    if learning is not None:
        if style == "plain" or not missing or (adc and model.signals is None):
            raise ParameterError(
                "a device that learns has tables, readings may be missing, and are not counts"
            )
        export = _learning(model, name, numbers, learning, adc)
        return replace(export, gives_reasons=reasons)
    if adc and numbers != "q15":
        raise ParameterError("counts of an ADC are for integers (--arithmetic q15)")
    layout = lay_out(model)
    if not missing:
        layout = replace(layout, stages=tuple(replace(one, lost=None) for one in layout.stages))
    tables: Tables
    tables = (
        float_tables(layout)
        if numbers == "float"
        else fixed_tables(layout, counts=None if model.signals else adc)
    )
    style = _style(model, tables, style, reasons)
    policy = policy_tables(model, tables) if style == "tables" else None
    signals = signal_tables(model, tables.units if tables.is_fixed else None, adc)
    files = write_c(
        model, tables, name, policy=policy, style=style, missing=missing, signals=signals
    )
    export = _export(model, name, files, tables, policy, signals)
    return replace(export, style=style, gives_reasons=reasons)


def export_micropython(
    model: Model, *, name: str = "model", adc: Mapping[str, Counts] | None = None
) -> Export:
    """Write a model as one module for MicroPython, which computes in integers.

    Parameters
    ----------
    model : Model
        The model file.
    name : str, default="model"
        The name of the module.
    adc : mapping of channel name to Counts, default=None
        The channels of samples that are counts of an analog-digital converter.

    Returns
    -------
    export : Export

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export import export_micropython
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    >>> sorted(export_micropython(tree.model_, name="iris").files)
    ['iris.py', 'iris_rules.py']
    """
    check_module(name)
    refuse_counts_of_features(model, adc)
    tables = fixed_tables(lay_out(model))
    policy = policy_tables(model, tables)
    signals = signal_tables(model, tables.units, adc)
    files = write_python(model, tables, name, policy, signals)
    return _export(model, name, files, tables, policy, signals)


def _style(model: Model, tables: Tables, wanted: Style | None, reasons: bool) -> Style:
    """Choose between plain C and tables: the smaller one, if both can do what is asked for."""
    if wanted not in (None, "plain", "tables"):
        raise ParameterError(f"'style' must be 'plain' or 'tables'. Got {wanted!r} instead.")
    obstacles = {
        "reasons": reasons,
        "policy": model.policy is not None,
        "trees or inner nodes": not is_plain(tables),
    }
    found = [what for what, is_there in obstacles.items() if is_there]
    if wanted == "plain" and found:
        raise ParameterError(f"plain C has no {found[0]}; pass style='tables' (--style tables)")
    if wanted is not None:
        return wanted
    return "plain" if not found and is_small(tables) else "tables"


def _learning(
    model: Model, name: str, numbers: Numbers, pace: Pace, adc: Mapping[str, Counts] | None
) -> Export:
    if numbers != "q15":
        raise ParameterError(
            f"a device learns in integers: numbers='q15'. Got {numbers!r} instead."
        )
    learner = Learner(model, pace=pace.pace, forgetting=pace.forgetting)
    policy = policy_tables(model, learner.tables)
    signals = signal_tables(model, learner.tables.units, adc)
    files = write_c(model, learner.tables, name, pace, policy, signals=signals)
    learner.simulator.policy = policy
    export = _export(model, name, files, learner.tables, signals=signals)
    return replace(export, simulator=learner.simulator)


def _export(
    model: Model,
    name: str,
    files: Mapping[str, str],
    tables: Tables,
    policy: Any = None,
    signals: SignalTables | None = None,
) -> Export:
    rules = rules_of(model, tables.layout)
    computed = None if signals is None else signals.signals
    if not tables.is_fixed:
        simulator = FloatSimulator(tables, policy)
        return Export(name, "float", files, simulator, rules, signals=computed)
    fixed = FixedSimulator(tables, policy)
    export = Export(name, "q15", files, fixed, rules, fixed.unit, tables.warnings)
    return replace(export, signals=computed, features=signals.fixed if signals else None)
