"""Announce the decisions and nodes of a bundle to Home Assistant."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from solah.data.spelling import spell
from solah.model.document import Task
from solah.site.observed import SILENT_AFTER

if TYPE_CHECKING:
    from solah.site.bundle import Bundle
    from solah.site.topics import Topics

_LAST_ROW = "(value_json.rows | last)"
_STANDING = (
    f"{{% set row = {_LAST_ROW} %}}"
    "{% set standing = row.settled if 'settled' in row else row.decision %}"
)
_DONT_KNOW = "don't know"
_MOST_STATE = 255
"""The letters that Home Assistant takes for a state."""
EXPIRE_AFTER = 300
"""Seconds after which Home Assistant takes a decision for stale, if no other comes."""


def discovery(
    topics: Topics,
    bundle: Bundle,
    prefix: str = "homeassistant",
    expire_after: int = EXPIRE_AFTER,
) -> list[tuple[str, bytes]]:
    """Describe a network, so that Home Assistant finds it by itself.

    There is an entity for the stable decision, or "don't know", with the whole decision as
    attributes; for its probability, where a class is decided; for the completeness; for the names
    of what is missing; for a problem, while something is missing or the site abstains; and one for
    each node, whether it is there. The broker keeps these messages.

    Parameters
    ----------
    topics : Topics
    bundle : Bundle
    prefix : str, default="homeassistant"
        The prefix of the topics that Home Assistant subscribes to.
    expire_after : int, default=300
        Seconds without a decision after which its sensors are unavailable.

    Returns
    -------
    announcements : list of tuple of topic and payload
    """
    announcing = _Announcing(topics, bundle, expire_after)
    sensors = [("sensor", "decision", announcing.decision())]
    if bundle.model.target.task is Task.CLASSIFICATION:
        sensors.append(("sensor", "probability", announcing.probability()))
    sensors += [
        ("sensor", "completeness", announcing.completeness()),
        ("sensor", "missing", announcing.missing()),
        ("binary_sensor", "problem", announcing.problem()),
    ]
    sensors += [
        ("binary_sensor", f"node_{_as_id(node.name)}", announcing.node(node.name))
        for node in bundle.plan.nodes
    ]
    return [announcing.announcement(prefix, *sensor) for sensor in sensors]


class _Announcing:
    """Describes sensors of a site."""

    def __init__(self, topics: Topics, bundle: Bundle, expire_after: int) -> None:
        self._topics, self._target = topics, bundle.model.target
        self._expire_after = expire_after
        self._site = f"{_as_id(topics.root)}_{_as_id(topics.site)}"
        self._decider = bundle.plan.home[bundle.model.root.name]
        self._device = {
            "identifiers": [self._site],
            "name": f"solah {topics.site}",
            "manufacturer": "solah",
            "model": self._target.name,
            "sw_version": bundle.hash,
        }

    def announcement(
        self, prefix: str, component: str, what: str, about: dict[str, Any]
    ) -> tuple[str, bytes]:
        """Name a sensor uniquely, and name the device that it belongs to."""
        unique = f"{self._site}_{what}"
        config = {**about, "unique_id": unique, "device": self._device, "origin": {"name": "solah"}}
        topic = f"{prefix}/{component}/{self._site}/{what}/config"
        return topic, json.dumps(config, ensure_ascii=False).encode()

    def decision(self) -> dict[str, Any]:
        return {
            "name": self._target.name,
            "icon": "mdi:family-tree",
            "state_topic": self._topics.decisions,
            "value_template": self._value(),
            "json_attributes_topic": self._topics.decisions,
            "json_attributes_template": f"{{{{ {_LAST_ROW} | tojson }}}}",
            **self._kind(),
            **self._availability(),
        }

    def _kind(self) -> dict[str, Any]:
        if self._target.task is Task.REGRESSION:
            return {"state_class": "measurement"}
        # A model that comes later may have a policy, and this is announced once.
        return {"device_class": "enum", "options": [*self._states(), self._dont_know()]}

    def _states(self) -> list[str]:
        return [spell(state)[:_MOST_STATE] for state in self._target.classes]

    def _dont_know(self) -> str:
        """Return what stands for "don't know", which is no class."""
        text, states = _DONT_KNOW, self._states()
        while text in states:
            text += "?"
        return text

    def _value(self) -> str:
        """Return a template of the class that stands, or of the number."""
        unknown = json.dumps(self._dont_know())
        return f"{_STANDING}{{{{ {unknown} if standing is none else standing[:{_MOST_STATE}] }}}}"

    def probability(self) -> dict[str, Any]:
        share = "(100 * row.beliefs[standing]) | round(1)"
        template = f"{_STANDING}{{{{ none if standing is none else {share} }}}}"
        return self._percentage("probability", template)

    def completeness(self) -> dict[str, Any]:
        template = f"{{{{ (100 * {_LAST_ROW}.known) | round(1) }}}}"
        return self._percentage("completeness", template)

    def missing(self) -> dict[str, Any]:
        names = f"({_LAST_ROW}.missing | join(', ') or 'none')"
        return {
            "name": f"{self._target.name} missing sensors",
            "icon": "mdi:access-point-off",
            "entity_category": "diagnostic",
            "state_topic": self._topics.decisions,
            "value_template": f"{{{{ {names}[:{_MOST_STATE}] }}}}",
            **self._availability(),
        }

    def problem(self) -> dict[str, Any]:
        is_so = "row.missing or standing is none"
        return {
            "name": f"{self._target.name} problem",
            "device_class": "problem",
            "entity_category": "diagnostic",
            "state_topic": self._topics.decisions,
            "value_template": f"{_STANDING}{{{{ 'ON' if {is_so} else 'OFF' }}}}",
            **self._availability(),
        }

    def _percentage(self, what: str, template: str) -> dict[str, Any]:
        return {
            "name": f"{self._target.name} {what}",
            "icon": "mdi:percent",
            "state_topic": self._topics.decisions,
            "value_template": template,
            "unit_of_measurement": "%",
            "state_class": "measurement",
            **self._availability(),
        }

    def node(self, name: str) -> dict[str, Any]:
        return {
            "name": f"node {name}",
            "device_class": "connectivity",
            "entity_category": "diagnostic",
            "state_topic": self._topics.status(name),
            "value_template": "{{ value_json.state }}",
            "payload_on": "online",
            "payload_off": "offline",
            "expire_after": int(SILENT_AFTER),
            "json_attributes_topic": self._topics.status(name),
            "json_attributes_template": "{{ value_json.counters | tojson }}",
        }

    def _availability(self) -> dict[str, Any]:
        """Let decisions count as long as they come and the node that makes them is there."""
        status = {
            "topic": self._topics.status(self._decider),
            "value_template": "{{ value_json.state }}",
            "payload_available": "online",
            "payload_not_available": "offline",
        }
        return {"availability": [status], "expire_after": self._expire_after}


def _as_id(name: str) -> str:
    """Spell a name in the letters of Home Assistant's topics, different ones differently."""
    return re.sub("[^A-Za-z0-9-]", lambda letter: f"_{ord(letter[0]):02x}", name)
