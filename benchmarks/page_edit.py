"""How fast the report page answers an edit.

    python benchmarks/page_edit.py [--chromium /usr/bin/chromium] [--rows 5000] [--rules 60]

A model is learned from rows of a seeded generator: twelve columns, three classes, two interactions.
Each kind of edit is made twenty times with a key in Chromium (with playwright), and timed from
the key to the painted frame that shows accuracy, log-loss and flipped decisions on all rows; a
frame alone takes up to 17 ms. The processor time of the page per edit is printed, too. It does not
depend on other work of the machine. Starting sends all rows through the whole model.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from playwright.sync_api import CDPSession, sync_playwright

from solah import RuleClassifier
from solah.data import from_array
from solah.report import render_page, summarise_page

TIMES = 20
PAINTED = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
START = f"""async () => {{
  const began = performance.now();
  document.getElementById("edit-start").click();
  await {PAINTED};
  return performance.now() - began;
}}"""
# A range reports a key by an input event, which a script has to send itself.
EDIT = f"""async ([selector, n]) => {{
  const control = document.querySelector(selector);
  const times = [];
  for (let k = 0; k < n; k += 1) {{
    await {PAINTED};
    const key = k % 2 ? "ArrowLeft" : "ArrowRight";
    const began = performance.now();
    if (control.type === "checkbox") control.click();
    else if (control.type === "range") {{
      control.stepUp(k % 2 ? -3 : 3);
      control.dispatchEvent(new Event("input"));
    }} else control.dispatchEvent(new KeyboardEvent("keydown", {{ key }}));
    await {PAINTED};
    times.push(performance.now() - began);
  }}
  return times;
}}"""
KINDS = {
    "move an end of a word": ".handle",
    "slide a weight": ".edit-rules input[type=range]",
    "switch a rule off or on": ".edit-rules input[type=checkbox]",
}


def make_page(n_rows: int, n_rules: int) -> tuple[str, str]:
    """Write the report on a model of drawn rows; return the page and what it is about."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_rows, 12))
    score = values[:, :3] + np.sin(2 * values[:, 3:6]) + values[:, 6:9] * values[:, 7:10]
    target = np.array(["a", "b", "c"])[np.argmax(score + rng.gumbel(size=(n_rows, 3)) / 2, axis=1)]
    table = from_array(values, [f"x{i}" for i in range(12)])
    model = RuleClassifier(max_rules=n_rules).fit(table, target).model_
    page = render_page(summarise_page(model, table, target))
    size = len(page.encode()) / 1e6
    about = f"{model.n_rules} rules in {len(model.parts)} parts, {n_rows:,} rows, {size:.1f} MB"
    return page, about


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--rules", type=int, default=60)
    arguments = parser.parse_args()
    page, about = make_page(arguments.rows, arguments.rules)
    print(about)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=flags)
        tab = browser.new_page()
        tab.goto(path.as_uri())
        inspector = tab.context.new_cdp_session(tab)
        inspector.send("Performance.enable")
        print(f"start editing: {tab.evaluate(START):.0f} ms")
        for kind, selector in KINDS.items():
            before = thread_time(inspector)
            times = tab.evaluate(EDIT, [selector, TIMES])
            computed = (thread_time(inspector) - before) / TIMES
            print(
                f"{kind}: median {median(times):.0f} ms, longest {max(times):.0f} ms, "
                f"{computed:.0f} ms of the processor"
            )
        browser.close()


def thread_time(inspector: CDPSession) -> float:
    """Return how long the page has computed, in milliseconds."""
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    (seconds,) = (one["value"] for one in metrics if one["name"] == "ThreadTime")
    return 1000 * float(seconds)


if __name__ == "__main__":
    main()
