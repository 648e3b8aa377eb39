"""Measures a run's charts in a real browser: opening, and live updates.

    python -m benchmarks.pages.charts
    python -m benchmarks.pages.charts --series 200 --live 30 --ticks 12

Uses SQLite in a temporary folder. Chromium loads pages from a server, once in a normal
window and once in a private one, which compiles all scripts again on each page. Prints
tables of measurements and their goals; asserts nothing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from playwright.sync_api import BrowserContext, Page, ViewportSize

from benchmarks.pages.installation import (
    chromium,
    own_window,
    prepare,
    server,
    signed_in,
)
from benchmarks.pages.ticks import TICK_SECONDS, measured, watch_processor

prepare()

from django.db import connection  # noqa: E402

from tests.builders import (  # noqa: E402
    SECOND,
    START,
    Process,
    close_message,
    make_member,
    make_project,
    points_message,
)
from tests.web.sample_run import settle  # noqa: E402
from tracker.models import Project  # noqa: E402

POINTS = 20_000
LIVE_POINTS = 600
STEPS_AT_ONCE, POINTS_AT_ONCE = 2_000, 400_000
LONGEST_SECONDS = 120.0
WIDTH, HEIGHT = 1440, 900
# At the first visit nothing is cached; from the third on, compiled code is.
UNCOUNTED = 3
# Three charts per row, each 265 pixels high.
ROW_PIXELS, IN_A_ROW = 265, 3

# Position of the pointer while the page opens: the last visible chart.
POINTED_AT = (1_200, 800)

# In the page: times until the lines of all visible charts appear, also as placeholders;
# until the chart under the pointer responds, and all visible charts do, drawn by
# Plotly; and the long tasks meanwhile.
WATCH = """
window.held = []
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.held.push(duration)
}).observe({ type: "longtask", buffered: true })
const look = () => {
  const charts = [...document.querySelectorAll(".chart")].filter((chart) => {
    const { top, bottom, height } = chart.getBoundingClientRect()
    return height && top < innerHeight && bottom > 0
  })
  const drawn = charts.filter((chart) => chart.dataset.drawn)
  const seen = charts.filter((chart) => chart.dataset.drawn || chart.dataset.sketched)
  if (charts.length && seen.length === charts.length) window.allSeen ??= performance.now()
  if (drawn.some((chart) => chart.matches(":hover"))) window.pointedDrawn ??= performance.now()
  if (charts.length && drawn.length === charts.length) window.allDrawn ??= performance.now()
  else requestAnimationFrame(look)
}
requestAnimationFrame(look)
"""
OPENED = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
  seen: window.allSeen,
  // All are drawn at times before the browser has noticed that the pointer rests on one.
  pointed: window.pointedDrawn ?? window.allDrawn,
  all: window.allDrawn,
  longest: Math.max(0, ...window.held),
  blocked: window.held.reduce((sum, held) => sum + held - 50, 0),
  charts: document.querySelectorAll(".chart").length,
  drawn: document.querySelectorAll(".chart[data-drawn]").length,
})"""
# The last step of every line that is drawn, and of how many charts.
SHOWN = """() => {
  const ends = [...document.querySelectorAll(".chart[data-drawn] .chart__plot")].map((plot) => {
    const { xaxis } = plot._fullLayout
    const [left] = [...plot.querySelectorAll(".js-line")].at(-1).getAttribute("d").split(/[ML]/).at(-1).split(",")
    return xaxis.p2c(Number(left))
  })
  return { least: Math.min(...ends), count: ends.length }
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--live", type=int, default=30, help="charts that are updated")
    parser.add_argument("--ticks", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    member = make_member()
    project = make_project(member)
    ended = fill(project, "ended", arguments.series, POINTS, is_live=False)
    # One step per second until now, like a run in progress.
    now = int(time.time()) * SECOND
    live = fill(
        *(project, "live", arguments.live, LIVE_POINTS),
        is_live=True,
        began=now - LIVE_POINTS * SECOND,
    )
    usual: ViewportSize = {"width": WIDTH, "height": HEIGHT}
    rows = -(-arguments.live // IN_A_ROW)
    high: ViewportSize = {"width": WIDTH, "height": 250 + ROW_PIXELS * rows}
    with server() as url:
        address = f"{url}/runs/{ended.run.id}/charts"
        with own_window(url, member.user, usual) as window:
            opening(window, address, arguments.rounds)
        with chromium() as browser:
            private = signed_in(browser, url, member.user, usual)
            opening(private, address, arguments.rounds, name="a private window, ")
            private.close()
            print(f"\nchromium {browser.version}")
            window = signed_in(browser, url, member.user, high)
            updates(window, f"{url}/runs/{live.run.id}/charts", live, arguments)
    connection.close()


def fill(
    project: Project,
    name: str,
    series: int,
    count: int,
    *,
    is_live: bool,
    began: int = START,
) -> Process:
    """Log series of one run, all over the same steps."""
    process = Process(project, name, time=began)
    process.open()
    log(process, series, 0, count)
    if not is_live:
        process.send([close_message(time=START)])
    settle(process.run)
    return process


def log(process: Process, series: int, first: int, count: int) -> None:
    """Log so many points of each series, as a training does: a few steps at a time."""
    random = np.random.default_rng(first)
    at_once = min(STEPS_AT_ONCE, POINTS_AT_ONCE // series)
    for start in range(first, first + count, at_once):
        steps = np.arange(start, min(first + count, start + at_once))
        falling = np.exp(-steps / 5_000)
        values = falling + random.normal(0, 0.05, (series, len(steps)))
        times = process.opening["time"] + steps * SECOND
        ticks = points_message("", falling, steps=steps, times=times)
        process.send([{**ticks, "paths": paths(series), "values": values.tobytes()}])


def paths(series: int) -> list[str]:
    return [f"train/part_{n // 20:02}/metric_{n:03}" for n in range(series)]


def opening(
    context: BrowserContext, address: str, rounds: int, *, name: str = ""
) -> None:
    found = []
    for _ in range(UNCOUNTED + rounds):
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(address, wait_until="commit")
        # Chromium detects the hover once the element exists.
        page.mouse.move(*POINTED_AT)
        wait_for(page, "() => window.allDrawn !== undefined")
        found.append(page.evaluate(OPENED))
        page.close()
    if not name:
        print(
            "\n| opening | charts, drawn | first paint ms | lines seen: all in the window, goal < 1,000 | the chart that is pointed at answers, goal < 1,000 | all in the window drawn by Plotly | longest task | blocked |"
        )
        print("|---|---|---|---|---|---|---|---|")
    print(opened(f"{name}nothing cached", found[:1]))
    cached = found[UNCOUNTED:]
    print(opened(f"{name}cached, median of {rounds}", cached), flush=True)


def opened(name: str, found: list[dict[str, float]]) -> str:
    def median(key: str) -> str:
        middle = np.median([each[key] for each in found])
        return "–" if np.isnan(middle) else f"{middle:,.0f}"

    counts = f"{median('charts')}, {median('drawn')}"
    timed = [
        median(key) for key in ("paint", "seen", "pointed", "all", "longest", "blocked")
    ]
    return "| " + " | ".join([name, counts, *timed]) + " |"


def updates(
    context: BrowserContext, address: str, process: Process, options: argparse.Namespace
) -> None:
    """Log a few points before each tick, and measure all that the main thread does."""
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    wait_for(page, "() => window.allDrawn !== undefined")
    page.wait_for_timeout(2 * TICK_SECONDS * 1_000)
    client = watch_processor(page)

    idle = measured(page, client, options.ticks // 2 or 1)
    page.evaluate("() => { window.held.length = 0 }")
    spent = []
    last = LIVE_POINTS
    for _ in range(options.ticks):
        log(process, options.live, last, 3)
        last += 3
        spent.append(measured(page, client, 1))
    shown = page.evaluate(SHOWN)
    longest = page.evaluate("() => Math.max(0, ...window.held)")
    print(
        "\n| live updates | charts | main thread, ms per tick: mean, goal < 50 | median | most | longest task | of a tick without news |"
    )
    print("|---|---|---|---|---|---|---|")
    cells = [f"{options.ticks} ticks", f"{shown['count']:.0f}"]
    cells += [
        f"{value:.1f}" for value in (np.mean(spent), np.median(spent), max(spent))
    ]
    cells += [f"{longest:.0f}", f"{idle:.1f}"]
    print("| " + " | ".join(cells) + " |")
    print(
        f"\nThe last step logged is {last - 1}; the least that a chart shows is {shown['least']:.0f}.",
        flush=True,
    )
    context.close()


def wait_for(page: Page, question: str) -> None:
    """Playwright's own waiting evaluates text, which the pages do not allow."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while not page.evaluate(question):
        if time.monotonic() > deadline:
            raise SystemExit(
                f"The page did not come so far within {LONGEST_SECONDS} s."
            )
        page.wait_for_timeout(50)


if __name__ == "__main__":
    main()
