"""A rules file with everything that people write, comments among it."""

SMALL = """\
# Smoke alarm of the lab.
# Do not edit without asking.
solah rules 1

# what it decides
goal alarm classes
  no  prior 0.9  # most often
  yes prior 0.1

attribute smoke continuous from 0 to 9
  # by the data sheet
  low  up to 2 | unknown 0.8  # in ppm
  high from 3  | unknown 0.2

rules "of smoke" on smoke | 100 rows: 0.9, 0.1  # counted
  variance 0.5
  if smoke is low  then no +1, yes -1 | 80 rows: 1, 0
  # an expert said so
  # twice
  pin if smoke is high then no -2, yes +2 | 20 rows: 0.5, 0.5  # pinned

sum alarm
  adds "of smoke"
  begins with no +1, yes -1  # prior
# the end
"""
