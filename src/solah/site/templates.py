"""What common firmware publishes: topics, where values are, and how the unknown is written.

Written by the documentation of Zigbee2MQTT 2.8, Tasmota 14, ESPHome 2024.11, Shelly's API of the
second generation (firmware 1.0 and later) and of the first, Home Assistant's statestream 2025, and
the specification of Sparkplug B 3.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from solah.site.settings import TimeField


@dataclass(frozen=True)
class Template:
    """How one kind of firmware publishes.

    Attributes
    ----------
    name : what the site file calls it
    topic : with ``{device}``, and ``{part}`` where each value has a topic of its own
    has_path : whether messages are JSON documents, in which a value has a place
    device : what ``{device}`` is by default; empty if it must be given
    is_sparkplug : whether messages are Sparkplug B, in which a metric has a name
    time : where a message says when it was measured
    unknown : texts by which the unknown is written
    about : what it is for
    example : what a feature may be followed by
    """

    name: str
    topic: str
    has_path: bool
    device: str = ""
    time: TimeField | None = None
    unknown: tuple[str, ...] = ()
    about: str = ""
    example: str = ""
    is_sparkplug: bool = False

    @property
    def has_part(self) -> bool:
        """Whether each value, or group of them, has a topic of its own."""
        return "{part}" in self.topic

    def place(self, device: str, source: str) -> tuple[str, str | None]:
        """Return the topic of a value and its path in the message; None for all of it.

        Examples
        --------
        >>> TEMPLATES["shelly"].place("shellyplusht-1", "temperature:0/tC")
        ('shellyplusht-1/status/temperature:0', 'tC')
        >>> TEMPLATES["esphome"].place("kitchen", "sensor/humidity")
        ('kitchen/sensor/humidity/state', None)
        """
        part, path = source, None
        if self.has_path:
            part, _, path = source.rpartition("/") if self.has_part else ("", "", source)
        topic = self.topic.replace("{device}", device).replace("{part}", part)
        return topic, path


TEMPLATES = {
    one.name: one
    for one in (
        Template(
            "zigbee2mqtt",
            "zigbee2mqtt/{device}",
            has_path=True,
            time=TimeField(("last_seen",), "iso", is_optional=True),
            about="Zigbee2MQTT 2.8; last_seen: ISO_8601 in its settings tells when",
            example="temperature",
        ),
        Template(
            "tasmota",
            "tele/{device}/SENSOR",
            has_path=True,
            about="Tasmota 14; its Time has no zone, so it counts only if 'time' says which",
            example="AM2301.Temperature",
        ),
        Template(
            "esphome",
            "{device}/{part}/state",
            has_path=False,
            unknown=("nan", "None", "unknown"),
            about="ESPHome 2024.11 with mqtt: and the default topics",
            example="sensor/temperature",
        ),
        Template(
            "shelly",
            "{device}/status/{part}",
            has_path=True,
            about="Shelly, second generation and later, 'Generic status update over MQTT' on",
            example="temperature:0/tC",
        ),
        Template(
            "shelly1",
            "shellies/{device}/{part}",
            has_path=False,
            about="Shelly, first generation",
            example="sensor/temperature",
        ),
        Template(
            "statestream",
            "{device}/{part}/state",
            has_path=False,
            device="homeassistant",
            unknown=("unknown", "unavailable", "none", "None", ""),
            about="Home Assistant's mqtt_statestream (2025); the device is its base_topic",
            example="sensor/kitchen_temperature",
        ),
        Template(
            "sparkplug",
            "spBv1.0/{device}",
            has_path=True,
            about="Sparkplug B 3.0; the device is group/edge-node, or group/edge-node/device",
            example="Motor/Temperature",
            is_sparkplug=True,
        ),
        Template(
            "plain",
            "{device}/{part}",
            has_path=False,
            about="a value per topic, as it is",
            example="temperature",
        ),
    )
}
"""The templates by name."""
