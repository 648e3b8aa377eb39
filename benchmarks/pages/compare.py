"""Measures the comparison of many runs in a real Chromium.

    python -m benchmarks.pages.compare
    python -m benchmarks.pages.compare --runs 100 --charts 20 --points 2000
    python -m benchmarks.pages.compare --tabs --live 5 --ticks 12

Uses SQLite in a temporary folder, or the empty PostgreSQL database in
SEAMARK_DATABASE_URL. The runs are logged through the real ingest and compacted. The
browser's cache is cold at the first visit and warm at the others; every visit is a new
page. "All drawn" is the time from the start of the navigation to the last chart, row or
line; "busy" is the work of the page's main thread. Then some runs continue, and their
charts update. Prints tables of measurements and their goals; asserts nothing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import BrowserContext, Page, ViewportSize

from benchmarks.pages.installation import chromium, prepare, server, signed_in
from benchmarks.pages.ticks import (
    TICK_SECONDS,
    measured,
    task_seconds,
    watch_processor,
)

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
from tracker.models import Project  # noqa: E402

POINTED = "charts, the one that is pointed at answers"
# Per tab: the elements of the complete page, and their number.
TABS = {
    # Their lines are seen before Plotly has drawn them, and they answer once it has.
    "charts, lines seen": (
        '.chart[data-drawn="true"], .chart[data-sketched]',
        "charts",
    ),
    POINTED: ('.chart[data-drawn="true"]', "one"),
    "charts, all drawn by Plotly": ('.chart[data-drawn="true"]', "charts"),
    "table": (".compare-table__path .clip", "params"),
    "source": (".text-diff", "nothing"),
    "parallel": (".parallel__run", "runs"),
    "scatter": (".chart .point", "runs"),
    "hardware": ('.chart[data-drawn="true"]', "one"),
    "findings": (".compare-findings, .empty", "one"),
}
# Goal for visible content, and for its response to the user.
GOAL_MS = 1_500
GOALS = ("charts, lines seen", POINTED)
PARAMS = 40
READINGS = ("job/cpu_cores", "job/memory_bytes", "gpu/0/utilization_percent")
# Tall enough that no chart waits to be scrolled to.
VIEWPORT: ViewportSize = {"width": 1440, "height": 2400}
# Where the pointer rests then: on one of the last charts.
POINTED_AT = (1_200, 1_700)
WATCH = """
const [selector, count, place] = %s
// What lies at a place, whether or not the browser has noticed that the pointer rests there.
const found = () => place
  ? [document.elementFromPoint(...place)?.closest(selector)].filter(Boolean)
  : document.querySelectorAll(selector)
