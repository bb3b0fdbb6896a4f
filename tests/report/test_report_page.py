"""The report page without a browser: what it is told, and what it is made of."""

import base64
import hashlib
import json
import re
import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import page_models
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import random_models
from solah import LinguisticTreeClassifier, RuleClassifier, datasets
from solah.data import Column, Table, from_array
from solah.evaluation import Plan, cross_validate
from solah.exceptions import DataError, ParameterError
from solah.model import AdditiveNode, Model, Target
from solah.model.encode import encode
from solah.model.evaluate import predict
from solah.model.format import from_json
from solah.report import render_markdown, render_page, summarise_page
from solah.report.charts import heat_map
from solah.report.hierarchy_drawing import draw_hierarchy
from solah.report.live import pack
from solah.report.measuring import measure_classes
from solah.report.summary import spread_evenly
from solah.report.svg import cut, tag


def summary_of(name):
    model, table, target = page_models.make(name)
    return summarise_page(model, table, target, source=name)


# --- the summary -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", page_models.NAMES)
def test_it_is_ready_for_json(name):
    summary = summary_of(name)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_classes_are_measured():
    model, table, target = page_models.make("wine, few rules")
    measured = summary_of("wine, few rules")["measured"]
    beliefs = predict(model, table)
    decided = np.array(model.target.classes)[model.target.decide(beliefs)]
    assert measured["scores"]["accuracy"] == np.mean(decided == target)
    expected = balanced_accuracy_score(target, decided)
    assert measured["scores"]["balanced_accuracy"] == pytest.approx(expected)
    for curve in measured["curves"]:
        expected = roc_auc_score(target == curve["class"], beliefs[:, curve["place"]])
        assert curve["auc"] == pytest.approx(expected)
    assert sum(map(sum, measured["confusion"])) == len(target)
    assert sum(one["pairs"] for one in measured["calibration"]) == beliefs.size


def test_what_cannot_be_measured_is_none():
    beliefs = np.array([[0.9, 0.1], [0.8, 0.2]])
    measured = measure_classes(np.zeros(2, int), beliefs, np.zeros(2, int), ["a", "b"])
    assert measured["scores"]["auc"] is None
    assert measured["classes"][1] == {"class": "b", "precision": None, "recall": None, "support": 0}
    assert measured["curves"] == []


def test_numbers_are_measured():
    model, table, target = page_models.make("a number")
    estimates = predict(model, table) @ np.array(model.target.centres)
    measured = summary_of("a number")["measured"]
    assert measured["scores"]["mae"] == pytest.approx(np.abs(estimates - target).mean())
    assert len(measured["points"]) == 400


def test_rows_of_unknown_truth_are_left_out():
    model, table, target = page_models.make("iris, one tree")
    partly = target.astype(object)
    partly[0], partly[1] = None, "tulip"
    summary = summarise_page(model, table, partly)
    assert summary["data"] == {"source": "", "rows": 150, "with_truth": 148}
    assert sum(map(sum, summary["measured"]["confusion"])) == 148
    assert "2 of 150 rows are not measured" in render_page(summary)


def test_the_truth_may_stand_among_the_columns():
    model, table, target = page_models.make("iris, one tree")
    column = Column(model.target.name, target.astype(object))
    whole = Table((*table.columns, column), table.n_rows)
    beside = summarise_page(model, table, target)
    assert summarise_page(model, whole)["measured"] == beside["measured"]


def test_without_truth_there_are_histograms_and_no_scores():
    model, table, _ = page_models.make("iris, one tree")
    summary = summarise_page(model, table)
    assert summary["measured"] is None
    (counts,) = summary["features"][0]["histogram"]["counts"]
    assert sum(counts) == 150
    assert "Nothing is measured here" in render_page(summary)
    assert len(summary["rows"]) == 50


def test_histograms_count_every_row_once():
    _, table, _ = page_models.make("mixed, one tree")
    for described in summary_of("mixed, one tree")["features"]:
        histogram = described["histogram"]
        assert np.sum(histogram["counts"]) + histogram["unknown"] == table.n_rows


def test_rows_are_spread_over_the_classes():
    model, table, target = page_models.make("wine, few rules")
    rows = summarise_page(model, table, target)["rows"]
    truths = [row["truth"] for row in rows]
    assert [row["row"] for row in rows] == sorted({row["row"] for row in rows})
    assert sorted(map(truths.count, set(truths))) == [16, 17, 17]
    assert all(target[row["row"] - 1] == row["truth"] for row in rows)


