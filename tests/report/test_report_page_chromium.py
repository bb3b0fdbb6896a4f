"""The report page in a real browser: it computes as the model does, and can be used by everyone."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import page_models
import pytest

from policy_cases import room
from solah.data import Column, Table
from solah.explain.contributions import feature_rows
from solah.explain.counterfactuals import ChangeFinder
from solah.explain.traversal import TracedRows, numbers_of
from solah.model.document import Task
from solah.model.encode import encode
from solah.report import render_page, summarise_page

pytestmark = pytest.mark.slow

PHONE = {"width": 360, "height": 740}
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><svg onload=alert(1)>",
    "שלום עולם",
    "a\u2028b & {{ 7 * 7 }} 色",
)


@pytest.fixture(scope="module")
def still_page(show):
    """Return a function that opens a model's page once, for tests that leave it as it is."""
    return cache(lambda name: show(page_models.summary_of(name), viewport=PHONE))


def ask(page, question, readings):
    """Evaluate an expression of a row for every row; as text, which is much quicker."""
    rows = [[None if np.isnan(x) else x for x in row] for row in readings.tolist()]
    script = f"text => JSON.stringify(JSON.parse(text).map(row => {question}))"
    return json.loads(page.evaluate(script, json.dumps(rows)))


# --- the arithmetic --------------------------------------------------------------------------


@pytest.mark.parametrize("name", page_models.NAMES)
def test_the_page_computes_as_the_model_does(name, still_page):
    model, _, _ = page_models.make(name)
    readings = encode(page_models.random_rows(model, 1000), model.features)
    computed = ask(still_page(name), "solah.evaluate(row)", readings)
    rows = TracedRows(model.program, readings)
    beliefs = np.array([one["beliefs"] for one in computed])
    for place, node in enumerate(model.parts):
        expected = rows.outputs(node.name)
        np.testing.assert_allclose(beliefs[:, place], expected, rtol=0, atol=1e-12)
    root = rows.outputs(model.root.name)
    if model.target.task is Task.REGRESSION:
        outcomes = [one["estimate"] for one in computed]
        np.testing.assert_allclose(outcomes, numbers_of(model.target, root), rtol=1e-12)
    else:
        outcomes = [one["decision"] for one in computed]
        assert outcomes == model.target.decide(root).tolist()


def test_the_page_says_when_it_does_not_know(open_page):
    model = room()
    page = open_page(summarise_page(model), "#at=_,_")
    page.locator("#verdict", has_text="don't know").wait_for()
    told = page.locator("#abstain_reasons").text_content()
    assert told.startswith("Abstains (don't know): ")
    assert "completeness is 0, below 0.5" in told
    page.goto(page.url.split("#")[0] + "#at=5000,1")
    page.get_by_text("CO2 5000 is outside 390 to 1500").wait_for()
    sure = open_page(summarise_page(replace(model, policy=None)), "#at=1000,1")
    sure.locator("#abstain_reasons").wait_for(state="hidden")
    assert sure.locator("#verdict").text_content() in model.target.classes


@pytest.mark.parametrize("name", page_models.NAMES)
def test_the_page_explains_as_the_model_does(name, still_page):
    model, _, _ = page_models.make(name)
    rows = page_models.random_rows(model, 30, seed=1)
    page = still_page(name)
    explained = ask(page, "solah.contributions(row)", encode(rows, model.features))
    parts = np.array([one["parts"] for one in explained])
    expected = feature_rows(model, rows)
    np.testing.assert_allclose(parts, expected.effects, rtol=0, atol=1e-9)
    before, after = (np.array([one[end] for one in explained]) for end in ("before", "after"))
    np.testing.assert_allclose(before + parts.sum(axis=1), after, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "wine, few rules",
        "wine, belief words",
        "a cascade",
        "wine, the paper's",
        "iris, one tree",
        "mixed, weighed",
        "mixed, one tree",
        "words and pairs",
        "groups",
    ],
)
def test_the_page_finds_the_changes_that_python_finds(name, still_page):
    model, table, _ = page_models.make(name)
    readings = encode(table, model.features)[::11]
    found = ask(still_page(name), "solah.changes(row)", readings)
    finder = ChangeFinder(model)
    for row, changes in zip(readings, found, strict=True):
        expected = {change.moves[0].feature: change for change in finder.of_row(row).one}
        own = {model.features[one["feature"]].name: one for one in reversed(changes)}
        assert own.keys() == expected.keys()
        assert [one["move"] for one in changes] == sorted(one["move"] for one in changes)
        for feature in model.features:
            if feature.name in own and feature.is_continuous:
                check_same_change(own[feature.name], expected[feature.name], model.target)
    assert sum(map(len, found)) > 5


