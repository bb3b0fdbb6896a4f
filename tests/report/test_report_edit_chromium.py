"""The edit mode of the report page in a browser: it shows what the edited model does."""

import json
from dataclasses import replace

import numpy as np
import page_models
import pytest

import random_models
from solah import load_model
from solah.edit import Editor, read_rules, write_rules
from solah.evaluation import score_numbers, score_probabilities
from solah.explain.traversal import numbers_of
from solah.model import Target, load_document
from solah.model.document import Task
from solah.model.evaluate import predict
from solah.model.provenance import Edit
from solah.report import summarise_page

pytestmark = pytest.mark.slow

ADDITIVE = (
    "wine, few rules",
    "wine, weighed by hand",
    "breast cancer",
    "mixed, weighed",
    "words and pairs",
    "groups",
    "a number, added up",
)


@pytest.fixture
def edit(open_page):
    """Return a function that opens the page of a model in its edit mode."""

    def open_it(name_or_summary, **options):
        named = isinstance(name_or_summary, str)
        summary = page_models.summary_of(name_or_summary) if named else name_or_summary
        page = open_page(summary, **options)
        page.locator("#edit-start").click()
        return page

    return open_it


@pytest.fixture
def edited(tmp_path):
    """Return a function that downloads the edited document and loads it."""

    def load(page):
        path = tmp_path / "edited.json"
        with page.expect_download() as download:
            page.locator("#edit-save").click()
        download.value.save_as(path)
        return load_document(path)

    return load


def cards(page):
    return page.locator("#edit-choice option").evaluate_all("all => all.map(o => o.value)")


def choose(page, title):
    page.locator("#edit-choice").select_option(label=title)


def with_handles(page):
    """Open a card that has ends of words to move."""
    for value in cards(page):
        page.locator("#edit-choice").select_option(value)
        if page.locator(".handle").count() > 1:
            return
    raise AssertionError("no card has ends of words")


def press(page, locator, key, times=1):
    locator.focus()
    for _ in range(times):
        page.keyboard.press(key)
    page_models.settle(page)


def outcomes(model, table):
    """Return beliefs, and what is decided: places of classes, or numbers."""
    beliefs = predict(model, table)
    if model.target.task is Task.REGRESSION:
        return beliefs, numbers_of(model.target, beliefs)
    return beliefs, model.target.decide(beliefs)


def check_effects(page, model, name):
    """Compare what the page tells of the edits with what the edited document does in Python."""
    before, table, target = page_models.make(name)
    effects = page.evaluate("solah.effects")
    (_, decided_before), (beliefs, decided) = (outcomes(one, table) for one in (before, model))
    if model.target.task is Task.REGRESSION:
        scores = score_numbers(target, decided)
        assert effects["now"]["r2"] == pytest.approx(scores.r2, abs=1e-12)
        assert effects["now"]["error"] == pytest.approx(scores.mae, rel=1e-12)
        return effects
    states = np.array(model.target.classes)
    scores = score_probabilities(target, beliefs, states, decisions=states[decided])
    assert effects["now"]["accuracy"] == scores.accuracy
    assert effects["now"]["logLoss"] == pytest.approx(scores.log_loss, abs=1e-12)
    expected = [
        (int(row) + 1, int(decided_before[row]), int(decided[row]))
        for row in np.flatnonzero(decided_before != decided)
    ]
    assert [(one["number"], one["from"], one["to"]) for one in effects["changed"]] == expected
    return effects


# --- what is shown is what the edited model does ---------------------------------------------


@pytest.mark.parametrize("name", ADDITIVE)
def test_the_downloaded_model_does_what_the_page_shows(name, edit, edited):
    page = edit(name)
    with_handles(page)
    press(page, page.locator(".handle").first, "ArrowRight", 15)
    press(page, page.locator(".handle").last, "PageDown")
    for value in (*cards(page)[:4], "begin"):
        page.locator("#edit-choice").select_option(value)
        press(page, page.locator("#edit-card input[type=range]").first, "ArrowLeft", 9)
        if value != "begin":
            page.locator(".edit-rules input[type=checkbox]").last.click()
    page_models.settle(page)
    model = edited(page)
    effects = check_effects(page, model, name)
    assert effects["now"] != effects["before"]
    assert effects["changed"]
    assert len(model.edits) == page.locator("#edit-list li").count() >= 8
    assert model != page_models.make(name)[0]


