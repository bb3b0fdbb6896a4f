"""Renames attributes, words, classes and groups wherever a document has them."""

from __future__ import annotations

from typing import Any

from solah.exceptions import ParameterError, did_you_mean, shorten

_LEARNT_NAME = "evidence of {}"


def rename_attribute(document: dict[str, Any], old: str, new: str) -> None:
    """Rename an attribute, and trees that are called after it by learning."""
    features = document.get("signals", {}).get("features", [])
    domain = document.get("domain", {})
    for one in (*document["attributes"], *features, *domain.get("cells", [])):
        if one["name"] == old:
            one["name"] = new
    for pair in domain.get("pairs", []):
        pair |= {side: new for side in ("first", "second") if pair[side] == old}
    for promise in document.get("monotonic", []):
        if promise["attribute"] == old:
            promise["attribute"] = new
    for tree in list(document["trees"]):
        if "nodes" not in tree or old not in map(_name, tree["inputs"]):
            continue
        names = [_name(one) for one in tree["inputs"]]
        if tree["name"] == _LEARNT_NAME.format(" & ".join(names)):
            renamed = " & ".join(new if name == old else name for name in names)
            rename_node(document, tree["name"], _LEARNT_NAME.format(renamed))
        _rename_input(tree, old, new)


def rename_node(document: dict[str, Any], old: str, new: str) -> None:
    """Rename a tree or a group."""
    names = [node["name"] for node in document["trees"]]
    if old not in names:
        raise ParameterError(f"there is no group {shorten(old)}{did_you_mean(old, names)}")
    for node in document["trees"]:
        if node["name"] == old:
            node["name"] = new
        if "adds" in node:
            node["adds"] = [new if name == old else name for name in node["adds"]]
            continue
        if old in node["inputs"]:
            _rename_input(node, old, new)
        for one in node["inputs"]:
            if isinstance(one, dict) and one.get("tree") == old:
                one["tree"] = new


def rename_word(document: dict[str, Any], attribute: str, old: str, new: str) -> None:
    """Rename a word of an attribute, or one over a tree's belief."""
    beliefs = [
        one
        for tree in document["trees"]
        for one in tree.get("inputs", ())
        if isinstance(one, dict) and "words" in one
    ]
    described = {one["name"]: one for one in (*document["attributes"], *beliefs)}
    if attribute not in described:
        near = did_you_mean(attribute, described)
        raise ParameterError(f"the model has no attribute {shorten(attribute)}{near}")
    words = described[attribute].get("words")
    if words is None:
        raise ParameterError(
            f"{shorten(attribute)} has states, which the data have, too; rename them there"
        )
    if old not in words:
        near = did_you_mean(old, words)
        raise ParameterError(f"{shorten(attribute)} has no word {shorten(old)}{near}")
    words[words.index(old)] = new


def rename_class(document: dict[str, Any], old: Any, new: Any) -> None:
    """Rename a class of the goal, and beliefs that are called after it by learning."""
    states = document["goal"].get("states", [])
    if old not in states:
        near = did_you_mean(old, map(str, states))
        raise ParameterError(f"there is no class {shorten(old)}{near}")
    states[states.index(old)] = new
    for tree in document["trees"]:
        for one in tree.get("inputs", ()):
            if isinstance(one, dict) and one["name"] == f"{one.get('tree')}({old})":
                _rename_input(tree, one["name"], f"{one['tree']}({new})")


def _name(one: Any) -> str:
    return str(one["name"] if isinstance(one, dict) else one)


def _rename_input(tree: dict[str, Any], old: str, new: str) -> None:
    for place, one in enumerate(tree["inputs"]):
        if one == old:
            tree["inputs"][place] = new
        elif isinstance(one, dict) and one["name"] == old:
            one["name"] = new
    for node in tree["nodes"]:
        if node.get("split") == old:
            node["split"] = new
