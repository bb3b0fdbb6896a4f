"""Export a model document as C, with its Python simulator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from solah.exceptions import ParameterError
from solah.export.c_writer import rules_of, write_c, write_python
from solah.export.costs import model_costs
from solah.export.fixed_simulator import FixedSimulator
from solah.export.fixed_tables import FixedTables, fixed_tables
from solah.export.float_simulator import FloatSimulator
from solah.export.float_tables import float_tables
from solah.export.judging import lower_policy
from solah.export.layout import lay_out
from solah.export.names import check_identifier, check_module
from solah.export.online import Learner, LearningSimulator, Pace
from solah.export.plain import is_plain, is_small
from solah.model.policy import AbstainReason
from solah.signals.stream import SignalStream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from solah.explain.rule_text import Rule
    from solah.export.c_writer import Style
    from solah.export.float_tables import FloatTables
    from solah.export.policy_tables import Judge, PolicyTables
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
    name : what files and functions are called
    numbers : what it computes with: ``"float"`` or ``"q15"``, integers
    files : the texts of its files, by name
    simulator : decides in Python as the device does, bit for bit
    rules : those that a device may name as reasons, by their numbers
    unit : what one unit of evidence or of an estimated number is worth
    warnings : what does not fit well into integers
    style : whether the C is a function per feature, or tables
    signals : how readings are made of samples; None if they are not
    """

    name: str
    numbers: Numbers
    files: Mapping[str, str]
    simulator: FloatSimulator | FixedSimulator
    rules: tuple[Rule, ...] = ()
    unit: float = 1.0
    warnings: tuple[str, ...] = ()
    style: Style = "tables"
    signals: Signals | None = None

    def stream(self) -> SignalStream:
        """Return what takes samples and decides as the device does, bit for bit."""
        if self.signals is None:
            raise ParameterError("the model has no signals; it decides on readings")

        if self.simulator.policy is not None:
            return SignalStream(self.signals, _judging(self.simulator.start_judging()))

        def decide(readings: NDArray[np.float64]) -> tuple[Any, NDArray[Any]]:
            if self.simulator.is_number:
                return self.simulator.estimate(readings)[0], np.empty(0)
            places, beliefs = self.simulator.decide(readings)
            return int(places[0]), beliefs[0]

        return SignalStream(self.signals, decide)

    @property
    def learns(self) -> bool:
        """Whether the device learns."""
        return isinstance(self.simulator, LearningSimulator)


