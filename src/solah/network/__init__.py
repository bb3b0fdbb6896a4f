"""A model spread over the nodes of a network.

plan.py      a model and where things are measured -> which node runs what
bundle.py    a plan and its model <-> one document, which may be signed
messages.py  what nodes tell each other <-> bytes; everything that comes in is checked
core.py      readings and messages -> messages and decisions, without a network or a clock
"""
