"""The paper's tables in, the same tables computed anew out, each figure beside the paper's.

published.py  nothing           -> what the paper prints
material.py   a name            -> the rows to compute on
models.py     words             -> an estimator (peers.py: those of other kinds)
cells.py      one computation   -> its figures
keeping.py    a folder          -> the cells that are done, kept and found again
tables/       figures           -> tables: rows of plain values
statistics.py scores by model   -> wins, ranks, tests
findings.py   tables            -> what agrees with the paper and what does not, in sentences
running.py    wishes, a folder  -> the one dict that everything is shown from
markdown.py   that dict         -> a page
"""

from solah.reproduction.markdown import render_page
from solah.reproduction.running import Reproduction, write_summary
from solah.reproduction.spelling import spell_table
from solah.reproduction.tables import TABLES, Wish

__all__ = ["TABLES", "Reproduction", "Wish", "render_page", "spell_table", "write_summary"]
