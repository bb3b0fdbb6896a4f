"""Announce the decisions and nodes of a bundle to Home Assistant."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from solah.data.spelling import spell
from solah.model.document import Task
from solah.site.site_state import SILENT_AFTER

if TYPE_CHECKING:
    from solah.model.document import Target
    from solah.site.bundle import Bundle
    from solah.site.topics import Topics

_ROW = (
    "{% set row = value_json.rows | last %}"
    "{% set stable = row.stable if 'stable' in row else row.decision %}"
)
_STATE = "{{ value_json.state }}"
_DIAGNOSTIC = {"entity_category": "diagnostic"}
_ORIGIN = {"name": "solah"}
_DONT_KNOW = "don't know"
_MOST_STATE = 255
"""The maximum length of a state in Home Assistant."""
EXPIRE_AFTER = 300
"""Seconds without a decision after which Home Assistant takes the last one for stale."""


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
    target = bundle.model.target
    site = f"{_as_id(topics.root)}_{_as_id(topics.site)}"
    # Decisions count as long as they come and the node that makes them is there.
    status = {
        "topic": topics.status(bundle.plan.home[bundle.model.root.name]),
        "value_template": _STATE,
        "payload_available": "online",
        "payload_not_available": "offline",
    }
    of_decisions = {
        "state_topic": topics.decisions,
        "availability": [status],
        "expire_after": expire_after,
    }
    nodes: dict[str, dict[str, Any]] = {
        f"binary_sensor/node_{_as_id(node.name)}": {
            "name": f"node {node.name}",
            "device_class": "connectivity",
            "state_topic": topics.status(node.name),
            "value_template": _STATE,
            "payload_on": "online",
            "payload_off": "offline",
            "expire_after": int(SILENT_AFTER),
            "json_attributes_topic": topics.status(node.name),
            "json_attributes_template": "{{ value_json.counters | tojson }}",
            **_DIAGNOSTIC,
        }
        for node in bundle.plan.nodes
    }
    decisions = {key: {**one, **of_decisions} for key, one in _entities(target, topics).items()}
    device = {
        "identifiers": [site],
        "name": f"solah {topics.site}",
        "manufacturer": "solah",
        "model": target.name,
        "sw_version": bundle.hash,
    }
    announcements = []
    for what, about in {**decisions, **nodes}.items():
        component, _, name = what.partition("/")
        config = {**about, "unique_id": f"{site}_{name}", "device": device, "origin": _ORIGIN}
        topic = f"{prefix}/{component}/{site}/{name}/config"
        announcements.append((topic, json.dumps(config, ensure_ascii=False).encode()))
    return announcements


def _entities(target: Target, topics: Topics) -> dict[str, dict[str, Any]]:
    """Describe what is shown of decisions, by component and name."""
    is_class = target.task is Task.CLASSIFICATION
    states = [spell(state)[:_MOST_STATE] for state in target.classes]
    dont_know = _DONT_KNOW
    while dont_know in states:
        dont_know += "?"
    # A model that comes later may have a policy, and this is announced once.
    of_classes = {"device_class": "enum", "options": [*states, dont_know]}
    stable = f"{json.dumps(dont_know)} if stable is none else stable[:{_MOST_STATE}]"
    probability = "none if stable is none else (100 * row.probabilities[stable]) | round(1)"
    names = f"(row.missing | join(', ') or 'none')[:{_MOST_STATE}]"
    percent = {"icon": "mdi:percent", "unit_of_measurement": "%", "state_class": "measurement"}
    entities: dict[str, dict[str, Any]] = {
        "sensor/decision": {
            "name": target.name,
            "icon": "mdi:family-tree",
            "value_template": f"{_ROW}{{{{ {stable} }}}}",
            "json_attributes_topic": topics.decisions,
            "json_attributes_template": f"{_ROW}{{{{ row | tojson }}}}",
            **(of_classes if is_class else {"state_class": "measurement"}),
        },
        "sensor/probability": {
            "name": f"{target.name} probability",
            "value_template": f"{_ROW}{{{{ {probability} }}}}",
            **percent,
        },
        "sensor/completeness": {
            "name": f"{target.name} completeness",
            "value_template": f"{_ROW}{{{{ (100 * row.completeness) | round(1) }}}}",
            **percent,
        },
        "sensor/missing": {
            "name": f"{target.name} missing sensors",
            "icon": "mdi:access-point-off",
            "value_template": f"{_ROW}{{{{ {names} }}}}",
            **_DIAGNOSTIC,
        },
        "binary_sensor/problem": {
            "name": f"{target.name} problem",
            "device_class": "problem",
            "value_template": f"{_ROW}{{{{ 'ON' if row.missing or stable is none else 'OFF' }}}}",
            **_DIAGNOSTIC,
        },
    }
    if not is_class:
        del entities["sensor/probability"]
    return entities


def _as_id(name: str) -> str:
    """Write a name in the letters of Home Assistant's topics, different ones differently."""
    return re.sub("[^A-Za-z0-9-]", lambda letter: f"_{ord(letter[0]):02x}", name)
