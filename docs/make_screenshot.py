"""Take the README's picture of the report page: `python docs/make_screenshot.py`.

Needs Chromium (`make test-system` installs it) and playwright, which is among the packages for
development.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from solah import SelfOrganisedHierarchyClassifier, datasets
from solah.report import render_page, summarise_page

PICTURE = Path(__file__).with_name("pictures") / "report.png"
WIDTH, HEIGHT = 1200, 860
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")


def write_report(page: Path) -> None:
    """Write the report on a model of the wines."""
    wine = datasets.load("wine")
    model = SelfOrganisedHierarchyClassifier(max_rules=20).fit(wine.table, wine.goal).model_
    summary = summarise_page(model, wine.table, wine.goal, source="wine")
    page.write_text(render_page(summary), encoding="utf-8")


def take_picture(page: Path) -> None:
    """Show the what-if of the report."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        box = tab.locator("#try").bounding_box()
        assert box is not None
        clip = {"x": 0, "y": box["y"], "width": WIDTH, "height": HEIGHT}
        tab.screenshot(path=PICTURE, full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        write_report(report)
        take_picture(report)
