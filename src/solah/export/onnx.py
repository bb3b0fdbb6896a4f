"""Export a model as an ONNX graph of standard operators, which computes in doubles.

It runs the program of the model (:mod:`solah.model.program`). Memberships, weights, scores, outputs
and decisions are matrices with a line for each row of readings.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from importlib.metadata import version
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, require
from solah.export.names import check_identifier
from solah.export.programs import (
    Program,
    Run,
    as_walk,
    missing_axes,
    refuse_large_states,
    refuse_nul,
    state_bounds,
)
from solah.model.format import model_hash
from solah.model.program import AxisKind, Link
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature
    from solah.model.program import Axis, Stage, Term, Walk

# What onnxruntime knows since version 1.12.
_OPSET, _ML_OPSET, _IR_VERSION = 17, 3, 8
_ML = "ai.onnx.ml"


def export_onnx(model: Model, *, name: str = "model") -> Program:
    """Write a model as an ONNX graph.

    It has one input for each feature, by its name, of shape ``(n_rows, 1)``: doubles, NaN for an
    missing reading; for a feature whose states are texts, strings, of which any that is unseen
    is missing. Its outputs are ``label`` and ``probabilities``, or ``variable`` for a number.

    Parameters
    ----------
    model : Model
        The model file.
    name : str, default="model"
        What the file is called.

    Returns
    -------
    program : Program
        One file, ``NAME.onnx``. Its ``simulator`` runs it with the reference implementation of
        ONNX.

    Raises
    ------
    ParameterError
        If the model reads nothing: then a graph could not have the number of rows.
    MissingExtraError
        If the package ``onnx`` is not installed.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export import export_onnx
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    >>> sorted(export_onnx(tree.model_, name="iris").files)
    ['iris.onnx']
    """
    check_identifier(name)
    refuse_nul(model, "ONNX")
    refuse_large_states(model, "ONNX")
    onnx = require("onnx", "onnx", "writing ONNX")
    if not model.program.read_features:
        raise ParameterError("the model asks for no reading, and an ONNX graph needs an input")
    written = _Writer(model, onnx).model(name)
    onnx.checker.check_model(written, full_check=True)
    data = written.SerializeToString(deterministic=True)
    return Program(name, {f"{name}.onnx": data}, _ReferenceRun(model, data))


class _Graph:
    """Collects the operators of a graph, and names what they compute."""

    def __init__(self, onnx: Any, taken: Sequence[str]) -> None:
        self._onnx = onnx
        self._taken = set(taken)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str = "", **settings: Any) -> str:
        """Add an operator; return the name of its output."""
        output = output or self._fresh(operator.lower())
        made = self._onnx.helper.make_node(operator, list(inputs), [output], **settings)
        self.nodes.append(made)
        return output

    def constant(self, values: Any) -> str:
        """Add a constant array; return its name."""
        name = self._fresh("constant")
        array = np.asarray(values)
        if array.dtype.kind == "U":
            array = array.astype(object)
        self.constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _fresh(self, kind: str) -> str:
        name = fresh_name(f"{kind}_{len(self._taken)}", self._taken)
        self._taken.add(name)
        return name


class _Writer:
    """Writes the graph of a model.

    Parameters
    ----------
    model : Model
    onnx : the package
    """

    def __init__(self, model: Model, onnx: Any) -> None:
        self._model = model
        self._program = model.program
        self._onnx = onnx
        self._inputs = [model.features[j] for j in self._program.read_features]
        names = [one.name for one in self._inputs]
        outputs = ("label", "probabilities") if model.target.classes else ("variable",)
        self._outputs = [fresh_name(output, names) for output in outputs]
        self._graph = _Graph(onnx, [*names, *self._outputs])
        self._stages: list[str] = []
        self._memberships: dict[int, str] = {}
        self._categories: dict[int, str] = {}
        self._missing: dict[int, str] = {}

    def model(self, name: str) -> Any:
        """Return the ONNX model."""
        for j in self._program.read_features:
            self._read(j)
        for stage in self._program.stages:
            self._stages.append(self._stage(stage))
        self._decide(self._stages[-1])
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._graph.nodes,
            name,
            [self._declared_input(one) for one in self._inputs],
            self._declared_outputs(),
            self._graph.constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ML, _ML_OPSET)]
        written = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=_IR_VERSION,
            producer_name="solah",
            producer_version=version("solah"),
        )
        about = {"target": self._model.target.name, "model_hash": model_hash(self._model)}
        helper.set_model_props(written, about)
        return written

    def _declared_input(self, feature: Feature) -> Any:
        kinds = self._onnx.TensorProto
        kind = kinds.STRING if _is_text(feature) else kinds.DOUBLE
        return self._onnx.helper.make_tensor_value_info(feature.name, kind, [None, 1])

    def _declared_outputs(self) -> list[Any]:
        kinds, declare = self._onnx.TensorProto, self._onnx.helper.make_tensor_value_info
        target = self._model.target
        if not target.classes:
            return [declare(self._outputs[0], kinds.DOUBLE, [None, 1])]
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(_label_array(target.classes).dtype)
        return [
            declare(self._outputs[0], kind, [None]),
            declare(self._outputs[1], kinds.DOUBLE, [None, target.size]),
        ]

    def _read(self, j: int) -> None:
        """Find the category of a reading, and where it is missing."""
        add, constant, feature = self._graph.add, self._graph.constant, self._model.features[j]
        name = feature.name
        if not feature.is_coded:
            self._missing[j] = add("IsNaN", name)
            return
        if _is_text(feature):
            states = list(feature.categories)
            code = add(
                "LabelEncoder",
                name,
                domain=_ML,
                keys_strings=states,
                values_int64s=list(range(len(states))),
                default_int64=-1,
            )
            is_category = add("Equal", code, constant(np.arange(len(states))[None]))
        else:
            numbers = [state for state in feature.categories if not isinstance(state, str)]
            ends = np.array(state_bounds(numbers) or [(math.nan, math.nan)])
            low, high = (constant(end[None]) for end in ends.T)
            is_low, is_high = add("GreaterOrEqual", name, low), add("LessOrEqual", name, high)
            is_category = add("And", is_low, is_high)
        self._categories[j] = shares = self._number(is_category)
        total = add("ReduceSum", shares, constant(np.array([1])))
        self._missing[j] = add("Less", total, constant(np.array([[0.5]])))

    def _number(self, flags: str) -> str:
        return self._graph.add("Cast", flags, to=self._onnx.TensorProto.DOUBLE)

    def _axis(self, a: int) -> str:
        """Compute the memberships of an axis, once for all terms."""
        if a not in self._memberships:
            self._memberships[a] = self._new_axis(self._program.axes[a])
        return self._memberships[a]

    def _new_axis(self, axis: Axis) -> str:
        add, constant = self._graph.add, self._graph.constant
        if axis.kind is AxisKind.ALL_BELIEFS:
            return self._stages[axis.source]
        if axis.kind is AxisKind.ONE_BELIEF:
            output = constant(np.array([axis.output]))
            return self._hats(add("Gather", self._stages[axis.source], output, axis=1), axis)
        if axis.kind is AxisKind.CATEGORY:
            known = self._categories[axis.source]
        else:
            known = self._hats(self._model.features[axis.source].name, axis)
        return add("Where", self._missing[axis.source], constant(axis.missing[None]), known)

    def _hats(self, reading: str, axis: Axis) -> str:
        """Compute memberships that are linear between neighbouring peaks, and level beyond them."""
        add, constant, size = self._graph.add, self._graph.constant, axis.size
        if size == 1:
            return constant(np.ones((1, 1)))
        way = add("Sub", reading, constant(axis.peaks[None, :-1]))
        shares = add("Div", way, constant(np.diff(axis.peaks)[None]))
        shares = add("Clip", shares, constant(np.array(0.0)), constant(np.array(1.0)))
        moved = add("MatMul", shares, constant(np.eye(size - 1, size, 1) - np.eye(size - 1, size)))
        return add("Add", moved, constant(np.eye(1, size)))

    def _term(self, term: Term) -> str:
        """Compute what a term adds: the average of the rules that a row reaches."""
        add, constant, walk = self._graph.add, self._graph.constant, as_walk(term.cells)
        asked = sorted(set(walk.split[walk.split >= 0].tolist()))
        sizes = {place: self._program.axes[term.axes[place]].size for place in asked}
        memberships = [self._axis(term.axes[place]) for place in asked]
        beside = add("Concat", *memberships, axis=1) if len(asked) > 1 else "".join(memberships)
        parts = []
        for rules, columns in _paths_by_depth(walk, sizes):
            shares = [add("Gather", beside, constant(column), axis=1) for column in columns]
            product = reduce(partial(add, "Mul"), shares) if shares else self._ones()
            parts.append(add("MatMul", product, constant(term.weights[rules])))
        average = reduce(partial(add, "Add"), parts)
        if term.missing is None:
            return average
        source = self._program.axes[term.axes[0]].source
        return add("Where", self._missing[source], constant(term.missing[None]), average)

    def _ones(self) -> str:
        """Make a column of ones, one for each row."""
        flags = self._number(self._missing[self._program.read_features[0]])
        return self._graph.add("Max", flags, self._graph.constant(np.array([[1.0]])))

    def _stage(self, stage: Stage) -> str:
        add, constant = self._graph.add, self._graph.constant
        parts = [self._term(term) for term in stage.terms]
        for group in stage.groups:
            parts.append(reduce(partial(add, "Add"), [parts[part] for part in group.parts]))
        scores = add("Add", parts[-1], constant(stage.baseline[None]))
        if stage.link is Link.NUMBER:
            return scores
        if stage.link is Link.EXP:
            ends = constant(np.array(-80.0)), constant(np.array(80.0))
            return add("Exp", add("Clip", scores, *ends))
        if stage.link is Link.SHARES:
            return add("Min", scores, constant(np.array([[1.0]])))
        return add("Softmax", self._damped(stage, parts[-1], scores), axis=1)

    def _damped(self, stage: Stage, total: str, scores: str) -> str:
        """Compute scores beside missing terms (see :mod:`solah.model.program`)."""
        add, constant = self._graph.add, self._graph.constant
        lost = [
            (reduce(partial(add, "Or"), [self._missing[axis.source] for axis in axes]), term)
            for term in stage.terms
            if (axes := missing_axes(term, self._program.axes))
        ]
        start = stage.log_prior
        if start is None or not lost:
            return scores
        flags = [where for where, _ in lost]
        missing = self._number(add("Concat", *flags, axis=1) if len(flags) > 1 else flags[0])
        share = add("MatMul", missing, constant(np.array([[term.share] for _, term in lost])))
        variance = add("MatMul", missing, constant(np.array([[term.variance] for _, term in lost])))
        known = add("Sub", constant(np.array([[1.0]])), share)
        lean = add("Add", add("Mul", known, constant((stage.baseline - start)[None])), total)
        weaker = add("Mul", variance, constant(np.array([[math.pi / 8.0]])))
        root = add("Sqrt", add("Add", weaker, constant(np.array([[1.0]]))))
        damped = add("Add", add("Div", lean, root), constant(start[None]))
        is_partly = add("Greater", variance, constant(np.array([[0.0]])))
        return add("Where", is_partly, damped, scores)

    def _decide(self, outputs: str) -> None:
        add, constant, program = self._graph.add, self._graph.constant, self._program
        states = self._model.target.classes
        if states:
            preferred = outputs
            if program.thresholds is not None:
                preferred = add("Div", outputs, constant(program.thresholds[None]))
            index = add("ArgMax", preferred, axis=1, keepdims=0)
            add("Gather", constant(_label_array(states)), index, output=self._outputs[0])
            add("Identity", outputs, output=self._outputs[1])
        elif program.centres is None:
            add("Identity", outputs, output=self._outputs[0])
        else:
            add("MatMul", outputs, constant(program.centres[:, None]), output=self._outputs[0])


def _is_text(feature: Feature) -> bool:
    return feature.is_coded and any(isinstance(state, str) for state in feature.categories)


def _label_array(states: Sequence[State]) -> Any:
    array = np.array(states)
    return array.astype(object) if array.dtype.kind == "U" else array


def _paths_by_depth(walk: Walk, sizes: dict[int, int]) -> list[tuple[list[int], list[Any]]]:
    """List the rules at each depth, and which membership is at each step of the way to them.

    ``sizes`` has the sizes of the axes whose memberships are side by side.
    """
    first = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
    ways: dict[int, list[int]] = {0: []}
    by_depth: dict[int, list[tuple[int, list[int]]]] = {}
    pairs = zip(walk.split.tolist(), walk.child.tolist(), strict=True)
    for node, (split, child) in enumerate(pairs):  # children are behind their parents
        way = ways.pop(node)
        if split < 0:
            by_depth.setdefault(len(way), []).append((child, way))
            continue
        for k in range(sizes[split]):
            ways[child + k] = [*way, first[split] + k]
    return [
        ([rule for rule, _ in paths], list(np.array([way for _, way in paths], dtype=np.int64).T))
        for paths in by_depth.values()
    ]


class _ReferenceRun(Run):
    """Runs a graph with the reference implementation of ONNX."""

    def __init__(self, model: Model, data: bytes) -> None:
        super().__init__(model)
        self._read = model.program.read_features
        self._states = model.target.classes
        self._data = data

    def _answers(self, columns: list[list[State | None]]) -> Float:
        reference = require("onnx.reference", "onnx", "running ONNX")
        run = reference.ReferenceEvaluator(self._data)
        feeds = {self._features[j].name: _column(self._features[j], columns[j]) for j in self._read}
        label, *beliefs = run.run(None, feeds)
        if not self._states:
            return np.asarray(label, dtype=np.float64)
        places = [[self._states.index(state)] for state in label.tolist()]
        return np.hstack([np.array(places, dtype=np.float64), *beliefs])


def _column(feature: Feature, readings: list[State | None]) -> Any:
    if not _is_text(feature):
        return np.array([[math.nan if one is None else one] for one in readings], dtype=np.float64)
    unknown = fresh_name("", set(map(str, feature.categories)))
    return np.array([[unknown if one is None else one] for one in readings], dtype=object)
