"""Learn from a source that never ends and drifts.

following.py   rows and classes      -> decisions, events, metrics: what users call
lifecycle.py   rows and classes      -> the same, row by row, however they are batched
  deciding.py (a model and rows -> verdicts) · scoring.py · events.py · settings.py
  persistence.py (verdicts and the class before -> decisions)
  drift.py (errors -> whether they have risen) · dependence.py · planning.py
  reservoir.py (rows -> those to learn from again) · organising.py (these -> a better model)
state.py       a learner             -> files, and back (packing.py)
tailing.py     lines of a file, pipe -> tables of rows as they come (lines.py)
feeding.py     such tables           -> a learner that took them
serving.py     metrics               -> text for Prometheus, over HTTP
values.py      tables and classes    -> plain values, and back
"""

from solah.stream.drift import AdaptiveWindow, PageHinkley
from solah.stream.events import Cause, Event, EventKind, Metrics
from solah.stream.following import StreamLearner
from solah.stream.persistence import AsBefore
from solah.stream.reservoir import KeptRow, Reservoir

__all__ = [
    "AdaptiveWindow",
    "AsBefore",
    "Cause",
    "Event",
    "EventKind",
    "KeptRow",
    "Metrics",
    "PageHinkley",
    "Reservoir",
    "StreamLearner",
]
