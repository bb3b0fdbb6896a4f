"""Numbers on the page as the browser's language writes them, and the page on paper."""

import json
import re
import subprocess

import numpy as np
import page_models
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import machines
from policy_cases import room
from small_models import room_rows
from solah import RuleRegressor
from solah.data import from_array
from solah.data.spelling import spell_number
from solah.report import render_page, summarise_page
from solah.report.svg import Marker, written

pytestmark = pytest.mark.slow

NARROW_SPACE, NO_BREAK = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"
SIGNS = {"en-US": (",", "."), "de-DE": (".", ","), "fr-FR": (NARROW_SPACE, ",")}
EXACT = "script, style, code, bdi, footer, .hierarchy :not(.result), .heat text"
MOST_PAGES = 12


@pytest.fixture(scope="module")
def houses():
    """Return the summary of a model of prices: its numbers are large, small, and in names."""
    random = np.random.default_rng(0)
    area = random.uniform(20, 220, 400)
    year = random.integers(1900, 2024, 400).astype(float)
    rate = random.lognormal(-11, 1, 400)
    columns = np.column_stack([area, year, rate, 1000 * area])
    table = from_array(columns, ["area", "year", "rate 1.5", "lot"])
    price = 2500 * area + 900 * (year - 1900) + random.normal(0, 20_000, 400)
    fitted = RuleRegressor(max_rules=16).fit(table, price)
    return summarise_page(fitted.model_, table, price, source="houses 2.5", path=fitted.path_)


@pytest.fixture(scope="module")
def judged():
    """Return the summary of a model with a policy, which settles its decisions."""
    return summarise_page(room(), room_rows(), source="room")


@pytest.fixture(scope="module")
def vibrating():
    """Return the summary of a model of signals."""
    rng = np.random.default_rng(1)
    features = machines.window_features()
    model = machines.machine_model(rng, features, max_rules=12)
    windows = features.windows(machines.recordings(rng))
    return summarise_page(model, windows.table, windows.labels, source="machines")


@pytest.fixture
def summary(request):
    return request.getfixturevalue(request.param)


every_page = pytest.mark.parametrize("summary", ["houses", "judged", "vibrating"], indirect=True)


def translated(text, language):
    """Write the numbers of an English text as another language does."""
    signs = dict(zip(",.", SIGNS[language], strict=True))
    return re.sub(
        r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+",
        lambda found: "".join(signs.get(sign, sign) for sign in found[0]),
        text,
    )


def shown_texts(page):
    """Return what is shown, text by text, without what stays as it is."""
    return page.evaluate(
        """exact => {
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walk.nextNode()) {
            const inName = walk.currentNode.parentElement.closest(exact);
            if (!inName || walk.currentNode.parentElement.matches(".number")) {
              found.push(walk.currentNode.data);
            }
          }
          return found;
        }""",
        EXACT,
    )


# --- numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("summary", "language"),
    [("houses", "de-DE"), ("houses", "fr-FR"), ("judged", "de-DE"), ("vibrating", "de-DE")],
    indirect=["summary"],
)
def test_a_page_in_another_language_has_the_same_numbers(summary, language, open_page):
    """Every number is translated, whether Python or the script wrote it: none is in English."""
    english, other = (
        shown_texts(open_page(summary, locale=one, viewport={"width": 900, "height": 700}))
        for one in ("en-US", language)
    )
    assert len(english) == len(other)
    differing = 0
    for mine, theirs in zip(english, other, strict=True):
        assert theirs.replace(f"{NARROW_SPACE}%", f"{NO_BREAK}%") == translated(mine, language)
        differing += theirs != mine
    assert differing > 40


@pytest.mark.parametrize("language", SIGNS)
def test_large_numbers_have_the_signs_of_the_language(language, houses, open_page):
    page = open_page(houses, locale=language)
    large = rf"\d{{2,3}}{re.escape(SIGNS[language][0])}\d{{3}}"
    assert re.fullmatch(large, page.locator("#verdict").text_content())
    assert re.fullmatch(large, page.locator(".square .number").first.text_content())
    assert re.fullmatch(f"row 1: {large}", page.locator("#row option").nth(1).text_content())


def test_fields_and_links_and_names_stay_as_they_are(houses, open_page):
    page = open_page(houses, locale="de-DE")
    field = page.locator(".control").filter(has_text="area").locator("input[type=number]").first
    field.fill("147.39")
    page_models.settle(page)
    assert field.input_value() == "147.39"
    assert "147.39" in page.locator("#link").get_attribute("href")
    assert "area is 147,39" in page.locator("#why").text_content()
    assert "rate 1.5 is " in page.locator("#why").text_content()
    assert page.locator("#well h3").first.text_content().endswith("houses 2.5")


def test_edits_are_stored_in_english_and_shown_in_the_language(open_model, tmp_path):
    page = open_model("wine, few rules", locale="de-DE")
    page.locator("#edit-start").click()
    page.locator(".handle").first.focus()
    page.keyboard.press("ArrowRight")
    page_models.settle(page)
    shown = page.locator("#edit-list bdi").first.text_content()
    assert re.search(r"at \d+,\d+ instead of \d", shown)
    card = page.locator("#edit-card").text_content()
    assert re.search(r"Learned from: \d+ rows, \d+\s?% ", card)
    with page.expect_download() as download:
        page.locator("#edit-save").click()
    download.value.save_as(tmp_path / "edited.json")
    (edit,) = json.loads((tmp_path / "edited.json").read_text(encoding="utf-8"))["edits"]
    assert re.search(r"at \d+\.\d+ instead of \d", edit["text"])