def test_dragging_an_end_of_a_word(edit, edited):
    page = edit("wine, few rules")
    choose(page, "flavanoids")
    handle = page.locator(".handle").first
    box, plot = handle.bounding_box(), page.locator(".plot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 16
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y, steps=4)
    page.mouse.move(x + 20, y, steps=4)
    page.mouse.up()
    page_models.settle(page)
    before, model = page_models.make("wine, few rules")[0], edited(page)
    (old,), (new,) = (
        [one for one in of.features if one.name == "flavanoids"] for of in (before, model)
    )
    low, high = page_models.summary_of("wine, few rules")["features"][before.features.index(old)][
        "shown"
    ]
    span = (high - low) * 20 / plot["width"]
    assert new.peaks[0] - old.peaks[0] == pytest.approx(span, abs=(high - low) / 200)
    assert new.peaks[1:] == old.peaks[1:]
    assert new.is_moved
    assert float(handle.get_attribute("aria-valuenow")) == new.peaks[0]
    check_effects(page, model, "wine, few rules")
    page.locator("#edit-undo").click()
    page_models.settle(page)
    assert float(handle.get_attribute("aria-valuenow")) == old.peaks[0]
    assert page.locator("#edit-undo").is_disabled()


def test_an_end_of_a_word_stays_between_its_neighbours(edit, edited):
    page = edit("wine, few rules")
    choose(page, "flavanoids")
    first = page.locator(".handle").first
    assert first.get_attribute("aria-label").startswith("flavanoids, fully low up to")
    press(page, first, "End")
    assert first.get_attribute("aria-valuenow") == first.get_attribute("aria-valuemax")
    second = page.locator(".edges input").nth(1)
    second.fill("-1000")
    second.press("Enter")
    page_models.settle(page)
    peaks = page.locator(".handle").evaluate_all("all => all.map(h => Number(h.ariaValueNow))")
    assert peaks == sorted(set(peaks))
    assert [one.peaks for one in edited(page).features if one.name == "flavanoids"] == [
        tuple(peaks)
    ]


def test_evidence_of_two_classes_has_one_slider(edit, edited):
    page = edit("breast cancer")
    model = page_models.make("breast cancer")[0]
    rule = page.locator(".edit-rules li").first
    assert rule.locator("input[type=range]").count() == 1
    rule.locator("input[type=number]").fill("1.5")
    rule.locator("input[type=number]").press("Enter")
    page_models.settle(page)
    second = model.target.classes[1]
    slider = rule.locator("input[type=range]")
    assert slider.get_attribute("aria-valuetext") == f"{second} +1.50"
    assert (weights_of(edited(page)) == [-0.75, 0.75]).all(axis=1).any()


def weights_of(model):
    """Return the weights of all rules that are not for missing values."""
    return np.concatenate([term.weights.reshape(-1, model.target.size) for term in model.terms])


def term_on(model, name):
    return next(term for term in model.terms if term.features == (name,))


def test_what_a_class_gains_the_others_lose(edit, edited):
    page = edit("wine, few rules")
    field = page.locator(".edit-rules li").first.locator("input[type=number]").nth(1)
    field.fill("2")
    field.press("Enter")
    page_models.settle(page)
    before, after = (
        weights_of(model) for model in (page_models.make("wine, few rules")[0], edited(page))
    )
    (places,) = np.nonzero((before != after).any(axis=1))
    moved = (after - before)[places]
    np.testing.assert_allclose(after[places, 1], 2)
    np.testing.assert_allclose(moved[:, [0, 2]], -moved[:, [1, 1]] / 2, atol=1e-12)


def test_a_rule_that_is_switched_off_adds_nothing(edit, edited):
    page = edit("groups")
    choose(page, "x4")
    box = page.get_by_role("switch").first
    box.uncheck()
    page_models.settle(page)
    before, model = page_models.make("groups")[0], edited(page)
    old, new = (term_on(one, "x4") for one in (before, model))
    off = ~new.weights.any(axis=1)
    assert off.sum() == 1
    np.testing.assert_array_equal(new.weights[~off], old.weights[~off])
    ratio = np.divide(*(variance_of(one) for one in (new, old)))
    assert new.variance == pytest.approx(old.variance * ratio, rel=1e-12)
    check_effects(page, model, "groups")
    assert page.locator(".edit-rules li.is-off").count() == 1
    box.check()
    page_models.settle(page)
    assert page.locator("#edit-list li").count() == 0
    assert page.evaluate("solah.effects.changed") == []


