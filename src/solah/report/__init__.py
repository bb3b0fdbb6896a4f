"""Reports on models: first summarised as a dict, then rendered.

summary.py       model, scores   -> dict of plain values, ready for JSON
markdown.py      that dict       -> Markdown
measures.py      measures        -> their names and spelling
groups.py        groups of rows  -> their error rates, as a table

page_summary.py  model, rows     -> that dict, and what an HTML page needs beyond it
  measuring.py · dependence.py (sampling.py) · attribute_pictures.py · live.py
  node_cards.py (rule_lines.py) · editing.py
card.py          model, rows     -> what a model card tells besides
page.py          that dict       -> one HTML page
  hierarchy_drawing.py · charts.py · heat_map.py (svg.py) · marking.py
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solah.report.groups import describe_groups, group_notes, group_table
from solah.report.markdown import render_card, render_markdown
from solah.report.measures import name_measure, score_rows, spell_spread
from solah.report.page import render_page
from solah.report.summary import (
    describe_attribute,
    describe_fusion,
    describe_goal,
    describe_hierarchy,
    describe_path,
    describe_scores,
    describe_tree,
    draw_trees,
    importance_by_name,
    strongest,
    summarise,
)

if TYPE_CHECKING:
    from solah.report.page_summary import summarise_card, summarise_page

__all__ = [
    "describe_attribute",
    "describe_fusion",
    "describe_goal",
    "describe_groups",
    "describe_hierarchy",
    "describe_path",
    "describe_scores",
    "describe_tree",
    "draw_trees",
    "group_notes",
    "group_table",
    "importance_by_name",
    "name_measure",
    "render_card",
    "render_markdown",
    "render_page",
    "score_rows",
    "spell_spread",
    "strongest",
    "summarise",
    "summarise_card",
    "summarise_page",
]


def __getattr__(name: str) -> Any:
    # Measuring needs scikit-learn, which takes longer to import than most pages to write.
    if name in ("summarise_card", "summarise_page"):
        return getattr(import_module("solah.report.page_summary"), name)
    raise AttributeError(f"module 'solah.report' has no attribute {name!r}")
