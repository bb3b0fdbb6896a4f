"""Export a model as an ONNX graph of standard operators, which computes in doubles.

The mass of a reading on the focal sets, what goes up from trees and fusions, and the decision are
matrices with a row for each row of readings.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from importlib.metadata import version
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, require
from solah.export.names import check_identifier
from solah.export.programs import (
    Program,
    Run,
    lossy_trees,
    refuse_large_states,
    refuse_nul,
    state_bounds,
)
from solah.model.beliefs import evidence_shares, fusion_inputs, measured_by
from solah.model.document import Fusion, Task, Tree
from solah.model.format import model_hash
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model

# What onnxruntime knows since version 1.12.
_OPSET, _ML_OPSET, _IR_VERSION = 17, 3, 8
_ML = "ai.onnx.ml"


def export_onnx(model: Model, *, name: str = "model") -> Program:
    """Write a model as an ONNX graph.

    It has one input for each attribute, by its name, of shape ``(n_rows, 1)``: doubles, NaN for an
    unknown reading; for an attribute whose states are texts, strings, of which any that is no state
    is unknown. Its outputs are ``label`` and ``probabilities``, or ``variable`` for a number.

    Parameters
    ----------
    model : Model
        The model document.
    name : str, default="model"
        What the file is called.

    Returns
    -------
    program : Program
        One file, ``NAME.onnx``. Its ``twin`` runs it with the reference implementation of ONNX.

    Raises
    ------
    ParameterError
        If the model asks for nothing: then a graph could not tell how many rows there are.
    MissingExtraError
        If the package ``onnx`` is not installed.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export import export_onnx
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.goal)
    >>> sorted(export_onnx(tree.model_, name="iris").files)
    ['iris.onnx']
    """
    check_identifier(name)
    refuse_nul(model, "ONNX")
    refuse_large_states(model, "ONNX")
    onnx = require("onnx", "onnx", "writing ONNX")
    if not measured_by(model.nodes):
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
        self._onnx = onnx
        measured = {one.name for one in measured_by(model.nodes)}
        self._inputs = [one for one in model.attributes if one.name in measured]
        names = [one.name for one in self._inputs]
        outputs = ("label", "probabilities") if model.goal.states else ("variable",)
        self._outputs = [fresh_name(output, names) for output in outputs]
        self._graph = _Graph(onnx, [*names, *self._outputs])
        self._weighed = fusion_inputs(model.nodes)
        self._signals: dict[str, str] = {}
        self._described: dict[object, str] = {}
        self._known_states: dict[str, str] = {}
        self._unknown: dict[str, str] = {}

    def model(self, name: str) -> Any:
        """Return the ONNX model."""
        for attribute in self._inputs:
            self._read(attribute)
        for node in self._model.nodes:
            signal = self._tree(node) if isinstance(node, Tree) else self._fusion(node)
            self._signals[node.name] = signal
        self._decide(self._signals[self._model.root.name])
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
        about = {"goal": self._model.goal.name, "model_hash": model_hash(self._model)}
        helper.set_model_props(written, about)
        return written

    def _declared_input(self, attribute: Attribute) -> Any:
        kinds = self._onnx.TensorProto
        kind = kinds.STRING if _is_text(attribute) else kinds.DOUBLE
        return self._onnx.helper.make_tensor_value_info(attribute.name, kind, [None, 1])

    def _declared_outputs(self) -> list[Any]:
        kinds, declare = self._onnx.TensorProto, self._onnx.helper.make_tensor_value_info
        goal = self._model.goal
        if not goal.states:
            return [declare(self._outputs[0], kinds.DOUBLE, [None, 1])]
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(_label_array(goal.states).dtype)
        return [
            declare(self._outputs[0], kind, [None]),
            declare(self._outputs[1], kinds.DOUBLE, [None, goal.size]),
        ]

    def _read(self, attribute: Attribute) -> None:
        """Find out which states were read, and where a reading is unknown."""
        add, constant, name = self._graph.add, self._graph.constant, attribute.name
        if not attribute.is_coded:
            self._unknown[name] = add("IsNaN", name)
            return
        places = np.arange(attribute.n_focal_sets)[None]
        if _is_text(attribute):
            states = list(attribute.states)
            code = add(
                "LabelEncoder",
                name,
                domain=_ML,
                keys_strings=states,
                values_int64s=list(range(len(states))),
                default_int64=-1,
            )
            is_state = add("Equal", code, constant(places))
        else:
            numbers = [state for state in attribute.states if not isinstance(state, str)]
            ends = np.array(state_bounds(numbers) or [(math.nan, math.nan)])
            low, high = (constant(end[None]) for end in ends.T)
            is_state = add("And", add("GreaterOrEqual", name, low), add("LessOrEqual", name, high))
        shares = add("Cast", is_state, to=self._onnx.TensorProto.DOUBLE)
        total = add("MatMul", shares, constant(np.ones((places.size, 1))))
        self._known_states[name] = shares
        self._unknown[name] = add("Less", total, constant(np.array([[0.5]])))

    def _masses(self, attribute: Attribute) -> str:
        """Compute the masses of an input on its focal sets, once for all trees that ask for it."""
        if attribute.name in self._signals:
            return self._signals[attribute.name]
        described = attribute.name, attribute.peaks, attribute.ignorance
        if described not in self._described:
            self._described[described] = self._new_masses(attribute)
        return self._described[described]

    def _new_masses(self, attribute: Attribute) -> str:
        add, constant = self._graph.add, self._graph.constant
        if attribute.tree is not None:
            beliefs, place = self._signals[attribute.tree], constant(np.array([attribute.place]))
            return self._hats(add("Gather", beliefs, place, axis=1), attribute)
        if attribute.is_coded:
            masses = self._known_states[attribute.name]
        else:
            masses = self._hats(attribute.name, attribute)
        ignorance = constant(np.array([attribute.ignorance]))
        return add("Where", self._unknown[attribute.name], ignorance, masses)

    def _hats(self, reading: str, attribute: Attribute) -> str:
        """Compute masses that are linear between neighbouring peaks, and whole beyond the ends."""
        add, constant = self._graph.add, self._graph.constant
        size = attribute.n_focal_sets
        if size == 1:
            return constant(np.ones((1, 1)))
        gaps = [high - low for low, high in pairwise(attribute.peaks)]
        way = add("Sub", reading, constant(np.array([attribute.peaks[:-1]])))
        shares = add("Div", way, constant(np.array([gaps])))
        shares = add("Clip", shares, constant(np.array(0.0)), constant(np.array(1.0)))
        moved = add("MatMul", shares, constant(np.eye(size - 1, size, 1) - np.eye(size - 1, size)))
        return add("Add", moved, constant(np.eye(1, size)))

    def _tree(self, tree: Tree) -> str:
        """Compute what goes up from a tree: the average of its leaves' scores."""
        add, constant = self._graph.add, self._graph.constant
        is_weighed = tree.name in self._weighed
        scores = tree.evidence if is_weighed else tree.belief
        asked = sorted(set(tree.split[tree.split >= 0].tolist()))
        masses = [self._masses(tree.inputs[place]) for place in asked]
        beside = add("Concat", *masses, axis=1) if len(masses) > 1 else "".join(masses)
        parts = []
        for paths in _paths_by_depth(tree, asked):
            columns = np.array(list(paths.values()), dtype=np.int64).T
            shares = [add("Gather", beside, constant(column), axis=1) for column in columns]
            weights = reduce(partial(add, "Mul"), shares) if shares else self._ones()
            parts.append(add("MatMul", weights, constant(scores[list(paths)])))
        average = reduce(partial(add, "Add"), parts)
        if not is_weighed:
            return add("Min", average, constant(np.array([[1.0]])))
        if tree.missing is None:
            return average
        missing = constant(np.array([tree.missing.scores]))
        return add("Where", self._unknown[tree.inputs[0].name], missing, average)

    def _ones(self) -> str:
        """Make a column of ones, as long as the rows are many."""
        flag = self._graph.add(
            "Cast", self._unknown[self._inputs[0].name], to=self._onnx.TensorProto.DOUBLE
        )
        return self._graph.add("Max", flag, self._graph.constant(np.array([[1.0]])))

    def _fusion(self, fusion: Fusion) -> str:
        add, constant = self._graph.add, self._graph.constant
        parts = [self._signals[name] for name in fusion.origins]
        evidence = reduce(partial(add, "Add"), parts)
        if fusion.name in self._weighed:
            return evidence
        plain = add("Add", evidence, constant(np.array([fusion.bias])))
        if self._model.goal.is_additive_number:
            return plain
        return add("Softmax", self._damped(fusion, evidence, plain), axis=1)

    def _damped(self, fusion: Fusion, evidence: str, plain: str) -> str:
        """Weaken evidence beside what is unknown of it (`solah.model.program`)."""
        add, constant = self._graph.add, self._graph.constant
        trees = lossy_trees(self._model, fusion)
        if not trees:
            return plain
        lost = [self._is_lost(tree) for tree in trees]
        flags = add("Concat", *lost, axis=1) if len(lost) > 1 else lost[0]
        shares = evidence_shares(self._model.nodes)
        table = np.array([[shares[tree.name], tree.variance] for tree in trees])
        many = add("Cast", flags, to=self._onnx.TensorProto.DOUBLE)
        share = add("MatMul", many, constant(table[:, :1]))
        variance = add("MatMul", many, constant(table[:, 1:]))
        start, bias = self._model.goal.log_prior, np.array(fusion.bias)
        known = add("Sub", constant(np.array([[1.0]])), share)
        leaning = add("Add", add("Mul", known, constant((bias - start)[None])), evidence)
        weaker = add("Mul", variance, constant(np.array([[math.pi / 8.0]])))
        root = add("Sqrt", add("Add", weaker, constant(np.array([[1.0]]))))
        damped = add("Add", add("Div", leaning, root), constant(start[None]))
        is_partly = add("Greater", variance, constant(np.array([[0.0]])))
        return add("Where", is_partly, damped, plain)

    def _is_lost(self, tree: Tree) -> str:
        """Find the rows of which a tree does not know all readings."""
        flags = [self._unknown[name] for name in tree.origins if name in self._unknown]
        return reduce(partial(self._graph.add, "Or"), flags)

    def _decide(self, belief: str) -> None:
        add, constant, goal = self._graph.add, self._graph.constant, self._model.goal
        if goal.is_additive_number:
            add("Identity", belief, output=self._outputs[0])
        elif goal.task is Task.REGRESSION:
            add(
                "MatMul", belief, constant(np.array(goal.centres)[:, None]), output=self._outputs[0]
            )
        else:
            preferred = belief
            if goal.thresholds:
                preferred = add("Div", belief, constant(np.array([goal.thresholds])))
            place = add("ArgMax", preferred, axis=1, keepdims=0)
            add("Gather", constant(_label_array(goal.states)), place, output=self._outputs[0])
            add("Identity", belief, output=self._outputs[1])


