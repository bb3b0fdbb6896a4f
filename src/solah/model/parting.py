"""A model and one of its trees or fusions in, that part as a model of its own out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.beliefs import heard_by_fusions
from solah.model.document import Fusion, Model
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
        It believes what the part believes. Of a part that speaks to a fusion it believes the
        evidence alone: its beliefs are the shares of e to the power of the evidence for each class,
        so that their logarithms, less their mean, are what the fusion hears.
    """
    nodes = {node.name: node for node in model.nodes}
    if name not in nodes:
        raise ParameterError(f"the model has no part {shorten(name)}{did_you_mean(name, nodes)}")
    wanted = {name}
    for node in reversed(model.nodes):
        if node.name in wanted:
            wanted.update(node.origins)
    below: list[Node] = [node for node in model.nodes if node.name in wanted]
    if name in heard_by_fusions(model.nodes):
        root = fresh_name(model.goal.name, wanted)
        below.append(Fusion(root, (name,), (1.0,), (0.0,) * model.goal.size))
    attributes = tuple(one for one in model.attributes if one.name in wanted)
    return Model(model.goal, attributes, tuple(below), model.generator)