def variance_of(term):
    away = term.weights - np.average(term.weights, axis=0, weights=term.counts)
    return np.average((away**2).mean(axis=1), weights=term.counts)


def test_without_its_rule_a_missing_reading_is_unknown(edit, edited):
    page = edit("groups")
    choose(page, "x1")
    page.get_by_role("switch", name="if x1 is missing").uncheck()
    page_models.settle(page)
    model = edited(page)
    assert term_on(model, "x1").missing is None
    effects = check_effects(page, model, "groups")
    assert effects["now"]["logLoss"] != effects["before"]["logLoss"]


def test_the_rest_of_the_page_follows(edit):
    page = edit("wine, few rules")
    rows = page.evaluate("solah.effects.changed.length")
    assert rows == 0
    choose(page, "baseline")
    page.locator("#edit-card input[type=number]").first.fill("50")
    page.locator("#edit-card input[type=number]").first.press("Enter")
    page_models.settle(page)
    assert page.locator("#verdict").text_content() == "class_0"
    assert page.locator("#effect-rows li").count() == min(
        page.evaluate("solah.effects.changed.length"), 51
    )
    row = page.locator("#effect-rows button").first
    number = int(row.text_content().removeprefix("row "))
    row.click()
    page_models.settle(page)
    _, table, _ = page_models.make("wine, few rules")
    readings = [table.column(one["name"]).values[number - 1] for one in features()]
    assert page.evaluate("solah.readings") == pytest.approx(readings)


def features():
    return page_models.summary_of("wine, few rules")["features"]


# --- undo and redo ---------------------------------------------------------------------------


def test_undo_and_redo_go_back_and_forth(edit, edited):
    page = edit("breast cancer")
    state = "JSON.stringify([solah.effects.now, solah.evaluate(solah.readings).belief])"
    states = [page.evaluate(state)]
    press(page, page.locator(".handle").first, "ArrowRight", 5)
    states.append(page.evaluate(state))
    press(page, page.locator(".edit-rules input[type=range]").first, "ArrowRight", 5)
    states.append(page.evaluate(state))
    page.locator(".edit-rules input[type=checkbox]").last.click()
    page_models.settle(page)
    states.append(page.evaluate(state))
    assert len(set(states)) == 4
    choose(page, "baseline")
    for keys, expected in (
        ("Control+z", states[2]),
        ("Control+z", states[1]),
        ("Control+z", states[0]),
        ("Control+Shift+z", states[1]),
        ("Control+y", states[2]),
    ):
        page.keyboard.press(keys)
        page_models.settle(page)
        assert page.evaluate(state) == expected
    assert page.locator(".edit-rules").is_visible()  # the card of what was undone
    page.locator("#edit-redo").click()
    page_models.settle(page)
    assert page.evaluate(state) == states[3]
    assert page.locator("#edit-redo").is_disabled()
    check_effects(page, edited(page), "breast cancer")
    for _ in range(3):
        page.locator("#edit-undo").click()
    page_models.settle(page)
    assert page.locator("#edit-save").is_disabled()


def test_an_edit_can_be_taken_back_by_itself(edit):
    page = edit("wine, few rules")
    page.locator(".edit-rules input[type=checkbox]").first.click()
    press(page, page.locator(".handle").first, "ArrowRight")
    assert page.locator("#edit-list li").count() == 2
    page.locator("#edit-list button").first.click()
    page_models.settle(page)
    assert page.locator("#edit-list li").count() == 1
    assert "Moved" in page.locator("#edit-list li").text_content()
    assert page.locator(".edit-rules input[type=checkbox]").first.is_checked()


# --- the document ----------------------------------------------------------------------------


def test_edits_are_told_with_author_time_and_reason(edit, edited):
    page = edit("wine, few rules")
    page.locator(".edit-rules input[type=checkbox]").first.click()
    page_models.settle(page)
    page.locator("#edit-list input").fill("the sensor <drifts>")
    page.locator("#edit-author").fill("Ann")
    (told,) = edited(page).edits
    assert told.text.startswith("removed the rule: if ")
    assert (told.author, told.reason) == ("Ann", "the sensor <drifts>")
    assert told.time.endswith("Z")


