"""Topics, fields and availability messages of common firmware.

They follow the documentation of Zigbee2MQTT 2.8, Tasmota 14, ESPHome 2024.11, Shelly's API of the
second generation (firmware 1.0 and later) and of the first, ChirpStack 4, The Things Stack 3, the
BTHome gateways OpenMQTTGateway and Theengs, Home Assistant's statestream and MQTT birth message,
and the specification of Sparkplug B 3.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from solah.site.payloads import TimeField


@dataclass(frozen=True)
class Template:
    """How one kind of firmware publishes.

    Attributes
    ----------
    name : what the site file calls it
    topic : with ``{device}``, and ``{part}`` where each value has a topic of its own; it may have
        wildcards
    has_path : whether messages are JSON documents, in which a value has a place
    device : what ``{device}`` is by default; empty if it must be given
    prefix : the path to all values of a message
    availability : topics on which the device, its bridge or Home Assistant reports its state
    is_retained : whether devices send on change, so that what the broker keeps is a reading
    is_sparkplug : whether messages are Sparkplug B, in which a metric has a name
    time : where a message has its time of measurement
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
    prefix: str = ""
    availability: tuple[str, ...] = ()
    is_retained: bool = False
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
        return topic, None if path is None else self.prefix + path


TEMPLATES = {
    one.name: one
    for one in (
        Template(
            "zigbee2mqtt",
            "zigbee2mqtt/{device}",
            has_path=True,
            time=TimeField(("last_seen",), "iso", is_optional=True),
            about="Zigbee2MQTT 2.8; last_seen: ISO_8601 in its settings gives the time",
            example="temperature",
            availability=("zigbee2mqtt/{device}/availability", "zigbee2mqtt/bridge/state"),
            is_retained=True,
        ),
        Template(
            "tasmota",
            "tele/{device}/SENSOR",
            has_path=True,
            about="Tasmota 14; its Time has no zone, so it counts only if 'time' gives one",
            example="AM2301.Temperature",
            availability=("tele/{device}/LWT",),
        ),
        Template(
            "esphome",
            "{device}/{part}/state",
            has_path=False,
            unknown=("nan", "None", "unknown"),
            about="ESPHome 2024.11 with mqtt: and the default topics",
            example="sensor/temperature",
            availability=("{device}/status",),
            is_retained=True,
        ),
        Template(
            "shelly",
            "{device}/status/{part}",
            has_path=True,
            about="Shelly, second generation and later, 'Generic status update over MQTT' on",
            example="temperature:0/tC",
            availability=("{device}/online",),
            is_retained=True,
        ),
        Template(
            "shelly_rpc",
            "{device}/events/rpc",
            has_path=True,
            time=TimeField(("params", "ts"), "s", is_optional=True),
            about="Shelly, second generation and later, 'RPC status notifications over MQTT' on",
            example="temperature:0.tC",
            prefix="params.",
            availability=("{device}/online",),
        ),
        Template(
            "shelly1",
            "shellies/{device}/{part}",
            has_path=False,
            about="Shelly, first generation",
            example="sensor/temperature",
            availability=("shellies/{device}/online",),
            is_retained=True,
        ),
        Template(
            "chirpstack",
            "application/+/device/{device}/event/up",
            has_path=True,
            time=TimeField(("time",), "iso", is_optional=True),
            about="ChirpStack 4 with a payload codec; the device is its DevEUI",
            example="temperature",
            prefix="object.",
        ),
        Template(
            "ttn",
            "v3/+/devices/{device}/up",
            has_path=True,
            time=TimeField(("received_at",), "iso", is_optional=True),
            about="The Things Stack 3 with a payload formatter",
            example="temperature",
            prefix="uplink_message.decoded_payload.",
        ),
        Template(
            "bthome",
            "+/+/BTtoMQTT/{device}",
            has_path=True,
            about="BTHome by OpenMQTTGateway or Theengs; the device is its address without colons",
            example="tempc",
        ),
        Template(
            "statestream",
            "{device}/{part}/state",
            has_path=False,
            device="homeassistant",
            unknown=("unknown", "unavailable", "none", "None", ""),
            about="Home Assistant's mqtt_statestream (2025); the device is its base_topic",
            example="sensor/kitchen_temperature",
            availability=("homeassistant/status",),
            is_retained=True,
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
        Template(
            "json",
            "{device}",
            has_path=True,
            about="a JSON document per device; the device is its topic",
            example="temperature",
        ),
    )
}
"""The templates by name."""