def check_same_change(change, expected, target):
    (move,) = expected.moves
    assert target.classes[change["decision"]] == expected.decision
    assert change["edge"] == pytest.approx(move.after, rel=1e-9, abs=1e-12)
    assert change["to"] == pytest.approx(move.rounded, rel=1e-9, abs=1e-12)
    assert change["move"] == pytest.approx(move.size, rel=1e-9, abs=1e-12)


def test_every_change_changes_the_decision(still_page):
    model, table, _ = page_models.make("mixed, one tree")
    readings = encode(table, model.features)[::5]
    (decisions, after) = zip(
        *ask(
            still_page("mixed, one tree"),
            "[solah.evaluate(row).decision, solah.changes(row).map(({ feature, to, decision }) =>"
            " [decision, solah.evaluate(row.with(feature, to)).decision])]",
            readings,
        ),
        strict=True,
    )
    assert any(after)
    for decision, changes in zip(decisions, after, strict=True):
        for promised, decided in changes:
            assert promised == decided != decision


# --- what names can do -----------------------------------------------------------------------


def nasty_table():
    random = np.random.default_rng(0)
    states = np.array(NASTY, dtype=object)[random.integers(0, len(NASTY), 80)]
    numbers = [Column(name, random.normal(size=80)) for name in NASTY[1:]]
    target = np.array(NASTY, dtype=object)[np.argmax([c.values for c in numbers], axis=0)]
    return Table((Column(NASTY[0], states), *numbers), 80), target


def test_names_are_text_and_nothing_else(open_page):
    from solah import LinguisticHierarchyClassifier, LinguisticTreeClassifier

    table, target = nasty_table()
    wiring = {f"{NASTY[1]}!": [*NASTY[:2]], f"{NASTY[2]}!": [f"{NASTY[1]}!", *NASTY[2:]]}
    tree = LinguisticTreeClassifier(max_depth=2)
    model = LinguisticHierarchyClassifier(wiring, tree=tree).fit(table, target).model_
    page = open_page(summarise_page(model, table, target, source=NASTY[1]))
    page.locator("#all-rules").click()
    page.locator("#forget").click()
    page.locator("#row").select_option(index=2)
    page_models.settle(page)
    assert page.evaluate("document.querySelectorAll('img, [onload], [onerror]').length") == 0
    assert sorted(page.locator(".control label[for]").all_text_contents()) == sorted(NASTY)
    assert page.locator("#verdict").text_content() in NASTY


# --- using it --------------------------------------------------------------------------------


def test_a_reading_moves_the_decision_and_the_drawing(open_model):
    page = open_model("wine, few rules")
    before = page.evaluate("solah.readings")
    control = page.locator(".control").first
    place = int(control.get_attribute("data-feature"))
    results = page.locator(".hierarchy.wide .node .result").all_text_contents()
    control.locator("input[type=number]").fill("0")
    page_models.settle(page)
    after = page.evaluate("solah.readings")
    assert after[place] == 0
    assert after[:place] + after[place + 1 :] == before[:place] + before[place + 1 :]
    assert page.locator(".hierarchy.wide .node .result").all_text_contents() != results
    assert page.locator("#row").input_value() == ""
    control.locator("input[type=checkbox]").check()
    page_models.settle(page)
    assert page.evaluate("solah.readings")[place] is None
    control.locator("input[type=checkbox]").uncheck()
    page_models.settle(page)
    assert page.evaluate("solah.readings")[place] == 0


def test_what_is_shown_adds_up(open_model):
    page = open_model("wine, few rules")
    figures = page.locator("#why output").all_text_contents()
    minus = "\N{MINUS SIGN}"
    start, *steps, end = (float(text.replace(minus, "-").rstrip(" %")) for text in figures)
    assert abs(start + sum(steps) - end) < 0.1 * len(steps)
    assert page.locator("#certainty").text_content() == figures[-1]


def test_trying_a_change_changes_the_decision(open_model):
    page = open_model("wine, few rules")
    before = page.locator("#verdict").text_content()
    promised = page.locator("#change li").first.locator(".class bdi").text_content()
    page.locator("#change button").first.click()
    page_models.settle(page)
    assert page.locator("#verdict").text_content() == promised != before


def test_a_link_keeps_the_state(open_model):
    page = open_model("mixed, weighed")
    page.locator("#forget").click()
    page.locator(".control input[type=number]").first.fill("9.25")
    page.locator(".control select").first.select_option(index=1)
    page_models.settle(page)
    readings = page.evaluate("solah.readings")
    assert 9.25 in readings
    assert None in readings
    link = page.locator("#link").get_attribute("href")
    assert page.evaluate("location.hash") == link
    page.reload()
    page.locator("#why li").first.wait_for(state="attached")
    assert page.evaluate("solah.readings") == readings


