"""Measures a run's charts in a real browser: opening, live updates, bytes.

    python -m benchmarks.pages.run_page
    python -m benchmarks.pages.run_page --series 200 --live 30 --ticks 12

SQLite in a temporary folder; chromium asks a server of its own. Prints tables of what
was measured beside what it should be; asserts nothing.
"""

from __future__ import annotations

import argparse
import atexit
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen
from uuid import UUID

import brotli
import numpy as np
from playwright.sync_api import BrowserContext, Page, Request, sync_playwright

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
# Playwright's event loop runs in the thread that logs.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
FOLDER = tempfile.mkdtemp(prefix="seamark-benchmark-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = FOLDER

from tests.chromium import find_chromium  # noqa: E402
from tests.services import free_port  # noqa: E402

os.environ["SEAMARK_PORT"] = str(free_port())

import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

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
from tracker.models import Member, Project  # noqa: E402

POINTS = 20_000
LIVE_POINTS = 600
STEPS_AT_ONCE = 2_000
# What a page does by itself every five seconds.
TICK_SECONDS = 5.0
START_SECONDS = 120.0
WIDTH, HEIGHT = 1440, 900
# Charts of the usual size stand three in a row, each 265 pixels high.
ROW_PIXELS, IN_A_ROW = 265, 3
KILOBYTE = 1_000

# In the page: when the charts in the window are drawn, and what held it up meanwhile.
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
  if (drawn.length) window.firstDrawn ??= performance.now()
  if (charts.length && drawn.length === charts.length) window.allDrawn ??= performance.now()
  else requestAnimationFrame(look)
}
requestAnimationFrame(look)
"""
OPENED = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
  first: window.firstDrawn,
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
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")

    call_command("migrate", verbosity=0)
    member = make_member()
    project = make_project(member)
    ended = fill(project, "ended", arguments.series, POINTS, is_live=False)
    live = fill(project, "live", arguments.live, LIVE_POINTS, is_live=True)
    url = f"http://127.0.0.1:{settings.PORT}"
    cookie = {**session(member), "url": url}
    with served(url), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )

        def window(height: int = HEIGHT) -> BrowserContext:
            size = {"width": WIDTH, "height": height}
            context = browser.new_context(viewport=size, reduced_motion="reduce")
            context.add_cookies([cookie])
            return context

        print(f"chromium {browser.version}, {os.cpu_count()} cores\n")
        opening(window(), f"{url}/runs/{ended.run.id}/charts", arguments.rounds)
        height = 250 + ROW_PIXELS * -(-arguments.live // IN_A_ROW)
        updates(window(height), f"{url}/runs/{live.run.id}/charts", live, arguments)
        sizes(window(), url, project, [ended.run.id, live.run.id])
        browser.close()
    connection.close()


def fill(
    project: Project, name: str, series: int, count: int, *, is_live: bool
) -> Process:
    """Log series of one run, all over the same steps."""
    process = Process(project, name)
    process.open()
    log(process, series, 0, count)
    if not is_live:
        process.send([close_message(time=START)])
    settle(process.run)
    return process


def log(process: Process, series: int, first: int, count: int) -> None:
    """Log so many points of each series, as a training does: a few steps at a time."""
    random = np.random.default_rng(first)
    for start in range(first, first + count, STEPS_AT_ONCE):
        steps = np.arange(start, min(first + count, start + STEPS_AT_ONCE))
        falling = np.exp(-steps / 5_000)
        values = falling + random.normal(0, 0.05, (series, len(steps)))
        ticks = points_message("", falling, steps=steps, times=START + steps * SECOND)
        process.send([{**ticks, "paths": paths(series), "values": values.tobytes()}])


def paths(series: int) -> list[str]:
    return [f"train/part_{n // 20:02}/metric_{n:03}" for n in range(series)]


def opening(context: BrowserContext, address: str, rounds: int) -> None:
    found = []
    for round_number in range(rounds + 1):
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(address)
        wait_for(page, "() => window.allDrawn !== undefined")
        # What was measured first had nothing in the browser's cache.
        found.append((round_number, page.evaluate(OPENED)))
        page.close()
    print(
        "| opening | charts, drawn | first paint ms | first chart | interactive: all in the window drawn, goal < 1,000 | longest task | blocked |"
    )
    print("|---|---|---|---|---|---|---|")
    cold, *warm = [each for _, each in found]
    print(opened("nothing cached", [cold]))
    print(opened(f"cached, median of {rounds}", warm), flush=True)
    context.close()


def opened(name: str, found: list[dict[str, float]]) -> str:
    def median(key: str) -> str:
        return f"{np.median([each[key] for each in found]):,.0f}"

    counts = f"{median('charts')}, {median('drawn')}"
    timed = [median(key) for key in ("paint", "first", "all", "longest", "blocked")]
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
    client = context.new_cdp_session(page)
    # Of its own processor time: other work on the machine hardly changes that.
    client.send("Performance.enable", {"timeDomain": "threadTicks"})

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


# Any: playwright's session has no useful type.
def measured(page: Page, client: object, ticks: int) -> float:
    """Return what the main thread did in so many ticks, in milliseconds for each."""
    before = task_seconds(client)
    page.wait_for_timeout(ticks * TICK_SECONDS * 1_000)
    return (task_seconds(client) - before) * 1_000 / ticks


def task_seconds(client: object) -> float:
    answer = client.send("Performance.getMetrics")  # type: ignore[attr-defined]
    return next(m["value"] for m in answer["metrics"] if m["name"] == "TaskDuration")


def sizes(
    context: BrowserContext, url: str, project: Project, run_ids: list[UUID]
) -> None:
    run = run_ids[0]
    compared = ",".join(map(str, run_ids))
    place = f"w/{project.workspace.slug}/{project.slug}"
    pages = {
        "charts": (f"runs/{run}/charts", 700),
        "hardware": (f"runs/{run}/hardware", 700),
        "overview of a run": (f"runs/{run}/", 700),
        "compare": (f"{place}/compare?runs={compared}", 700),
        "runs": (f"{place}/", 100),
        "attributes": (f"runs/{run}/attributes", 100),
        "projects": ("", 100),
        "alerts": (f"{place}/alerts", 100),
        "tokens": ("settings/tokens", 100),
    }
    print("\n| script and style of | files | kB with brotli | kB with gzip | goal < |")
    print("|---|---|---|---|---|")
    for name, (path, goal) in pages.items():
        page = context.new_page()
        asked: list[Request] = []
        page.on("requestfinished", lambda request, asked=asked: asked.append(request))
        page.goto(f"{url}/{path}", wait_until="networkidle")
        bodies = [
            request.response().body()
            for request in asked
            if request.resource_type in ("script", "stylesheet")
        ]
        page.close()
        packed = [
            sum(map(len, map(pack, bodies)))
            for pack in (brotli.compress, gzip.compress)
        ]
        cells = [
            name,
            str(len(bodies)),
            *(f"{size / KILOBYTE:,.0f}" for size in packed),
        ]
        print("| " + " | ".join([*cells, str(goal)]) + " |", flush=True)
    context.close()


def wait_for(page: Page, question: str) -> None:
    """Playwright's own waiting evaluates text, which the pages do not allow."""
    deadline = time.monotonic() + START_SECONDS
    while not page.evaluate(question):
        if time.monotonic() > deadline:
            raise SystemExit(f"The page did not come so far within {START_SECONDS} s.")
        page.wait_for_timeout(50)


def session(member: Member) -> dict[str, str]:
    client = Client()
    client.force_login(member.user)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value}


@contextmanager
def served(url: str) -> Iterator[None]:
    command = [sys.executable, "manage.py", "serve", "--workers", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ) as server:
        try:
            await_answer(f"{url}/livez")
            yield
        finally:
            server.terminate()


def await_answer(address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(address):
        if time.monotonic() > deadline:
            raise SystemExit("The server did not start.")
        time.sleep(0.1)


def answers(address: str) -> bool:
    try:
        urlopen(address).close()
    except (URLError, ConnectionError):
        return False
    return True


if __name__ == "__main__":
    main()
