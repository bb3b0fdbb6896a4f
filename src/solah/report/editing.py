"""Describes what the page needs to edit a model whose rules add up."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.model.document import Tree
from solah.model.format import to_json
from solah.model.program import Link
from solah.report.live import rule_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.document import Model

_LISTS = ("attributes", "trees", "edits")


def describe_editing(model: Model) -> dict[str, Any]:
    """Describe the document for an editor that changes parts of it.

    Parameters
    ----------
    model : Model

    Returns
    -------
    editing : dict
        ``why_not`` tells why the model cannot be edited rule by rule; it is empty if it can, and
        then ``document`` has the parts of the document as JSON text: what is not edited is
        downloaded as it was, to the last digit. ``leaves`` has, for each node of the model, the
        rules of its leaves in the program.
    """
    if reason := _why_not(model):
        return {"why_not": reason, "document": {}, "leaves": []}
    leaves = [_leaves(node) if isinstance(node, Tree) else [] for node in model.nodes]
    return {"why_not": "", "document": _document_parts(model), "leaves": leaves}


def _leaves(tree: Tree) -> list[int | None]:
    """Return the number of each leaf's rule; None for a node that splits."""
    numbers = rule_numbers(tree)
    pairs = zip(tree.split.tolist(), tree.heads.tolist(), strict=True)
    return [numbers[head] if split < 0 else None for split, head in pairs]


def _why_not(model: Model) -> str:
    stages = model.program.stages
    if len(stages) == 1 and stages[0].link is not Link.SHARES:
        return ""
    return (
        "This model cannot be edited here: its rules are branches of trees, which share their "
        "conditions, so that none can be changed by itself. Rules that add up can be; solah fit "
        "learns such rules by default."
    )


def _document_parts(model: Model) -> dict[str, Any]:
    """Write each part of the document as JSON text; of some lists, each item."""
    document = json.loads(to_json(model))
    return {
        key: list(map(_dump, value)) if key in _LISTS else _dump(value)
        for key, value in document.items()
    }


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def pack(numbers: Sequence[float | None]) -> dict[str, str]:
    """Write at most 65,536 numbers, exactly and in few characters.

    Returns
    -------
    packed : dict
        ``values`` has the distinct ones as float64, NaN for None, and ``codes`` the place of each
        among them as uint16; both little-endian, in base 64.
    """
    values, codes = np.unique(np.array(numbers, dtype=np.float64), return_inverse=True)
    return {"values": _base64(values, "<f8"), "codes": _base64(codes, "<u2")}


def _base64(values: np.ndarray[Any, Any], dtype: str) -> str:
    return b64encode(values.astype(dtype).tobytes()).decode()
