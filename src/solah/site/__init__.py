"""Sites: a model on the nodes of an MQTT network.

In the order of the data:

- ``settings``, ``site_file``: the site file, checked with the line of every error
- ``units``, ``templates``: units and durations; what common firmware publishes
- ``sensor_source``, ``kafka``, ``sparkplug``, ``payloads``, ``sensor_mapping``: messages of sensors
  become readings of features
- ``aligner``, ``feed``, ``journal``: readings become rows, on a clock and on disk
- ``plan``, ``bundle``, ``trust``: which node runs what; one signed document of plan and model
- ``messages``, ``topics``: what nodes send each other; everything that comes in is checked
- ``core``, ``open_rows``, ``evaluation``, ``decision_policy``: rows become decisions, without a
  network or a clock
- ``send_on_change``, ``change_filter``, ``held_rows``, ``compact_messages``: nodes that send only
  what matters
- ``node``, ``client``, ``backlog``, ``state_file``: a node on a broker, whose
  restart loses nothing
- ``supervisor``: the nodes of a site as processes of this machine
- ``observer``, ``watch``, ``terminal``, ``web``, ``prometheus``, ``alerts``: how a site is doing
- ``publication``, ``shadow``, ``home_assistant``, ``acl``, ``proposal``: operating a site
"""
