"""A model in, a page about it out: first summarised as a dict, then rendered.

summary.py   model, scores -> dict of plain values, ready for JSON
markdown.py  that dict     -> Markdown
measures.py  measures      -> their names and spelling
"""

from solah.report.markdown import render_markdown
from solah.report.measures import name_measure, score_rows, spell_spread
from solah.report.summary import (
    describe_attribute,
    describe_choice,
    describe_fusion,
    describe_goal,
    describe_hierarchy,
    describe_rule,
    describe_scores,
    describe_tree,
    draw_trees,
    importance_by_name,
    strongest,
    summarise,
)

__all__ = [
    "describe_attribute",
    "describe_choice",
    "describe_fusion",
    "describe_goal",
    "describe_hierarchy",
    "describe_rule",
    "describe_scores",
    "describe_tree",
    "draw_trees",
    "importance_by_name",
    "name_measure",
    "render_markdown",
    "score_rows",
    "spell_spread",
    "strongest",
    "summarise",
]
