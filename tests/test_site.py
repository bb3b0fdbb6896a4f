"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and axe
finds nothing wrong with it.
"""

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

import solah
import solah.export
import solah.plot
import solah.signals

ROOT = Path(__file__).parents[1]
OF_EACH_KIND = ["index.html", "data.html", "reference/estimators.html", "notebooks/correct.html"]
SOURCES = [
    path.relative_to(ROOT / "docs").with_suffix(".html")
    for pattern in ("*.md", "notebooks/*.ipynb", "reference/*.md")
    for path in (ROOT / "docs").glob(pattern)
]

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

    def handle_starttag(self, tag, features):
        features = dict(features)
        if tag in ("script", "img", "iframe"):
            self.found.append(features.get("src"))
        if tag == "link" and features.get("rel") in ("stylesheet", "preload", "icon"):
            self.found.append(features.get("href"))


def test_every_page_is_built_and_loads_nothing_from_elsewhere(site):
    for source in SOURCES:
        page = Loaded()
        page.feed((site / source).read_text(encoding="utf-8"))
        assert not [address for address in page.found if re.match(r"(https?:)?//", address or "")]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", styles)


def test_every_page_is_in_the_menu(site):
    menu = (site / "index.html").read_text(encoding="utf-8")
    for source in SOURCES:
        assert f'href="{source.as_posix()}"' in menu or source.stem == "index"


def test_the_reference_has_every_public_name(site):
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda _base, place: place)
    documented = {name for kind in inventory if "py:" in kind for name in inventory[kind]}
    for module in (solah, solah.export, solah.plot, solah.signals):
        public = (getattr(module, name) for name in module.__all__)
        named = [one.__name__ for one in public if inspect.isclass(one) or inspect.isfunction(one)]
        missing = {
            name
            for name in named
            if not {f"{module.__name__}.{name}", f"solah.exceptions.{name}"} & documented
        }
        assert missing == set()
    assert "solah.RuleClassifier.predict_proba" in documented
    estimators = (site / "reference" / "estimators.html").read_text(encoding="utf-8")
    assert "<strong>model_</strong>" in estimators


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(site, browser, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme)
    every = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    is_thorough = scheme == "light" and os.environ.get("SOLAH_THOROUGH")
    for name in every if is_thorough else OF_EACH_KIND:
        page.goto((site / name).as_uri())
        found = Axe().run(page)
        assert found.violations_count == 0, f"{name}, {scheme}: {found.generate_report()}"
    page.close()
