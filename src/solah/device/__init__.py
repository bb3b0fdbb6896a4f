"""What a device computes: a model as tables of numbers, and simulators that decide by them.

layout.py        a program -> what devices compute: curves, tables of categories, walks
float_tables.py  that    -> tables of float32          float_simulator.py  tables, rows -> decisions
fixed_tables.py  that    -> tables of integers         fixed_simulator.py  tables, rows -> decisions
policy_tables.py a policy and a domain in these numbers, and decisions by them
units.py         words   -> the unit in which integers read a feature
simulator.py          what both simulators share
"""
