"""A model spread over the nodes of a network.

plan.py      a model and where things are measured -> which node runs what
bundle.py    a plan and its model <-> one document, which may be signed
messages.py  the messages of nodes <-> bytes; everything that comes in is checked
core.py      readings and messages -> messages and decisions, without a network or a clock
opening.py   its rows: when they are opened, wait and are forgotten
sending.py   when nodes that send on change may be silent; reporting.py chooses the rows they send,
             holding.py keeps what they sent last, compact.py has their messages in few bytes
judging.py   readings unlike the training rows; decisions -> held back and settled by a policy
evaluating.py, versions.py  what of a bundle a node evaluates; which bundle is in force for a row
rows.py, position.py  the rows that a node knows something of; which rows the site is at
remembering.py, keeping.py  what a node must not forget <-> a file; when messages are acknowledged
decided_log.py  decisions that were sent, and are not remembered yet
topics.py    the topics of a site
client.py    a broker -> a connection that comes back by itself; broker.py is a small one to try
node.py      a core, a broker and readings (sources.py) -> a node that runs
launching.py a plan -> all its nodes as processes of this machine
placement.py, traffic.py, access.py  what is measured where; bytes a decision; who may publish what
observing.py, watching.py  a site -> a picture of it, for terminal.py, web.py and prometheus.py
home_assistant.py  decisions for Home Assistant; publishing.py: a new model for all nodes
"""