def test_what_is_not_edited_stays_as_it_was(edit, edited, tmp_path):
    rng = np.random.default_rng(3)
    model = random_models.random_model(rng, "groups", n_classes=2)
    object.__setattr__(model, "target", Target("y", (1.0, 2.0), shares=model.target.shares))
    object.__setattr__(model, "edits", (Edit("earlier work"),))
    page = edit(summarise_page(model))
    assert page.locator("#effect-scores").count() == 0
    choose(page, "baseline")
    page.locator("#edit-card input[type=number]").fill("0.25")
    page.locator("#edit-card input[type=number]").press("Enter")
    page_models.settle(page)
    after = edited(page)
    assert after.root == replace(model.root, baseline=(-0.125, 0.125))
    assert (after.features, after.target) == (model.features, model.target)
    assert list(map(type, after.target.classes)) == [float, float]
    assert after.edits[0].text == "earlier work"
    assert len(after.edits) == 2
    assert load_model(tmp_path / "edited.json").classes_.tolist() == [1.0, 2.0]


def test_the_page_edits_as_python_does(edit, edited):
    model = page_models.make("wine, few rules")[0]
    page = edit("wine, few rules")
    choose(page, "flavanoids")
    page.get_by_role("switch", name="if flavanoids is low").uncheck()
    page_models.settle(page)  # what is drawn again would take back what is being typed
    end = page.locator(".edges input").first
    end.fill("0.9")
    end.press("Enter")
    page_models.settle(page)
    ours, theirs = (
        edited(page),
        Editor(model).remove("if flavanoids is low").move("flavanoids", "low", end=0.9).model,
    )
    assert ours.features == theirs.features
    for one, other in zip(ours.terms, theirs.terms, strict=True):
        assert one.variance == pytest.approx(other.variance, rel=1e-12)
        assert one == replace(other, variance=one.variance)
    assert [one.text for one in ours.edits][1] == theirs.edits[1].text
    assert read_rules(write_rules(ours)) == ours


# --- what is true ----------------------------------------------------------------------------


def test_what_was_counted_of_other_words_is_not_told(edit):
    page = edit("wine, few rules")
    choose(page, "flavanoids")
    facts = page.locator(".edit-rules .fine:visible")
    n_facts = facts.count()
    assert n_facts
    assert page.locator(".before-edits:visible").count() == 0
    press(page, page.locator(".edit-rules input[type=range]").first, "ArrowRight")
    assert facts.count() == n_facts  # which rows a rule has does not depend on what it adds
    press(page, page.locator(".handle").first, "ArrowRight")
    assert facts.count() == 0
    assert page.locator("#edit-card .note").is_visible()
    for section in ("built", "well", "matters", "words"):
        assert page.locator(f"#{section} .before-edits").is_visible()
    page.keyboard.press("Control+z")
    page_models.settle(page)
    assert facts.count() == n_facts


def test_leaving_with_edits_is_asked_about(edit):
    page = edit("wine, few rules")
    page.locator(".edit-rules input[type=checkbox]").first.click()
    page_models.settle(page)
    leaves = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.evaluate(leaves)
    with page.expect_download():
        page.locator("#edit-save").click()
    assert not page.evaluate(leaves)


# --- for everyone ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["breast cancer", "mixed, weighed", "a number, added up"])
def test_no_fault_of_accessibility(name, edit):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = edit(name, bypass_csp=True)
    with_handles(page)
    press(page, page.locator(".handle").first, "ArrowRight", 20)
    page.locator(".edit-rules input[type=checkbox]").last.click()
    page_models.settle(page)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.run(page, context="#correct").response["violations"]
        faults = {one["id"]: [node["html"][:120] for node in one["nodes"][:3]] for one in found}
        assert not faults, json.dumps({scheme: faults}, indent=1)


@pytest.mark.parametrize("name", ["breast cancer", "mixed, weighed", "a number, added up"])
def test_a_phone_does_not_scroll_sideways(name, edit):
    page = edit(name, viewport={"width": 360, "height": 740})
    for value in cards(page):
        page.locator("#edit-choice").select_option(value)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_rules_lead_to_their_card(edit, open_model):
    page = open_model("wine, few rules")
    details = page.locator("details[data-node][open]").first
    title = details.locator("summary strong").text_content()
    details.get_by_role("button", name="Edit these rules").click()
    assert page.locator("#edit-choice option:checked").text_content() == title
