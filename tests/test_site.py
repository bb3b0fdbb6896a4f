"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and axe
finds nothing wrong with it.
"""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["index.html", "data.html", "export.html", "reference/estimators.html"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site once."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    cache = tmp_path_factory.mktemp("doctrees")
    done = subprocess.run(
        [*command, "-d", cache, ROOT / "docs", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


class Loaded(HTMLParser):
    """Collects what a page loads by itself."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("script", "img", "iframe"):
            self.found.append(attributes.get("src"))
        if tag == "link" and attributes.get("rel") in ("stylesheet", "preload", "icon"):
            self.found.append(attributes.get("href"))


def test_every_page_is_built_and_loads_nothing_from_elsewhere(site):
    for source in (ROOT / "docs").glob("*.md"):
        page = Loaded()
        page.feed((site / f"{source.stem}.html").read_text(encoding="utf-8"))
        assert not [address for address in page.found if re.match(r"(https?:)?//", address or "")]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", styles)


def test_every_page_is_in_the_menu(site):
    menu = (site / "index.html").read_text(encoding="utf-8")
    for source in (ROOT / "docs").glob("*.md"):
        assert f'href="{source.stem}.html"' in menu or source.stem == "index"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(site, browser, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme)
    for name in PAGES:
        page.goto((site / name).as_uri())
        found = Axe().run(page)
        assert found.violations_count == 0, f"{name}, {scheme}: {found.generate_report()}"
    page.close()
