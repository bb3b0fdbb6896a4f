"""The topics of a site: ``<root>/<site>/<node>/<what>``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

ROOT = "solah"
SHADOW = "shadow-"


class Address(NamedTuple):
    """What a topic is about; the node is empty for what concerns the whole site."""

    node: str
    what: str


@dataclass(frozen=True)
class Topics:
    """The topics of a site.

    Attributes
    ----------
    site : the name of the network
    root : what all topics begin with
    lane : what the last part of topics about a model begins with: nothing, or ``shadow-``

    Examples
    --------
    >>> Topics("house").said("kitchen"), Topics("house").shadow.said("kitchen")
    ('solah/house/kitchen/out', 'solah/house/kitchen/shadow-out')
    """

    site: str
    root: str = ROOT
    lane: str = ""

    @property
    def shadow(self) -> Topics:
        """The topics of a model that is only compared."""
        return replace(self, lane=SHADOW)

    @property
    def model(self) -> str:
        """The plan and its model, kept by the broker."""
        return f"{self.root}/{self.site}/{self.lane}model"

    @property
    def decisions(self) -> str:
        """Decisions on rows."""
        return f"{self.root}/{self.site}/{self.lane}decision"

    @property
    def alert(self) -> str:
        """Alerts that are raised or cleared, one message for each."""
        return f"{self.root}/{self.site}/alert"

    @property
    def alerts(self) -> str:
        """All alerts that are raised now, kept by the broker."""
        return f"{self.root}/{self.site}/alerts"

    @property
    def history(self) -> str:
        """What the topics of all plans begin with that were published; who watches skips them."""
        return f"{self.root}-history/{self.site}"

    @property
    def progress(self) -> str:
        """The last row up to which all are decided, kept by the broker."""
        return f"{self.root}/{self.site}/progress"

    @property
    def terms(self) -> str:
        """How much the silence of nodes that send on change may hide, kept by the broker."""
        return f"{self.root}/{self.site}/terms"

    def status(self, node: str) -> str:
        """Name where the broker keeps how a node is doing; offline is its last will."""
        return self._of(node, "status")

    def readings(self, node: str) -> str:
        """Name where readings that are measured at a node come in."""
        return self._of(node, "in")

    def said(self, node: str) -> str:
        """Return the topic on which a node publishes its outputs."""
        return self._of(node, f"{self.lane}out")

    def asked(self, node: str) -> str:
        """Return the topic on which a node is asked to send rows again."""
        return self._of(node, f"{self.lane}ask")

    def parse(self, topic: str) -> Address | None:
        """Return what a topic of the site is about; None for any other."""
        prefix = f"{self.root}/{self.site}/"
        if not topic.startswith(prefix):
            return None
        node, _, what = topic[len(prefix) :].rpartition("/")
        return None if "/" in node else Address(node, what)

    def _of(self, node: str, what: str) -> str:
        return f"{self.root}/{self.site}/{node}/{what}"
