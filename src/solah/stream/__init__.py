"""Classifiers for streams of rows that never end and drift.

tail.py        growing files and pipes  -> tables of rows
learner.py     rows and classes         -> predictions, events, metrics, a state file
loop.py        the same, row by row: predict, learn, detect drift, refit
drift.py       errors and rows          -> whether, when and what has changed
reservoir.py   rows                     -> those to train on again
refit.py       these                    -> a new model, if it is better
metrics.py     events, accuracy and log-loss
"""

from solah.stream.drift import AdaptiveWindow
from solah.stream.learner import StreamLearner
from solah.stream.metrics import Cause, Event, EventKind, Metrics

__all__ = ["AdaptiveWindow", "Cause", "Event", "EventKind", "Metrics", "StreamLearner"]