@given(st.integers(1, 500), st.integers(1, 60))
def test_rows_evenly_apart(n_rows, most):
    chosen = spread_evenly(n_rows, most)
    assert len(chosen) == min(n_rows, most)
    assert chosen.tolist() == sorted(set(chosen.tolist()))
    assert 0 <= chosen[0] <= chosen[-1] < n_rows


def test_features_of_one_group_stand_together():
    model, _, _ = page_models.make("breast cancer")
    dependence = summary_of("breast cancer")["dependence"]
    assert sorted(dependence["names"]) == sorted(one.name for one in model.features)
    matrix = np.array(dependence["matrix"])
    np.testing.assert_array_equal(matrix, matrix.T)
    parts = {part.name: part for part in model.parts}
    assert len(dependence["groups"]) > 1
    for group in dependence["groups"]:
        own = dependence["names"][group["start"] : group["stop"]]
        below = parts[group["part"]].origins
        origins = [name for part in below if part in parts for name in parts[part].origins]
        assert sorted(own) == sorted(set(origins or below))


def test_too_many_features_are_not_compared():
    table, target = page_models.many_columns(n_columns=101, n_rows=30)
    model = LinguisticTreeClassifier(max_depth=1).fit(table, target).model_
    summary = summarise_page(model, table, target)
    assert summary["dependence"]["names"] == []
    assert "101 features would not be legible" in render_page(summary)


def test_a_column_without_values_depends_on_nothing():
    model, table, target = page_models.make("iris, one tree")
    empty = Column(table.names[0], np.full(150, np.nan))
    summary = summarise_page(model, Table((empty, *table.columns[1:]), 150), target)
    place = summary["dependence"]["names"].index(table.names[0])
    assert sum(summary["dependence"]["matrix"][place]) == 1
    assert "missing in 150 rows" in render_page(summary)


def test_rows_that_cannot_be_used():
    model, table, target = page_models.make("iris, one tree")
    with pytest.raises(DataError, match="no column"):
        summarise_page(model, table.drop([table.names[0]]))
    with pytest.raises(DataError, match="no rows"):
        summarise_page(model, table.rows(0, 0))
    with pytest.raises(DataError, match="150 rows, but y has 3"):
        summarise_page(model, table, target[:3])
    with pytest.raises(ParameterError, match="Got ndarray"):
        summarise_page(model, np.zeros((2, 4)))


def test_frames_are_rows_too():
    wine = datasets.load("wine")
    model, table, target = page_models.make("wine, few rules")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({column.name: column.values for column in wine.table.columns})
    assert summarise_page(model, frame, target) == summarise_page(model, table, target)


# --- the page --------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Gathers the elements of a page and what the scripts and styles in it hold."""

    def __init__(self, page):
        super().__init__()
        self.found, self.inside = [], {}
        self.feed(page)

    def handle_starttag(self, name, features):
        self.found.append((name, dict(features)))

    def handle_data(self, text):
        if self.found and self.found[-1][0] in ("script", "style"):
            key = self.found[-1][1].get("type", "style")
            self.inside.setdefault(key, text)


