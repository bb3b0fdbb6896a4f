"""Reports on models: first summarised as a dict, then rendered.

summary.py       model, scores   -> dict of plain values, ready for JSON
page_summary.py  model, rows     -> that dict, and what an HTML page needs beyond it
  measuring.py · live.py · node_cards.py
groups.py        measures        -> their names and texts; tables of groups of rows
markdown.py      that dict       -> Markdown
page.py          that dict       -> one HTML page
  hierarchy_drawing.py · charts.py (svg.py)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solah.report.groups import (
    describe_groups,
    group_notes,
    group_table,
    name_measure,
    score_rows,
    spell_spread,
)
from solah.report.markdown import render_card, render_markdown
from solah.report.page import render_page
from solah.report.summary import (
    describe_feature,
    describe_hierarchy,
    describe_parts,
    describe_path,
    describe_scores,
    describe_target,
    draw_trees,
    importance_by_name,
    rule_depth,
    strongest,
    summarise,
)

if TYPE_CHECKING:
    from solah.report.page_summary import summarise_card, summarise_page

__all__ = [
    "describe_feature",
    "describe_groups",
    "describe_hierarchy",
    "describe_parts",
    "describe_path",
    "describe_scores",
    "describe_target",
    "draw_trees",
    "group_notes",
    "group_table",
    "importance_by_name",
    "name_measure",
    "render_card",
    "render_markdown",
    "render_page",
    "rule_depth",
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
