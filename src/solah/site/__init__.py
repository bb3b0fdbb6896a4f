"""Sites: a model on the nodes of an MQTT network.

In the order of the data:

- ``fields``, ``settings``, ``sensors``, ``site_file``, ``site_check``: the site file, read by the
  dataclasses that describe it, and checked against its model, with the line of every error
- ``units``, ``templates``, ``proposal``: units and durations; what common firmware publishes; a
  site file proposed from that
- ``sensor_source``, ``kafka``, ``sparkplug``, ``payloads``, ``sensor_mapping``: messages of sensors
  become readings of features
- ``aligner``, ``feed``, ``journal``: readings become rows, on a clock and on disk
- ``plan``, ``placement``, ``bundle``, ``trust``: which node runs what; one signed document of plan
  and model
- ``messages``, ``topics``: what nodes send each other; everything that comes in is checked
- ``core``, ``position``, ``open_rows``, ``evaluation``, ``decision_policy``: rows become decisions,
  without a network or a clock
- ``send_on_change``, ``change_filter``, ``held_rows``, ``compact_messages``: nodes that send only
  what matters
- ``node``, ``client``, ``backlog``, ``state_file``: a node on a broker, whose restart loses nothing
- ``supervisor``: the nodes of a site as processes of this machine
- ``observer``, ``watch``, ``terminal``, ``web``, ``prometheus``, ``alerts``, ``home_assistant``,
  ``health``, ``logs``: how a site is doing
- ``publication``, ``plan_versions``, ``shadow``, ``comparison``, ``acl``: new models and access
"""