@pytest.mark.parametrize(
    "link",
    ["#at=", "#at=1,2", "#at=x,x,x,x", "#at=9,1,1,1", "#at=%3Cscript%3E", "#no-such", "#at=,,,"],
)
def test_links_that_make_no_sense_are_ignored(link, open_model, still_page):
    expected = still_page("mixed, weighed").evaluate("solah.readings")
    assert open_model("mixed, weighed", link).evaluate("solah.readings") == expected


def test_the_keyboard_opens_the_rules_of_a_tree(open_model):
    page = open_model("wine, weighed")
    card = page.locator(".hierarchy.wide .node").nth(3)
    place = card.get_attribute("data-node")
    rules = page.locator(f"details[data-node='{place}']")
    assert not rules.is_visible()
    card.focus()
    page.keyboard.press("Enter")
    rules.wait_for(state="visible")
    assert rules.get_attribute("open") is not None
    assert page.evaluate("document.activeElement.id") == f"node-{place}"
    fired = rules.locator(".fires .fired output")
    fired.first.wait_for(state="attached")
    assert abs(sum(map(float, fired.all_text_contents())) - 1) < 0.02


def test_many_features_are_found_by_name(open_model):
    page = open_model("many")
    visible = page.locator(".control:visible")
    assert visible.count() == 12
    page.locator("#more").click()
    assert visible.count() == 60
    page.locator("#more").click()
    page.locator("#filter").fill("BAND 5")
    assert visible.count() == 11
    page.locator("#filter").fill("no such name")
    assert visible.count() == 0
    assert page.locator("#no-match").is_visible()


def test_the_theme_is_kept_in_memory_only(open_model):
    page = open_model("iris, one tree", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.locator("#theme").click()
    assert page.evaluate(ground) != light
    page.reload()
    page.locator("#why li").first.wait_for(state="attached")
    assert page.evaluate(ground) == light
    assert page.evaluate("document.cookie") == ""


def test_the_dependence_of_two_features_can_be_read(open_model):
    dependence = page_models.summary_of("wine, few rules")["dependence"]
    page = open_model("wine, few rules")
    page.locator("#heat").focus()
    page.keyboard.press("ArrowRight")
    first, second = dependence["names"][:2]
    value = dependence["matrix"][0][1]
    assert page.locator("#heat-value").text_content() == f"{first}, {second}: {value:.2f}"


def test_all_rules_are_open_on_paper(open_model):
    page = open_model("wine, weighed")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


# --- for everyone ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", page_models.NAMES)
def test_a_phone_does_not_scroll_sideways(name, still_page):
    page = still_page(name)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("name", ["wine, few rules", "mixed, one tree", "a number"])
def test_no_serious_fault_of_accessibility(name, open_model):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_model(name, bypass_csp=True)
    if page.locator("#all-rules").count():
        page.locator("#all-rules").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.run(page).response["violations"]
        serious = {
            one["id"]: [node["html"][:120] for node in one["nodes"][:3]]
            for one in found
            if one["impact"] in ("serious", "critical")
        }
        assert not serious, json.dumps({scheme: serious}, indent=1)


def test_a_page_without_script_shows_all_but_the_what_if(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(page_models.summary_of("wine, few rules")), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert not page.locator("#what-if").is_visible()
    assert page.locator("details[data-node] summary").first.is_visible()
    assert page.locator(".hierarchy.wide").is_visible()
    context.close()


# --- size and speed --------------------------------------------------------------------------


def check_size_and_speed(open_page, summary):
    bare = render_page({**summary, "rows": [], "sample": None})
    assert len(bare.encode()) < 1_000_000
    held = sum(map(len, summary["sample"]["readings"]))
    assert len(render_page(summary).encode()) < len(bare.encode()) + 14 * held + 100_000
    page = open_page(summary)
    inspector = page.context.new_cdp_session(page)
    inspector.send("Performance.enable")
    page.reload()
    page.locator("#why li").first.wait_for(state="attached")
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    (seconds,) = (one["value"] for one in metrics if one["name"] == "ThreadTime")
    assert 0.01 < seconds < 2  # of the processor's time, whatever else the machine does


def test_sixty_features_open_quickly(open_page):
    check_size_and_speed(open_page, page_models.summary_of("many"))


@pytest.mark.shared
def test_sonar_opens_quickly(open_page, shared_data):
    from solah import RuleClassifier, datasets

    sonar = datasets.load("sonar")
    model = RuleClassifier().fit(sonar.table, sonar.target).model_
    check_size_and_speed(open_page, summarise_page(model, sonar.table, sonar.target))