def _judging(judge: Judge) -> Callable[[NDArray[np.float64]], WithPolicy]:
    def decide(readings: NDArray[np.float64]) -> WithPolicy:
        found = judge.take(readings)
        abstain_reasons = AbstainReason(int(found.abstain_reasons[0]))
        return int(found.decisions[0]), found.beliefs[0], int(found.settled[0]), abstain_reasons

    return decide


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
    max_flash: int | None = None,
) -> Export:
    """Write a model as C99 for devices.

    Parameters
    ----------
    model : Model
        The model document.
    name : str, default="model"
        What files and functions are called.
    numbers : {"float", "q15"}, default="float"
        What the device computes with: float32, or integers alone.
    style : {"plain", "tables"}, default=None
        A function per feature, which a reviewer can read, or tables that one runtime reads. None
        for what is smaller.
    reasons : bool, default=False
        Whether the device names the rules behind a decision; that takes tables.
    missing : bool, default=True
        Whether a reading may be missing. Without, code is smaller, and all readings must be known.
    adc : mapping of feature name to Counts, default=None
        Features that the device reads as counts of an analog-digital converter. Their thresholds
        are counts then, and no reading is converted.
    learning : Pace, default=None
        How fast the device learns; None where it does not. Learning is done in integers.
    max_flash : int, default=None
        How many bytes code and tables may take on a Cortex-M0+, as
        :func:`~solah.export.costs.model_costs` estimates them; None for any number.

    Returns
    -------
    export : Export

    Raises
    ------
    ParameterError
        The model takes more than ``max_flash``.

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
    if max_flash is not None:
        _check_flash(model, numbers, learning, max_flash)
    if learning is not None:
        if style == "plain" or not missing or adc:
            raise ParameterError(
                "a device that learns has tables, readings may be missing, and are no counts"
            )
        export = _learning(model, name, numbers, learning)
    else:
        if adc and (numbers != "q15" or model.signals is not None):
            raise ParameterError(
                "counts of an ADC are for models of readings in integers (--arithmetic q15)"
            )
        export = _exported(model, name, numbers, style, reasons, missing, adc)
    return replace(export, signals=_asked_signals(model))


def _check_flash(model: Model, numbers: Numbers, learning: Pace | None, max_flash: int) -> None:
    """Refuse a model that is too large: rules that go after a fit take accuracy with them."""
    if learning is not None:
        raise ParameterError(
            "'max_flash' does not know what learning costs; fit with fewer rules instead "
            "(--max-rules N)"
        )
    if max_flash < 1:
        raise ParameterError(f"'max_flash' must be at least 1 byte. Got {max_flash!r} instead.")
    flash = model_costs(model, numbers).flash
    if flash > max_flash:
        integers = ", or compute in integers (--arithmetic q15)" if numbers == "float" else ""
        raise ParameterError(
            f"the model takes about {flash:,} bytes of flash, and 'max_flash' allows "
            f"{max_flash:,}: fit with fewer rules (--max-rules N){integers}"
        )


def _asked_signals(model: Model) -> Signals | None:
    """Return how the readings are made that the model asks for; None if samples make none."""
    return model.signals and model.signals.only([one.name for one in model.features])


def _exported(
    model: Model,
    name: str,
    numbers: Numbers,
    style: Style | None,
    reasons: bool,
    missing: bool,
    adc: Mapping[str, Counts] | None,
) -> Export:
    layout = lay_out(model)
    if not missing:
        layout = replace(layout, stages=tuple(replace(one, lost=None) for one in layout.stages))
    tables: FloatTables | FixedTables
    if numbers == "float":
        tables = float_tables(layout)
    elif numbers == "q15":
        tables = fixed_tables(layout, counts=adc)
    else:
        raise ParameterError(f"'numbers' must be 'float' or 'q15'. Got {numbers!r} instead.")
    style = _style(model, tables, style, reasons)
    policy = lower_policy(model, tables) if style == "tables" else None
    files = write_c(model, tables, name, policy=policy, style=style, missing=missing)
    if isinstance(tables, FixedTables):
        return replace(_in_integers(model, name, files, tables, policy), style=style)
    simulator = FloatSimulator(tables, policy)
    return Export(name, numbers, files, simulator, rules_of(model, layout), style=style)


def _style(
    model: Model, tables: FloatTables | FixedTables, wanted: Style | None, reasons: bool
) -> Style:
    """Choose between plain C and tables: what is smaller, where both can do what is asked for."""
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


def export_micropython(model: Model, *, name: str = "model") -> Export:
    """Write a model as one module for MicroPython, which computes in integers.

    Parameters
    ----------
    model : Model
        The model document.
    name : str, default="model"
        What the module is called.

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
    tables = fixed_tables(lay_out(model))
    policy = lower_policy(model, tables)
    files = write_python(model, tables, name, policy)
    export = _in_integers(model, name, files, tables, policy)
    return replace(export, signals=_asked_signals(model))


def _learning(model: Model, name: str, numbers: Numbers, pace: Pace) -> Export:
    if numbers != "q15":
        raise ParameterError(
            f"a device learns in integers: numbers='q15'. Got {numbers!r} instead."
        )
    learner = Learner(model, pace=pace.pace, forgetting=pace.forgetting)
    policy = lower_policy(model, learner.tables)
    files = write_c(model, learner.tables, name, pace, policy)
    learner.simulator.policy = policy
    return replace(_in_integers(model, name, files, learner.tables), simulator=learner.simulator)


def _in_integers(
    model: Model,
    name: str,
    files: Mapping[str, str],
    tables: FixedTables,
    policy: PolicyTables | None = None,
) -> Export:
    simulator, rules = FixedSimulator(tables, policy), rules_of(model, tables.layout)
    return Export(name, "q15", files, simulator, rules, simulator.unit, tables.warnings)