def test_without_script_numbers_are_english(houses, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(houses), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, locale="de-DE")
    page = context.new_page()
    page.goto(path.as_uri())
    assert re.search(r"\d{2,3},\d{3}", page.locator(".tiles").text_content())
    context.close()


@pytest.fixture(scope="module")
def spelling_page(show):
    """Return a page that gives its functions for writing numbers away."""
    page = show(page_models.summary_of("iris, one tree"), locale="en-US")
    source = re.search(r'<script type="module">(.*?)</script>', page.content(), re.DOTALL)[1]
    numbers = source[source.index("const NUMBER = ") : source.index("const fixedInEnglish")]
    page.evaluate(f"() => {{ {numbers}; window.spellNumber = spellNumber; }}")
    return page


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-1e15, 1e15) | st.floats(-1e-3, 1e-3), min_size=20, max_size=20))
@example([0.0, -0.00001234, 18420.4, 9999.5, 99995.0, 1e12, -3e12, 1e-4, 0.25])
def test_the_script_spells_as_python_does(spelling_page, numbers):
    numbers = [one * (1 + 1e-9) + 0.0 for one in numbers]  # ties are rounded differently
    spelt = spelling_page.evaluate("all => all.map((one) => spellNumber(one, 4))", numbers)
    assert spelt == [written(spell_number(one)) for one in numbers]


def test_numbers_are_marked_unless_they_are_in_names():
    marker = Marker(["band 2.5", "0.5", "plain"])
    assert marker.split("band 2.5 0.5 -0.38 of 18,420 rows, 12 % of 7.") == [
        "band 2.5 0.5 ",
        "\N{MINUS SIGN}0.38",
        " of ",
        "18,420",
        " rows, ",
        f"12{NO_BREAK}%",
        " of 7.",
    ]
    assert marker.mark("<b> 1.5 s5.5") == '&lt;b&gt; <span class="number">1.5</span> s5.5'
    assert [written(one) for one in ("-0.00", "-3e-05", "about 2e+12")] == [
        "0.00",
        f"\N{MINUS SIGN}3{NO_BREAK}\N{MULTIPLICATION SIGN}{NO_BREAK}10⁻⁵",
        f"about 2{NO_BREAK}\N{MULTIPLICATION SIGN}{NO_BREAK}10¹²",
    ]


# --- for everyone ----------------------------------------------------------------------------


@every_page
def test_axe_finds_nothing(summary, open_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(summary, bypass_csp=True)
    if page.locator("#all-rules").count():
        page.locator("#all-rules").click()
    page.locator("#edit-start").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = {
            one["id"]: [node["html"][:120] for node in one["nodes"][:3]]
            for one in axe.run(page).response["violations"]
        }
        assert not found, json.dumps({scheme: found}, indent=1)


@every_page
def test_every_table_and_picture_is_labelled(summary, open_page):
    page = open_page(summary)
    unlabelled = page.evaluate(
        """() => [...document.querySelectorAll("table, svg[role=img]")].filter((one) =>
          !one.querySelector("caption") && !one.closest("figure")?.querySelector("figcaption"))
          .map((one) => one.outerHTML.slice(0, 200))"""
    )
    assert unlabelled == []
    on_rows = page.locator("#well figcaption, #well caption").all_text_contents()
    assert on_rows
    assert all(re.search(r"\d+ (training )?rows", caption) for caption in on_rows)


# --- on paper --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("summary", "size"),
    [("houses", "A4"), ("judged", "Letter"), ("vibrating", "A4")],
    indirect=["summary"],
)
def test_the_page_on_paper(summary, size, open_page, find_tool, tmp_path):
    page = open_page(summary, color_scheme="dark", locale="de-DE")
    paper = tmp_path / "report.pdf"
    page.pdf(path=paper, format=size, print_background=True)
    assert not page.evaluate("matchMedia('print').matches")
    pdftotext = find_tool("pdftotext")
    text = subprocess.run(
        [pdftotext, "-layout", paper, "-"], check=True, capture_output=True, text=True
    ).stdout
    sheets = text.split("\f")[:-1]
    assert 3 < len(sheets) <= MOST_PAGES
    assert all(sheet.strip() for sheet in sheets)
    for heading in ("Structure", "Performance", "Words", "Training data and limits"):
        assert heading in text
    for control in ("Start editing", "Clear all", "Open all rules"):
        assert control not in text
    for node in summary["nodes"]:
        for rule in node["rules"]:
            assert rule["conditions"][0].split(" is ")[0] in text


@every_page
def test_paper_is_light_and_nothing_is_cut(summary, open_page):
    page = open_page(summary, color_scheme="dark", viewport={"width": 680, "height": 960})
    page.locator("#theme").click()
    page.locator("#theme").click()  # dark, by choice
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.locator("input[type=range]:visible").count() == 0
    cut = page.evaluate(
        """() => [...document.querySelectorAll("table")]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.outerHTML.slice(0, 200))"""
    )
    assert cut == []
