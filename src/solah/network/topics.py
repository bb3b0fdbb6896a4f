"""The topics of a site: ``<root>/<site>/<node>/<what>``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

ROOT = "solah"


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

    Examples
    --------
    >>> Topics("house").said("kitchen")
    'solah/house/kitchen/out'
    """

    site: str
    root: str = ROOT

    @property
    def model(self) -> str:
        """The plan and its model, kept by the broker."""
        return f"{self.root}/{self.site}/model"

    @property
    def decisions(self) -> str:
        """Decisions on rows."""
        return f"{self.root}/{self.site}/decision"

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
        """Return the topic on which a node publishes its beliefs of rows."""
        return self._of(node, "out")

    def asked(self, node: str) -> str:
        """Return the topic on which a node is asked to send rows again."""
        return self._of(node, "ask")

    def influx(self, node: str) -> str:
        """Name where a node decides in lines for InfluxDB."""
        return self._of(node, "influx")

    def parse(self, topic: str) -> Address | None:
        """Return what a topic of the site is about; None for any other."""
        prefix = f"{self.root}/{self.site}/"
        if not topic.startswith(prefix):
            return None
        node, _, what = topic[len(prefix) :].rpartition("/")
        return None if "/" in node else Address(node, what)

    def _of(self, node: str, what: str) -> str:
        return f"{self.root}/{self.site}/{node}/{what}"
