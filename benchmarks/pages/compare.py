"""Measures the comparison of many runs in a real Chromium.

    python -m benchmarks.pages.compare
    python -m benchmarks.pages.compare --runs 100 --charts 20 --points 2000

SQLite in a temporary folder, or the empty PostgreSQL database that SEAMARK_DATABASE_URL
names. The runs are logged through the real ingest and compacted. The browser's cache is
cold at the first visit and warm at the others; every visit is a new page. "All drawn" is
when the last chart, row or line is on the page, counted from the start of the
navigation; "busy" is what the page's main thread worked. Prints a table; asserts nothing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from playwright.sync_api import BrowserContext, ViewportSize

from benchmarks.pages.installation import chromium, prepare, server, signed_in

prepare()

from tests.builders import (  # noqa: E402
    Process,
    close_message,
    make_member,
    make_project,
    points_message,
    set_message,
)
from tests.web.sample_run import settle  # noqa: E402
from tracker.models import Project, Run  # noqa: E402

# Of each tab: what is on the page once all is drawn, and how many of it.
TABS = {
    "charts": ('.chart[data-drawn="true"]', "charts"),
    "table": (".compare-table__path .clip", "params"),
    "source": (".text-diff", "nothing"),
    "parallel": (".parallel__run", "runs"),
    "scatter": (".chart .point", "runs"),
    "hardware": ('.chart[data-drawn="true"]', "one"),
    "findings": (".compare-findings, .empty", "one"),
}
PARAMS = 40
READINGS = ("job/cpu_cores", "job/memory_bytes", "gpu/0/utilization_percent")
# Tall enough that no chart waits to be scrolled to.
VIEWPORT: ViewportSize = {"width": 1440, "height": 2400}
WATCH = """
const [selector, count] = %s
window.drawn = new Promise((tell, fail) => {
  setTimeout(() => fail(new Error(`no ${count} of ${selector}`)), 60_000)
  const look = () => {
    if (document.querySelectorAll(selector).length >= count) tell(performance.now())
  }
  new MutationObserver(look).observe(document, {
    subtree: true, childList: true, attributeFilter: ["data-drawn"],
  })
  document.addEventListener("DOMContentLoaded", look)
})
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--charts", type=int, default=20)
    parser.add_argument("--points", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tabs", nargs="*", default=list(TABS), choices=TABS)
    arguments = parser.parse_args()

    print(
        f"{arguments.runs} runs, {arguments.charts} series"
        f" of {arguments.points:,} points each\n"
    )
    member = make_member()
    project = make_project(member)
    runs = [
        fill(project, number, arguments.charts, arguments.points)
        for number in range(arguments.runs)
    ]
    counts = {
        "charts": arguments.charts,
        "params": PARAMS,
        "runs": arguments.runs,
        "one": 1,
        "nothing": 0,
    }
    ids = ",".join(str(run.id) for run in runs)
    path = f"/w/{member.workspace.slug}/{project.slug}/compare?runs={ids}"
    print("| tab | first visit, all drawn ms | again, p50 ms | worst ms | busy ms |")
    print("|---|---|---|---|---|")
    with server() as url, chromium() as browser:
        for tab in arguments.tabs:
            selector, what = TABS[tab]
            # What the runs are measured by otherwise is no chart of theirs.
            only = "&text=train/" if tab == "charts" else ""
            context = signed_in(browser, url, member.user, VIEWPORT)
            context.add_init_script(WATCH % repr([selector, counts[what]]))
            measure(context, tab, f"{url}{path}{only}&tab={tab}", arguments.rounds)
            context.close()


def fill(project: Project, number: int, charts: int, points: int) -> Run:
    random = np.random.default_rng(number)
    process = Process(project, f"run-{number:02}")
    process.open()
    steps = np.arange(points)
    curves = [
        points_message(
            f"train/metric_{chart:02}",
            np.exp(-steps / (200 + 20 * number)) + random.normal(0, 0.02, points),
        )
        for chart in range(charts)
    ]
    readings = [
        points_message(f"monitoring/train/{path}", random.random(600))
        for path in READINGS
    ]
    values = [
        set_message(f"params/p{param:02}", float(random.random()))
        for param in range(PARAMS)
    ]
    for messages in (values, curves, readings):
        refused = process.send(messages).refused
        assert not refused, refused
    process.send([close_message(time=int(time.time() * 1e6))])
    settle(process.run)
    return process.run


def measure(context: BrowserContext, tab: str, address: str, rounds: int) -> None:
    visited = []
    for _ in range(rounds + 1):
        page = context.new_page()
        cdp = context.new_cdp_session(page)
        # Time of the processor, which other work on the machine does not stretch.
        cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(address)
        drawn = page.evaluate("window.drawn")
        metrics = cdp.send("Performance.getMetrics")["metrics"]
        busy = {each["name"]: each["value"] for each in metrics}["TaskDuration"]
        visited.append((drawn, 1e3 * busy))
        page.close()
    (first, _), *again = visited
    walls, works = zip(*again, strict=True)
    cells = (first, np.median(walls), max(walls), np.median(works))
    print("|", " | ".join([tab, *(f"{cell:,.0f}" for cell in cells)]), "|", flush=True)


if __name__ == "__main__":
    main()
