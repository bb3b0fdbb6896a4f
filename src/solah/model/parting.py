"""Takes a tree or a fusion of a model, with all below it, as a model of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.beliefs import fusion_inputs
from solah.model.document import Fusion, Model, Tree
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from solah.model.document import Node


def part_of(model: Model, name: str) -> Model:
    """Take a tree or a fusion with all that is below it as a model.

    Parameters
    ----------
    model : Model
    name : str
        The tree's or the fusion's name.

    Returns
    -------
    part : Model
        It believes what the part believes. If the part feeds a fusion, its beliefs are the softmax
        of its evidence, so that their logarithms, less their mean, are the evidence that the
        fusion adds up, whatever is unknown: its trees have no variance. Of a number, the part
        estimates what it adds. It has no policy, whose limits are for the beliefs of the whole.
    """
    nodes = {node.name: node for node in model.nodes}
    if name not in nodes:
        raise ParameterError(f"the model has no part {shorten(name)}{did_you_mean(name, nodes)}")
    wanted = {name}
    for node in reversed(model.nodes):
        if node.name in wanted:
            wanted.update(node.origins)
    below: list[Node] = [node for node in model.nodes if node.name in wanted]
    if name in fusion_inputs(model.nodes):
        root = fresh_name(model.goal.name, wanted)
        below = [replace(one, variance=0.0) if isinstance(one, Tree) else one for one in below]
        below.append(Fusion(root, (name,), (0.0,) * model.goal.size))
    attributes = tuple(one for one in model.attributes if one.name in wanted)
    promises = tuple(one for one in model.monotonic if one.attribute in wanted)
    names = [one.name for one in attributes]
    return Model(
        model.goal,
        attributes,
        tuple(below),
        model.generator,
        monotonic=promises,
        signals=model.signals and model.signals.only(names),
        domain=model.domain and model.domain.only(names),
    )
