"""Topics, fields and availability messages of common firmware.

They follow the documentation of Zigbee2MQTT 2.8, Tasmota 14, ESPHome 2024.11, Shelly's API of the
second generation (firmware 1.0 and later) and of the first, ChirpStack 4, The Things Stack 3, the
BTHome gateways OpenMQTTGateway and Theengs, Home Assistant's statestream and MQTT birth message,
and the specification of Sparkplug B 3.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from solah.site.payloads import TimeField


@dataclass(frozen=True)
class Template:
    """How one kind of firmware publishes.

    Attributes
    ----------
    name : what the site file calls it
    topic : with ``{device}``, and ``{part}`` where each value has a topic of its own; it may have
        wildcards
    example : where a value may be; with a part, that comes first
    has_path : whether messages are JSON documents, in which a value has a place
    device : what ``{device}`` is by default; empty if it must be given
    prefix : the path to all values of a message
    time : where a message has its time of measurement
    unknown : texts by which a missing value is sent
    availability : topics on which the device, its bridge or Home Assistant reports its state
    is_retained : whether devices send on change, so that what the broker keeps is a reading
    is_sparkplug : whether messages are Sparkplug B, in which a metric has a name
    """

    name: str
    topic: str
    example: str
    has_path: bool = True
    device: str = ""
    prefix: str = ""
    time: TimeField | None = None
    unknown: tuple[str, ...] = ()
    availability: tuple[str, ...] = ()
    is_retained: bool = False
    is_sparkplug: bool = False

    @property
    def has_part(self) -> bool:
        """Whether each value, or group of them, has a topic of its own."""
        return "{part}" in self.topic

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The topics of its devices; a part has as many levels as that of the example."""
        n_levels = self.example.count("/") + (not self.has_path)
        part = "/".join(n_levels * ["[^/]+"])
        device = re.escape(self.device) if self.device else "(?P<device>.+)"
        levels = {"{device}": device, "{part}": f"(?P<part>{part})", "+": "[^/]+"}
        return re.compile(
            "/".join(levels.get(one, re.escape(one)) for one in self.topic.split("/"))
        )

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
        return topic, None if path is None else self.prefix + path


_ALL = (
    Template(
        "zigbee2mqtt",
        "zigbee2mqtt/{device}",
        "temperature",
        time=TimeField(("last_seen",), "iso", is_optional=True),
        availability=("zigbee2mqtt/{device}/availability", "zigbee2mqtt/bridge/state"),
        is_retained=True,
    ),
    # Its Time has no zone, so it counts only if 'time' of the site file gives one.
    Template(
        "tasmota",
        "tele/{device}/SENSOR",
        "AM2301.Temperature",
        availability=("tele/{device}/LWT",),
    ),
    Template(
        "shelly",
        "{device}/status/{part}",
        "temperature:0/tC",
        availability=("{device}/online",),
        is_retained=True,
    ),
    Template(
        "shelly_rpc",
        "{device}/events/rpc",
        "temperature:0.tC",
        prefix="params.",
        time=TimeField(("params", "ts"), "s", is_optional=True),
        availability=("{device}/online",),
    ),
    Template(
        "shelly1",
        "shellies/{device}/{part}",
        "sensor/temperature",
        has_path=False,
        availability=("shellies/{device}/online",),
        is_retained=True,
    ),
    Template(
        "chirpstack",
        "application/+/device/{device}/event/up",
        "temperature",
        prefix="object.",
        time=TimeField(("time",), "iso", is_optional=True),
    ),
    Template(
        "ttn",
        "v3/+/devices/{device}/up",
        "temperature",
        prefix="uplink_message.decoded_payload.",
        time=TimeField(("received_at",), "iso", is_optional=True),
    ),
    Template("bthome", "+/+/BTtoMQTT/{device}", "tempc"),
    Template(
        "statestream",
        "{device}/{part}/state",
        "sensor/kitchen_temperature",
        has_path=False,
        device="homeassistant",
        unknown=("unknown", "unavailable", "none", "None", ""),
        availability=("homeassistant/status",),
        is_retained=True,
    ),
    Template(
        "esphome",
        "{device}/{part}/state",
        "sensor/temperature",
        has_path=False,
        unknown=("nan", "None", "unknown"),
        availability=("{device}/status",),
        is_retained=True,
    ),
    Template("sparkplug", "spBv1.0/{device}", "Motor/Temperature", is_sparkplug=True),
    Template("plain", "{device}/{part}", "temperature", has_path=False),
    Template("json", "{device}", "temperature"),
)
TEMPLATES = {one.name: one for one in _ALL}
"""The templates by name."""
