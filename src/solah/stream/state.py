"""Save a stream learner to a folder and load it again, running no code.

``state.json`` names the other files: the rows that are kept (``rows-….npz``) and the model that is
in use (``model-….json``). It is written last, so that a folder always holds one whole state.
"""

from __future__ import annotations

import io
import json
import re
import secrets
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from solah.atomic import write_whole
from solah.data import Column
from solah.data.json_reader import JsonParser
from solah.exceptions import DataError, ModelFormatError, ParameterError
from solah.model import load_document, save_document
from solah.stream.deciding import Decider
from solah.stream.lifecycle import NewClass
from solah.stream.organising import Settled
from solah.stream.packing import pack_rows, unpack_rows
from solah.stream.planning import Plan
from solah.stream.reservoir import KeptRow

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from solah.stream.events import Event
    from solah.stream.following import StreamLearner
    from solah.stream.lifecycle import ModelLifecycle

    Learner = TypeVar("Learner", bound=StreamLearner)

_FORMAT, _VERSION = "solah-stream", 2
STATE_FILE = "state.json"
# What this module names itself: another model-….json in the folder is the user's.
_OWN_NAME = re.compile(r"rows-[0-9a-f]{8}\.npz|model-[0-9a-f]{8}\.json")
_BROKEN = (LookupError, TypeError, ValueError, OSError, EOFError, AttributeError, BadZipFile)


def save_state(learner: StreamLearner, folder: str | os.PathLike[str]) -> None:
    """Write a learner into a folder, whole or not at all."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    mark = secrets.token_hex(4)
    lifecycle = learner.lifecycle
    content: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "settings": asdict(learner.settings),
        "position": learner.position,
        "seconds": learner.seconds,
        "course": None if lifecycle is None else _save_lifecycle(lifecycle, place, mark),
        "is_named": learner.knows_names,
    }
    write_whole(place / STATE_FILE, json.dumps(content, ensure_ascii=False))
    for old in place.iterdir():
        if _OWN_NAME.fullmatch(old.name) and mark not in old.name:
            old.unlink(missing_ok=True)


def load_state(
    kind: type[Learner],
    folder: str | os.PathLike[str],
    estimator: Any,
    on_event: Callable[[Event], None] | None,
) -> Learner:
    """Make a learner of what :func:`save_state` wrote."""
    place = Path(folder)
    content = _read_state(place)
    try:
        learner = kind(estimator, on_event=on_event, **content["settings"])
        learner.position, learner.seconds = int(content["position"]), float(content["seconds"])
        if content["course"] is not None:
            saved = content["course"]
            like = tuple(_column(one) for one in saved["columns"])
            lifecycle = learner.begin(like, saved["goal"], is_named=bool(content["is_named"]))
            _restore_lifecycle(lifecycle, saved, place)
    except (ParameterError, ModelFormatError):
        raise
    except _BROKEN as error:
        raise DataError(f"the stream that was saved in {place} is damaged: {error!r}") from error
    return learner


def _read_state(place: Path) -> dict[str, Any]:
    try:
        data = (place / STATE_FILE).read_bytes()
    except FileNotFoundError:
        raise DataError(f"no stream was saved in {place}: there is no {STATE_FILE}") from None
    content = JsonParser(f"{place / STATE_FILE}", DataError).read(data, allow_nan=True).value
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataError(f"{place / STATE_FILE} is not the state of a stream")
    if content.get("version") != _VERSION:
        raise DataError(
            f"{place / STATE_FILE} has version {content.get('version')!r}, and this solah reads "
            f"{_VERSION}; go on with the solah that wrote it, or begin in another folder"
        )
    return content


def _save_lifecycle(lifecycle: ModelLifecycle, place: Path, mark: str) -> dict[str, Any]:
    rows, reservoir = lifecycle.kept.state()
    persistence = lifecycle.persistence
    _save_rows(lifecycle, rows, place / f"rows-{mark}.npz")
    if lifecycle.decider is not None:
        save_document(lifecycle.decider.start, place / f"model-{mark}.json")
    return {
        "mark": mark,
        "columns": [
            {"name": one.name, "order": one.order, "nominal": one.nominal}
            for one in lifecycle.trainer.like
        ],
        "goal": lifecycle.trainer.goal_name,
        "has_model": lifecycle.decider is not None,
        "counts": dict(lifecycle.counts),
        "plan": lifecycle.plan_to_resume().state(),
        "score": lifecycle.score.state(),
        "detector": lifecycle.detector.state(),
        "persistence": None if persistence is None else persistence.state(),
        "settled": [one.state() for one in lifecycle.settled],
        "newcomers": [[label, asdict(one)] for label, one in lifecycle.new_classes.items()],
        "reservoir": reservoir,
        "labels": [row.label for row in rows],
        "labels_compared_with": [row.label for row in lifecycle.compared_with],
    }


def _save_rows(lifecycle: ModelLifecycle, rows: Sequence[KeptRow], path: Path) -> None:
    learnt = b"" if lifecycle.decider is None else lifecycle.decider.save()
    arrays: dict[str, Any] = {
        "losses": np.array([row.loss for row in rows]),
        "losses_compared_with": np.array([row.loss for row in lifecycle.compared_with]),
        "learnt": np.frombuffer(learnt, dtype=np.uint8),
        **pack_rows("kept", [row.readings for row in rows]),
        **pack_rows("compared", [row.readings for row in lifecycle.compared_with]),
    }
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    write_whole(path, packed.getvalue())


def _restore_lifecycle(lifecycle: ModelLifecycle, saved: dict[str, Any], place: Path) -> None:
    mark = str(saved["mark"])
    if not mark.isalnum():
        raise ValueError("the mark of its files is no word")
    packed = io.BytesIO((place / f"rows-{mark}.npz").read_bytes())
    with np.load(packed, allow_pickle=False) as arrays:
        kept = _rows(unpack_rows("kept", arrays), saved["labels"], arrays["losses"])
        lifecycle.compared_with = _rows(
            unpack_rows("compared", arrays),
            saved["labels_compared_with"],
            arrays["losses_compared_with"],
        )
        learnt = arrays["learnt"].tobytes()
    lifecycle.kept.restore(kept, saved["reservoir"])
    lifecycle.detector.restore(saved["detector"])
    lifecycle.score.restore(saved["score"])
    if lifecycle.persistence is not None:
        lifecycle.persistence.restore(saved["persistence"])
    lifecycle.plan = Plan.restored(saved["plan"])
    lifecycle.settled = tuple(map(Settled.restored, saved.get("settled", ())))
    lifecycle.counts = Counter({str(name): int(n) for name, n in saved["counts"].items()})
    lifecycle.new_classes = {label: NewClass(**one) for label, one in saved["newcomers"]}
    if saved["has_model"]:
        model = load_document(place / f"model-{mark}.json")
        settings = lifecycle.settings
        lifecycle.decider = Decider(model, pace=settings.pace, forgetting=settings.forgetting)
        lifecycle.decider.restore(learnt)


def _rows(
    readings: Sequence[Any], labels: Sequence[Any], losses: np.ndarray[Any, Any]
) -> list[KeptRow]:
    return [KeptRow(*row) for row in zip(readings, labels, losses.tolist(), strict=True)]


def _column(saved: dict[str, Any]) -> Column:
    order = saved["order"]
    return Column(
        str(saved["name"]),
        np.empty(0),
        None if order is None else tuple(map(str, order)),
        bool(saved["nominal"]),
    )
