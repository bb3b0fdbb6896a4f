"""A rules file with everything that people write, comments among it."""

SMALL = """\
# Smoke alarm of the lab.
# Do not edit without asking.
solah rules 1

# what it decides
target alarm classes
  no  share 0.9  # most often
  yes share 0.1

feature smoke continuous from 0 to 9
  # by the data sheet
  low  up to 2 | missing 0.8  # in ppm
  high from 3  | missing 0.2

sum alarm
  baseline: no +1, yes -1  # nothing known

rules on smoke | variance 0.5  # counted
  if smoke is low: no +1, yes -1 | 80 rows: 1, 0
  # an expert said so
  # twice
  pin if smoke is high: no -2, yes +2 | 20 rows: 0.5, 0.5  # pinned
# the end
"""
