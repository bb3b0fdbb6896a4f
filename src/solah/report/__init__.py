"""A model in, a page about it out: first summarised as a dict, then rendered.

summary.py   model, scores -> dict of plain values, ready for JSON
markdown.py  that dict     -> Markdown
measures.py  a measure     -> its name and spelling
"""

from solah.report.markdown import render_markdown
from solah.report.measures import name_measure, spell_spread
from solah.report.summary import (
    describe_attribute,
    describe_goal,
    describe_rule,
    describe_scores,
    importance_by_name,
    summarise,
)

__all__ = [
    "describe_attribute",
    "describe_goal",
    "describe_rule",
    "describe_scores",
    "importance_by_name",
    "name_measure",
    "render_markdown",
    "spell_spread",
    "summarise",
]
