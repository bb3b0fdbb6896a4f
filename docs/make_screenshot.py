"""Take the screenshots of the report page: `python docs/make_screenshot.py`.

Needs Chromium (`make test-system` installs it) and playwright, which is among the packages for
development.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

from solah import RuleClassifier, datasets
from solah.report import render_page, summarise_page

PICTURES = Path(__file__).with_name("pictures")
WIDTH, HEIGHT = 1200, 860
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")


def write_report(page: Path) -> None:
    """Write the report on a model of the wines."""
    wine = datasets.load("wine")
    model = RuleClassifier(max_rules=20).fit(wine.table, wine.target).model_
    summary = summarise_page(model, wine.table, wine.target, source="wine")
    page.write_text(render_page(summary), encoding="utf-8")


def take_pictures(page: Path) -> None:
    """Show the what-if of the report, and its edit mode with some edits."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        shoot(tab, "#try", "report.png")
        make_edits(tab)
        shoot(tab, "#correct", "edit.png")
        browser.close()


def make_edits(tab: Page) -> None:
    """Move an end of a word, and slide what a rule adds."""
    tab.locator("#edit-start").click()
    for control, key, times in (
        (".handle", "ArrowRight", 14),
        (".weight input", "ArrowLeft", 12),
    ):
        tab.locator(control).first.focus()
        for _ in range(times):
            tab.keyboard.press(key)
    tab.wait_for_timeout(500)


def shoot(tab: Page, section: str, name: str) -> None:
    """Take a screenshot of the page from where a section begins."""
    tab.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    box = tab.locator(section).bounding_box()
    assert box is not None
    clip: FloatRect = {"x": 0, "y": box["y"], "width": WIDTH, "height": HEIGHT}
    tab.screenshot(path=PICTURES / name, full_page=True, clip=clip)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        write_report(report)
        take_pictures(report)
