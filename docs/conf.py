"""How Sphinx builds the site: ``make docs``. It asks the network for nothing."""

import re
from importlib.metadata import version as version_of
from typing import Any

from sphinx.domains.python import PyObject

project = "solah"
author = "The solah developers"
release = version_of("solah")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

myst_heading_anchors = 4
myst_fence_as_directive = ["eval-rst"]
nb_execution_mode = "off"  # the tests execute notebooks, and compare what they show

napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False
strip_signature_backslash = True  # or napoleon takes fitted attributes, model_, for links
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}

html_theme = "furo"
html_title = "solah"
html_static_path = ["_static"]
html_js_files = ["access.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_css_files = ["site.css"]
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

# The pages in the order of the menu; index.md has them in sentences.
CONTENTS = {
    "Where to begin": [
        "tutorial-table",
        "tutorial-board",
        "tutorial-sensors",
        "tutorial-paper",
        "limits",
        "comparison",
    ],
    "Notebooks": ["notebooks/first-steps", "notebooks/correct", "notebooks/signals-to-c"],
    "Train and predict": [
        "concepts",
        "data",
        "signals",
        "rule-models",
        "constraints",
        "missing-values",
        "groups",
        "trees",
        "hierarchies",
        "command-line",
        "serve",
    ],
    "Understand and correct": [
        "explain",
        "trust",
        "report",
        "rules-file",
        "diff-and-card",
        "gallery",
    ],
    "Devices and nodes": [
        "export",
        "export-reference",
        "auditing",
        "blob-format",
        "site",
        "one-node-or-many",
        "network",
        "operations",
        "site-security",
        "site-reference",
    ],
    "Large data": ["scale", "streams"],
    "Reference": [
        "glossary",
        "api",
        "reference/estimators",
        "reference/models",
        "reference/trust",
        "reference/data",
        "reference/signals",
        "reference/export",
        "reference/site",
        "reference/plot",
        "reference/errors",
        "model-format",
    ],
    "Benchmarks": [
        "measured",
        "accuracy",
        "measured-quality",
        "measured-devices",
        "measured-networks",
        "reproduction",
        "decisions",
    ],
}


def _add_contents(_app: Any, name: str, source: list[str]) -> None:
    """Append the menu to the first page."""
    if name == "index":
        for title, pages in CONTENTS.items():
            listed = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n"


def _mark_figures(_app: Any, name: str, source: list[str]) -> None:
    """Tables that scripts wrote are reached by links, and are not in the menu."""
    if name.startswith("figures/"):
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def _skip(_app: Any, _what: str, name: str, _thing: Any, skip: bool, _options: Any) -> bool:
    """Skip the methods that scikit-learn adds to every estimator for its routing."""
    return skip or name.endswith(("_request", "_metadata_routing"))


def _level_headings(
    _app: Any, _name: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Give the headings of the menu a level, without which screen readers cannot place them."""
    menu = context["furo_navigation_tree"]
    context["furo_navigation_tree"] = menu.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def _part_names(
    _app: Any, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]
) -> None:
    """Give each name of ``a, b : int`` below Attributes an entry, or Sphinx takes a for a type."""
    if "Attributes" not in lines:
        return
    start = lines.index("Attributes")
    text = "\n".join(lines[start:])
    lines[start:] = re.sub(_SEVERAL_NAMES, _entry_each, text, flags=re.MULTILINE).split("\n")


_SEVERAL_NAMES = r"^(\w+(?:,\s+\w+)+)( : .+)?\n((?:    .*\n?)+)"


def _entry_each(several: re.Match[str]) -> str:
    names, kind, about = several.groups()
    return "".join(f"{name}{kind or ''}\n{about}" for name in re.split(r",\s+", names))


def setup(app: Any) -> None:
    """Prepare pages before they are read."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("source-read", _add_contents)
    app.connect("source-read", _mark_figures)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _part_names, priority=400)  # before napoleon
    app.connect("html-page-context", _level_headings, priority=900)