def _is_text(attribute: Attribute) -> bool:
    return attribute.is_coded and any(isinstance(state, str) for state in attribute.states)


def _label_array(states: Sequence[State]) -> Any:
    array = np.array(states)
    return array.astype(object) if array.dtype.kind == "U" else array


def _paths_by_depth(tree: Tree, asked: Sequence[int]) -> list[dict[int, list[int]]]:
    """Return the leaves of each depth, with the places of the masses on the way to each.

    The masses of the inputs that are asked stand side by side.
    """
    sizes = [tree.inputs[place].n_focal_sets for place in asked]
    first = dict(zip(asked, accumulate(sizes, initial=0), strict=False))
    ways: dict[int, list[int]] = {0: []}
    by_depth: dict[int, dict[int, list[int]]] = {}
    for node in range(len(tree.split)):  # children stand behind their parents
        way = ways.pop(node)
        if tree.split[node] < 0:
            by_depth.setdefault(len(way), {})[node] = way
            continue
        for k, child in enumerate(tree.children(node)):
            ways[child] = [*way, first[int(tree.split[node])] + k]
    return list(by_depth.values())


class _ReferenceRun(Run):
    """Runs a graph with the reference implementation of ONNX."""

    def __init__(self, model: Model, data: bytes) -> None:
        super().__init__(model)
        self._measured = {one.name for one in measured_by(model.nodes)}
        self._states = model.goal.states
        self._data = data

    def _answers(self, columns: list[list[State | None]]) -> Float:
        reference = require("onnx.reference", "onnx", "running ONNX")
        run = reference.ReferenceEvaluator(self._data)
        feeds = {
            one.name: _column(one, column)
            for one, column in zip(self._attributes, columns, strict=True)
            if one.name in self._measured
        }
        label, *beliefs = run.run(None, feeds)
        if not self._states:
            return np.asarray(label, dtype=np.float64)
        places = [[self._states.index(state)] for state in label.tolist()]
        return np.hstack([np.array(places, dtype=np.float64), *beliefs])


def _column(attribute: Attribute, readings: list[State | None]) -> Any:
    if not _is_text(attribute):
        return np.array([[math.nan if one is None else one] for one in readings], dtype=np.float64)
    unknown = fresh_name("", set(map(str, attribute.states)))
    return np.array([[unknown if one is None else one] for one in readings], dtype=object)
