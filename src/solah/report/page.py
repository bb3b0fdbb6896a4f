"""Renders a summary as one HTML page: all in it, nothing fetched, every name escaped."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from solah.data.spelling import spell
from solah.export.js_tables import evaluator_text
from solah.export.quoting import script_json
from solah.report import charts, svg
from solah.report.charts import heat_map
from solah.report.groups import group_notes, group_table, score_rows
from solah.report.hierarchy_drawing import draw_hierarchy
from solah.report.live import pack

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCRIPTS = (
    "model.js",
    "feature.js",
    "change.js",
    "trial.js",
    "numbers.js",
    "spelling.js",
    "controls.js",
    "outcome.js",
    "edits.js",
    "editor.js",
    "effects.js",
    "page.js",
)
_STYLE = "report.css"
_NUMBERS = (svg.few, svg.fixed, svg.mean, svg.percent, svg.whole)
_WIDE, _NARROW = 1060, 354


def render_page(summary: dict[str, Any]) -> str:
    """Write the report as one HTML page.

    The page loads nothing from anywhere: its content security policy allows its own script and
    style, known by their hashes, and nothing else.

    Parameters
    ----------
    summary : dict
        As :func:`solah.report.summarise_page` returns it.

    Returns
    -------
    page : str
    """
    script, style = "".join((evaluator_text(), *map(_read, _SCRIPTS))), _read(_STYLE)
    marker = svg.Marker(_names(summary))
    return (
        _environment(marker)
        .get_template("report.html.j2")
        .render(
            **summary,
            # What is in the page is allowed, and nothing else.
            policy=(
                f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
                "img-src data:; base-uri 'none'; form-action 'none'"
            ),
            script=Markup(script),
            style=Markup(style),
            payload=_payload(summary, marker),
        )
    )


def _environment(marker: svg.Marker) -> Environment:
    environment = Environment(
        loader=PackageLoader("solah.report"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.globals.update(
        belief_bar=charts.belief_bar,
        calibration_picture=charts.calibration_picture,
        colour_class=charts.colour_class,
        curves_picture=charts.curves_picture,
        group_notes=group_notes,
        group_table=group_table,
        heat_map=heat_map,
        narrow_drawing=partial(draw_hierarchy, width=_NARROW, style="narrow"),
        path_picture=charts.path_picture,
        risk_picture=charts.risk_picture,
        shape_picture=charts.shape_picture,
        scatter_picture=charts.scatter_picture,
        wide_drawing=partial(draw_hierarchy, width=_WIDE, style="wide"),
        word_shade=charts.word_shade,
        words_picture=charts.words_picture,
    )
    environment.filters.update(
        score_rows=score_rows,
        told=marker.mark,
        written=svg.written,
        **{one.__name__: one for one in _NUMBERS},
    )
    return environment


def _names(summary: dict[str, Any]) -> Iterator[str]:
    """List what texts of the page name beside numbers."""
    yield summary["target"]["name"]
    yield from map(spell, summary["live"]["target"]["labels"])
    for feature in summary["features"]:
        yield feature["name"]
        yield from (word["word"] for word in feature["words"])
    for node in summary["nodes"]:
        yield node["name"]
    for one in summary["by"]:
        yield one["column"]
        yield from (group["group"] for group in one["groups"])


def _read(name: str) -> str:
    return files("solah.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _payload(summary: dict[str, Any], marker: svg.Marker) -> Markup:
    """Write the data of the script as JSON that cannot end the element around it."""
    rows, sample = summary["rows"], summary["sample"]
    if not summary["target"]["classes"]:  # a number is shown as the page writes it
        rows = [{**row, "truth": row["truth"] and svg.written(row["truth"])} for row in rows]
    packed = sample and {
        "rows": sample["rows"],
        "readings": list(map(pack, sample["readings"])),
        "truth": pack(sample["truth"]),
    }
    read = {
        "model": summary["live"],
        "colours": charts.N_COLOURS,
        "rows": rows,
        "start": [feature["usual"] for feature in summary["features"]],
        "shown": [feature["shown"] for feature in summary["features"]],
        "dependence": summary["dependence"]
        and {
            key: summary["dependence"][key]
            for key in ("names", "matrix")
            if key in summary["dependence"]
        },
        "editing": _editing(summary, marker),
        "sample": packed,
    }
    return Markup(script_json(read))


def _editing(summary: dict[str, Any], marker: svg.Marker) -> dict[str, Any] | None:
    """Gather the data of the edit mode: the document, and the names of nodes and rules."""
    if summary["editing"]["why_not"]:
        return None
    nodes = summary["nodes"]
    return {
        "document": summary["editing"]["document"],
        "node": summary["editing"]["node"],
        "titles": [node["title"] for node in nodes],
        "counts": [node["n_rules"] for node in nodes],
        "rules": [
            [
                {
                    "text": f"if {' and '.join(rule['conditions'])}" * bool(rule["conditions"])
                    or "always",
                    "fact": marker.split(rule["fact"]),
                }
                for rule in node["rules"]
            ]
            for node in nodes
        ],
    }
