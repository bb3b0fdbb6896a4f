"""A site as people write it down: devices, sensors, model, broker and what is done with them.

In the order of the data:

- ``document``, ``reading`` and its parts: the site file, checked with the line of every error
- ``quantities``, ``templates``: units and durations; what common firmware publishes
- ``source``, ``kafka``: what brings messages of sensors, by MQTT or from Kafka
- ``payloads``, ``sparkplug``, ``mapping``: messages of sensors become readings of features
- ``aligning``: the last reading of each feature is held until it is too old
- ``journal``, ``feeding``: rows are made on a clock, kept on disk, and brought to a node
- ``learning``: a site file is proposed from what sensors publish
"""

from solah.network.site.document import Site
from solah.network.site.reading import load_site, site_schema

__all__ = ["Site", "load_site", "site_schema"]