def test_the_policy_allows_what_stands_in_the_page_and_nothing_else():
    elements = Elements(render_page(summary_of("wine, few rules")))
    (policy,) = (a["content"] for _, a in elements.found if "http-equiv" in a)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def digest(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'",
        "script-src": digest(elements.inside["module"]),
        "style-src": digest(elements.inside["style"]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    for name, features in elements.found:
        assert "style" not in features, name
        assert not any(key.startswith("on") for key in features), name
        address = features.get("href") or features.get("src") or "#"
        assert address.startswith(("#", "data:image/png")), address


@pytest.mark.parametrize("name", page_models.NAMES)
def test_the_page_is_well_made(name):
    page = render_page(summary_of(name))
    elements = Elements(page)
    ids = [features["id"] for _, features in elements.found if "id" in features]
    assert len(ids) == len(set(ids))
    links = {a["href"][1:] for _, a in elements.found if a.get("href", "").startswith("#")}
    assert links <= set(ids)
    named = {a["for"] for _, a in elements.found if "for" in a}
    assert named <= set(ids)
    assert json.loads(elements.inside["application/json"])["model"]["nodes"]


def test_what_the_script_reads_cannot_end_its_element():
    nasty = "</script><!--\u2028&"
    table = from_array(np.arange(40.0)[:, None], [nasty])
    model = LinguisticTreeClassifier().fit(table, np.repeat([nasty, "b"], 20)).model_
    page = render_page(summarise_page(model, table))
    payload = Elements(page).inside["application/json"]
    assert not re.search("[<>&\u2028]", payload)
    assert json.loads(payload)["model"]["features"][0]["name"] == nasty
    assert nasty not in page


def test_how_few_rules_suffice_is_told_where_it_is_known():
    table, target = page_models.mixed_table()
    fitted = RuleClassifier().fit(table, target)
    scores = cross_validate({"tr<ee": LinguisticTreeClassifier()}, table, target, Plan(3))
    page = render_page(summarise_page(fitted.model_, scores=scores, path=fitted.path_))
    assert "Number of rules" in page
    assert "3 folds (stratified), seed 0" in page
    assert "tr&lt;ee" in page
    assert "Number of rules" not in render_page(summarise_page(fitted.model_))


def test_a_model_of_one_rule():
    table = Table((Column("x", np.ones(4)),), 4)
    model = LinguisticTreeClassifier().fit(table, ["a", "b", "a", "b"]).model_
    page = render_page(summarise_page(model, table, ["a", "b", "a", "b"]))
    assert "nothing to compare it with" in page
    assert "always" in page


@pytest.mark.parametrize(
    ("target", "baseline"),
    [(Target("y", ("a", "b"), shares=(0.3, 0.7)), (-0.4, 0.4)), (Target("y"), (3.0,))],
)
def test_a_constant_has_a_page_and_no_rules(target, baseline):
    iris, table, _ = page_models.make("iris, one tree")
    model = Model(target, iris.features, (AdditiveNode("y", baseline),))
    summary = summarise_page(model, table, np.repeat([*target.classes, 3.0][:1], 150))
    assert [node["about"] for node in summary["nodes"]] == ["adds up nothing"]
    assert json.loads(payload_of(summary)["editing"]["node"]["baseline"]) == list(baseline)
    assert render_markdown(summary)


# --- pictures --------------------------------------------------------------------------------


TARGET = {"classes": ["a", "b"]}


def node(place, inputs, title="tree"):
    known = {"belief": [0.5, 0.5], "result": "a 0.50", "about": "", "hint": "x, y"}
    return {"place": place, "inputs": inputs, "title": title, **known}


@st.composite
def hierarchies(draw):
    """Wire nodes at random: every node but the last feeds one that follows."""
    n_nodes = draw(st.integers(1, 40))
    parents = [draw(st.integers(i + 1, n_nodes - 1)) for i in range(n_nodes - 1)]
    return [node(i, [j for j, up in enumerate(parents) if up == i]) for i in range(n_nodes)]


@given(hierarchies(), st.sampled_from([354, 1060]))
def test_no_card_hides_another(nodes, width):
    drawing = str(draw_hierarchy(nodes, TARGET, width, "wide"))
    places = re.findall(r'translate\(([\d.]+) ([\d.]+)\)[^>]*data-node="(\d+)"', drawing)
    sizes = re.findall(r'<rect width="([\d.]+)" height="([\d.]+)" rx', drawing)
    assert sorted(int(place) for *_, place in places) == list(range(len(nodes)))
    boxes = [
        (float(x), float(y), float(x) + float(w), float(y) + float(h))
        for (x, y, _), (w, h) in zip(places, sizes, strict=True)
    ]
    right, bottom = map(float, re.search(r'viewBox="-1 -1 (\d+) (\d+)"', drawing).groups())
    for i, (x, y, end_x, end_y) in enumerate(boxes):
        assert end_x <= right
        assert end_y <= bottom
        for other_x, other_y, other_end_x, other_end_y in boxes[:i]:
            assert end_x <= other_x or other_end_x <= x or end_y <= other_y or other_end_y <= y


def test_rows_of_cards_are_wrapped():
    nodes = [*(node(i, []) for i in range(60)), node(60, list(range(60)))]
    drawing = draw_hierarchy(nodes, TARGET, 1060, "wide")
    assert int(re.search(r'width="(\d+)"', drawing)[1]) <= 1062
    assert drawing.count("data-node") == 61


def test_a_cascade_of_many_levels_is_drawn():
    nodes = [node(i, [i - 1] if i else []) for i in range(600)]
    assert draw_hierarchy(nodes, TARGET, 354, "narrow").count("data-node") == 600


def test_long_names_are_cut():
    nodes = [node(0, [], "<b>" + "long" * 20)]
    drawing = draw_hierarchy(nodes, TARGET, 1060, "wide")
    assert "&lt;b&gt;longlong" in drawing
    assert "…" in drawing
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("色色色色", 6) == "色色…"


def test_elements_are_escaped():
    assert tag("a", "<", x='">', y=None) == '<a x="&#34;&gt;">&lt;</a>'
    assert tag("g", tag("b"), x=-0.001, y=2.50) == '<g x="0" y="2.5"><b/></g>'


def test_the_heat_map_is_the_matrix():
    matrix = [[1.0, 0.25], [0.25, 1.0]]
    drawing = heat_map({"names": ["a", "<"], "matrix": matrix, "groups": []})
    data = base64.b64decode(re.search('base64,([^"]+)', drawing)[1])
    assert struct.unpack(">II", data[16:24]) == (2, 2)
    (length,) = struct.unpack(">I", data[33:37])
    lines = zlib.decompress(data[41 : 41 + length])
    assert [lines[4], lines[8], lines[13], lines[17]] == [255, 64, 64, 255]
    assert "&lt;" in drawing


@pytest.mark.parametrize("constant", [0.0, 7.5, 1e20, -1e35])
def test_readings_that_are_all_the_same_or_infinite_have_a_picture(constant):
    X = np.column_stack([np.full(40, constant), np.arange(40.0)])
    model = LinguisticTreeClassifier(feature_types={"x0": "continuous"}).fit(X, X[:, 1] > 20).model_
    X[0], X[1] = np.inf, -np.inf
    summary = summarise_page(model, from_array(X, ["x0", "x1"]))
    picture = summary["features"][0]
    low, high = picture["shown"]
    assert low < constant < high
    (counts,) = picture["histogram"]["counts"]
    assert [counts[0], counts[12], counts[-1]] == [1, 38, 1]
    assert render_page(summary)


# --- the edit mode ---------------------------------------------------------------------------


def payload_of(summary):
    text = re.search(r'id="payload">(.*?)</script>', render_page(summary), re.DOTALL)[1]
    return json.loads(text)


def unpacked(packed):
    values = np.frombuffer(base64.b64decode(packed["values"]), "<f8")
    return values[np.frombuffer(base64.b64decode(packed["codes"]), "<u2")]


@given(st.lists(st.none() | st.floats(-1e36, 1e36), min_size=1, max_size=300))
def test_packed_numbers_are_exact(numbers):
    expected = np.array(numbers, dtype=np.float64)
    np.testing.assert_array_equal(unpacked(pack(numbers)), expected)


@pytest.mark.parametrize("name", page_models.NAMES)
def test_only_rules_that_add_up_can_be_edited(name):
    model, _, _ = page_models.make(name)
    summary = summary_of(name)
    can_be_edited = model.is_additive
    assert bool(summary["editing"]["why_not"]) is not can_be_edited
    assert (payload_of(summary)["editing"] is not None) is can_be_edited
    assert ("Start editing" in render_page(summary)) is can_be_edited
    assert ("cannot be edited here" in render_page(summary)) is not can_be_edited


def test_a_tree_over_a_sum_cannot_be_edited():
    model = random_models.random_model(np.random.default_rng(2), "over a sum")
    assert summarise_page(model)["editing"]["why_not"]


@pytest.mark.parametrize("name", ["wine, few rules", "groups", "a number, added up"])
def test_the_parts_of_the_document_are_the_document(name):
    model, _, _ = page_models.make(name)
    editing = payload_of(summary_of(name))["editing"]
    whole = joined(editing["document"] | {"nodes": [joined(editing["node"])]})
    assert from_json(whole.encode()) == model


def joined(texts):
    """Put a record together of the texts of its values."""
    text = {
        key: f"[{','.join(value)}]" if isinstance(value, list) else value
        for key, value in texts.items()
    }
    return f"{{{','.join(f'{json.dumps(key)}: {value}' for key, value in text.items())}}}"


def test_rows_to_try_an_edit_on_are_spread_over_all(monkeypatch):
    monkeypatch.setattr("solah.report.page_summary.MAX_SAMPLE", 40)
    model, table, target = page_models.make("groups")
    sample = payload_of(summarise_page(model, table, target))["sample"]
    chosen = np.array(sample["rows"]) - 1
    assert len(chosen) == 40
    assert (chosen[0], chosen[-1]) == (0, table.n_rows - 1)
    readings = encode(table, model.features)[chosen]
    np.testing.assert_array_equal(
        np.column_stack(list(map(unpacked, sample["readings"]))), readings
    )
    states = np.array(model.target.classes)
    np.testing.assert_array_equal(states[unpacked(sample["truth"]).astype(int)], target[chosen])


def test_a_page_without_rows_has_none():
    model, table, target = page_models.make("groups")
    summary = summarise_page(model, table, target, with_rows=False)
    page = render_page(summary)
    assert (payload_of(summary)["rows"], payload_of(summary)["sample"]) == ([], None)
    assert "This page holds no rows" in page
    assert summary["measured"] == summary_of("groups")["measured"]
