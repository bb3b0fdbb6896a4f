"""A site to watch: nodes that read rows, and every message that they would say on a broker."""

import numpy as np

from random_models import random_model, random_rows
from solah.site.bundle import Bundle
from solah.site.core import NodeCore, Settings
from solah.site.messages import Measured, Status, encode
from solah.site.plan import make_plan
from solah.site.topics import Topics

START = 1_700_000_000.0


def make_bundle(shape="three groups", seed=0, n_classes=3, site="house"):
    model = random_model(np.random.default_rng(seed), shape, n_classes)
    names = [feature.name for feature in model.features]
    placement = {"attic": names[:2], "cellar": names[2:4], "kitchen": names[4:]}
    return Bundle(make_plan(model, placement, site=site), model)


class Site:
    """Nodes of a bundle; whoever is in ``silent`` says nothing."""

    def __init__(self, bundle, silent=()):
        self.bundle, self.silent = bundle, silent
        self.topics = Topics(bundle.plan.site)
        self.nodes = {
            node.name: NodeCore(bundle, node.name, Settings(deadline=1.0))
            for node in bundle.plan.nodes
        }

    def messages(self, n_rows=10, first=0, step=0.1):
        """Return (topic, payload, time) of all that is said of some rows, a step apart."""
        said = []
        model = self.bundle.model
        rows = random_rows(np.random.default_rng(first), model, n_rows, missing=0.0)
        for sequence, row in enumerate(rows, first):
            now = START + step * sequence
            for name, node in self.nodes.items():
                if name not in self.silent:
                    node.read([Measured(_named(model, row), sequence, now)], now, now)
            said += self._settle(now + 0.02)
        return said + self._settle(START + step * (first + n_rows) + 2.0)

    def _settle(self, now):
        """Let nodes speak from bottom to top."""
        said = []
        for name, node in reversed(self.nodes.items()):
            if name in self.silent:
                continue
            outbox = node.advance(now)
            for beliefs in outbox.beliefs:
                said.append((self.topics.said(name), encode(beliefs), now))
                for other in self.nodes.values():
                    if name in dict(other.plan.hears).values():
                        other.hear(beliefs, now)
            for decisions in outbox.decisions:
                said.append((self.topics.decisions, encode(decisions), now))
        return said

    def beginning(self, now=START):
        """Return what the broker keeps: the plan, and how nodes are doing."""
        kept = [(self.topics.model, self.bundle.to_bytes(), now)]
        for name, node in self.nodes.items():
            state = "offline" if name in self.silent else "online"
            status = Status(name, state, self.bundle.hash, dict(node.counters))
            kept.append((self.topics.status(name), encode(status), now))
        return kept


def _named(model, row):
    readings = {}
    for one, value in zip(model.features, row, strict=True):
        is_text = one.is_coded and isinstance(one.categories[0], str)
        readings[one.name] = one.categories[int(value)] if is_text else float(value)
    return readings


def feed(observer, messages):
    for topic, payload, now in messages:
        observer.take(topic, payload, now)
