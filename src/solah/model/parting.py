"""Takes a part of a model, with all below it, as a model of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.document import AdditiveNode, Model
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from solah.model.document import Node


def part_of(model: Model, name: str) -> Model:
    """Take a node, a group or a term with all that is below it as a model.

    Parameters
    ----------
    model : Model
    name : str
        The part's name, as in ``model.parts``.

    Returns
    -------
    part : Model
        Its output is that of the part. Of a term or a group, its probabilities are the softmax of
        the weights that the part adds, so that their logarithms, less their mean, are these
        weights, whatever is missing: its terms have no variance. Of a number, the part estimates
        what it adds. It has no policy, whose limits are for the probabilities of the whole.
    """
    parts = {part.name: part for part in model.parts}
    if name not in parts:
        raise ParameterError(f"the model has no part {shorten(name)}{did_you_mean(name, parts)}")
    nodes = {node.name: node for node in model.nodes}
    last: Node = nodes[parts[name].node]
    if name != last.name:
        assert isinstance(last, AdditiveNode)
        names = model.program.stages[model.nodes.index(last)].part_names
        number = names.index(name)
        of_part = [number]
        if number >= len(last.terms):
            of_part = list(last.groups[number - len(last.terms)].terms)
        terms = tuple(replace(last.terms[one], variance=0.0) for one in of_part)
        taken = {one.name for one in model.attributes} | nodes.keys()
        root = fresh_name(model.goal.name, taken - {last.name})
        last = AdditiveNode(root, (0.0,) * model.goal.size, terms)
    wanted = {last.name, *last.origins}
    below = []
    for node in reversed(model.nodes[: model.nodes.index(nodes[parts[name].node])]):
        if node.name in wanted:
            wanted.update(node.origins)
            below.append(node)
    attributes = tuple(one for one in model.attributes if one.name in wanted)
    attributes = attributes or model.attributes  # a constant keeps the feature that it was given
    promises = tuple(one for one in model.monotonic if one.attribute in wanted)
    names_left = [one.name for one in attributes]
    return Model(
        model.goal,
        attributes,
        (*reversed(below), last),
        model.generator,
        monotonic=promises,
        signals=model.signals and model.signals.only(names_left),
        domain=model.domain and model.domain.only(names_left),
    )