window.drawn = new Promise((tell, fail) => {
  setTimeout(() => fail(new Error(`no ${count} of ${selector}`)), 60_000)
  const look = () => {
    if (found().length >= count) tell(performance.now())
  }
  new MutationObserver(look).observe(document, {
    subtree: true, childList: true, attributeFilter: ["data-drawn", "data-sketched"],
  })
  document.addEventListener("DOMContentLoaded", look)
})
"""
# The last step of the longest line of each chart: the least of all charts.
SHOWN = """() => Math.min(...[...document.querySelectorAll(".chart[data-drawn] .chart__plot")].map((plot) => {
  const ends = [...plot.querySelectorAll(".js-line")].map((line) => Number(line.getAttribute("d").split(/[ML]/).at(-1).split(",")[0]))
  return plot._fullLayout.xaxis.p2c(Math.max(...ends))
}))"""
NEW_STEPS = 3
MOVES = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--charts", type=int, default=20)
    parser.add_argument("--points", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tabs", nargs="*", default=list(TABS), choices=TABS)
    parser.add_argument("--live", type=int, default=3, help="runs that go on")
    parser.add_argument("--ticks", type=int, default=6)
    arguments = parser.parse_args()

    print(
        f"{arguments.runs} runs, {arguments.charts} series"
        f" of {arguments.points:,} points each\n"
    )
    member = make_member()
    project = make_project(member)
    processes = [
        fill(project, number, arguments.charts, arguments.points)
        for number in range(arguments.runs)
    ]
    runs = [process.run for process in processes]
    for process in processes[arguments.live :]:
        process.send([close_message(time=int(time.time() * 1e6))])
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
            # Charts of monitoring metrics do not count.
            page_tab, *_ = tab.split(",")
            only = "&text=train/metric" if page_tab == "charts" else ""
            context = signed_in(browser, url, member.user, VIEWPORT)
            place = list(POINTED_AT) if tab == POINTED else 0
            context.add_init_script(WATCH % repr([selector, counts[what], place]))
            measure(context, tab, f"{url}{path}{only}&tab={page_tab}", arguments.rounds)
            context.close()
        if arguments.live:
            selector, what = TABS["charts, all drawn by Plotly"]
            context = signed_in(browser, url, member.user, VIEWPORT)
            context.add_init_script(WATCH % repr([selector, counts[what], 0]))
            address = f"{url}{path}&text=train/metric"
            updates(context, address, processes[: arguments.live], arguments)
            context.close()


def fill(project: Project, number: int, charts: int, points: int) -> Process:
    random = np.random.default_rng(number)
    process = Process(project, f"run-{number:02}")
    process.open()
    curves = curves_of(number, charts, np.arange(points))
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
    settle(process.run)
    return process


def curves_of(
    number: int, charts: int, steps: NDArray[np.int64]
) -> list[dict[str, object]]:
    random = np.random.default_rng([number, int(steps[0])])
    falling = np.exp(-steps / (200 + 20 * number))
    return [
        points_message(
            f"train/metric_{chart:02}",
            falling + random.normal(0, 0.02, len(steps)),
            steps=steps,
        )
        for chart in range(charts)
    ]


def measure(context: BrowserContext, tab: str, address: str, rounds: int) -> None:
    visited = []
    for _ in range(rounds + 1):
        page = context.new_page()
        cdp = context.new_cdp_session(page)
        # Time of the processor, which other work on the machine does not stretch.
        cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(address, wait_until="commit")
        if tab == POINTED:
            page.mouse.move(*POINTED_AT)
        drawn = page.evaluate("window.drawn")
        metrics = cdp.send("Performance.getMetrics")["metrics"]
        busy = {each["name"]: each["value"] for each in metrics}["TaskDuration"]
        visited.append((drawn, 1e3 * busy))
        page.close()
    (first, _), *again = visited
    walls, works = zip(*again, strict=True)
    cells = (first, np.median(walls), max(walls), np.median(works))
    name = f"{tab}, goal < {GOAL_MS:,}" if tab in GOALS else tab
    print("|", " | ".join([name, *(f"{cell:,.0f}" for cell in cells)]), "|", flush=True)


def updates(
    context: BrowserContext,
    address: str,
    live: list[Process],
    options: argparse.Namespace,
) -> None:
    """Log a few points before each tick, and measure all that the main thread does."""
    page = context.new_page()
    page.goto(address)
    page.evaluate("window.drawn")
    page.wait_for_timeout(2 * TICK_SECONDS * 1_000)
    client = watch_processor(page)
    idle = measured(page, client, options.ticks // 2 or 1)
    spent = []
    last = options.points
    for _ in range(options.ticks):
        steps = np.arange(last, last + NEW_STEPS)
        for number, process in enumerate(live):
            process.send(curves_of(number, options.charts, steps))
        last += NEW_STEPS
        spent.append(measured(page, client, 1))
    shown = page.evaluate(SHOWN)
    print(
        "\n| runs, of those live | charts | main thread, ms per tick: mean | median | most | of a tick without news | of a move of the pointer |"
    )
    print("|---|---|---|---|---|---|---|")
    cells = [f"{options.runs}, {len(live)}", f"{options.charts}"]
    cells += [
        f"{value:.1f}" for value in (np.mean(spent), np.median(spent), max(spent), idle)
    ]
    before = task_seconds(client)
    pass_over(page)
    cells.append(f"{(task_seconds(client) - before) * 1_000 / MOVES:.1f}")
    print("| " + " | ".join(cells) + " |")
    print(
        f"\nThe last step logged is {last - 1}; the least that a chart shows is {shown:.0f}.",
        flush=True,
    )
    page.close()


def pass_over(page: Page) -> None:
    """Read the first chart from its left to its right."""
    area = page.locator(".nsewdrag").first.bounding_box()
    assert area is not None
    for move in range(MOVES):
        across = area["x"] + area["width"] * (move + 0.5) / MOVES
        page.mouse.move(across, area["y"] + area["height"] / 2)
        page.wait_for_timeout(50)


if __name__ == "__main__":
    main()
