"""Explains why a model decided on rows as it did.

explainer.py  a model and a table -> one explanation per row, block by block
values.py     what an explanation holds
as_text.py    an explanation      -> lines of text
as_html.py    an explanation      -> HTML for a notebook or a file
as_dict.py    an explanation      -> plain values for JSON
"""

from solah.explain.explanation.explainer import Explainer
from solah.explain.explanation.values import Contribution, Explanation, Reading

__all__ = ["Contribution", "Explainer", "Explanation", "Reading"]
