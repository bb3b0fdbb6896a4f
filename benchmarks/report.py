"""How large report pages are, and how fast they are written and open.

    python benchmarks/report.py [--chromium /usr/bin/chromium]

Opening is measured in Chromium (with playwright), from the start of the navigation to the end of
the load event, the least of three. Data: wine; sixty columns from a seeded generator; Sonar from
SOLAH_DATA where that is set.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import sync_playwright
from timing import seconds

from solah import RuleClassifier, datasets
from solah.data import from_array
from solah.exceptions import DatasetError
from solah.report import render_page, summarise_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from solah.data import Table

OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def make_data() -> tuple[Table, np.ndarray]:
    """Draw sixty columns that each depend a little on two classes."""
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 200)
    values = rng.standard_normal((200, 60)) + target[:, None] * rng.random(60)
    return from_array(values, [f"x{i}" for i in range(60)]), target


def data() -> Iterator[tuple[str, Table, np.ndarray]]:
    yield "60 columns", *make_data()
    for name in ("wine", "sonar"):
        try:
            loaded = datasets.load(name)
        except DatasetError:
            print(f"{name}: not at hand; set SOLAH_DATA")
        else:
            yield name, loaded.table, loaded.target


def open_time(browser: Browser, page: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        times = []
        for _ in range(3):
            tab = browser.new_page()
            tab.goto(path.as_uri())
            times.append(tab.evaluate(OPENED) / 1000)
            tab.close()
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=flags)
        for name, table, target in data():
            model = RuleClassifier().fit(table, target).model_
            page = render_page(summarise_page(model, table, target))
            write = seconds(lambda m=model, t=table, g=target: summarise_page(m, t, g), 3)
            print(
                f"{name}: {len(model.parts)} parts, {model.n_rules} rules, "
                f"{len(page.encode()) / 1000:.0f} kB, summarised in {write:.2f} s, "
                f"opens in {open_time(browser, page):.2f} s"
            )
        browser.close()


if __name__ == "__main__":
    main()
