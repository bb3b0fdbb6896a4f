"""Pages in Chromium, for the tests of this folder."""

import page_models
import pytest

from solah.report import render_page

PATIENCE = 180_000  # milliseconds


@pytest.fixture(scope="module")
def complaints():
    """Return what pages complained of since it was looked at."""
    return []


@pytest.fixture(autouse=True)
def no_complaint(complaints):
    """Fail a test whose page logged, asked or fetched anything."""
    yield
    found, complaints[:] = list(complaints), []
    assert found == []


@pytest.fixture(scope="module")
def show(browser, complaints, tmp_path_factory):
    """Return a function that opens a summary's page, ready to be used."""

    def open_it(summary, link="", **options):
        path = tmp_path_factory.mktemp("page") / "report.html"
        path.write_text(render_page(summary), encoding="utf-8")
        page = browser.new_context(**options).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.on("request", lambda request: _is_own(request.url) or complaints.append(request.url))
        page.goto(f"{path.as_uri()}{link}")
        page.locator("#why li").first.wait_for(state="attached")
        return page

    return open_it


def _is_own(address):
    return address.startswith(("file:", "data:"))


@pytest.fixture
def open_page(show):
    """Return a function that opens a page for one test."""
    pages = []

    def open_it(summary, link="", **options):
        pages.append(show(summary, link, **options))
        return pages[-1]

    yield open_it
    for page in pages:
        page.context.close()


@pytest.fixture
def open_model(open_page):
    """Return a function that opens the page of one of our models for one test."""

    def open_it(name, link="", **options):
        return open_page(page_models.summary_of(name), link, **options)

    return open_it
