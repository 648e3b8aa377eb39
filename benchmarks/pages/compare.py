"""Measures the comparison of twenty runs in a real Chromium.

    python -m benchmarks.pages.compare
    python -m benchmarks.pages.compare --runs 20 --charts 20 --points 2000

SQLite in a temporary folder, or the empty PostgreSQL database that SEAMARK_DATABASE_URL
names. The runs are logged through the real ingest and compacted. The browser's cache is
cold at the first visit and warm at the others; every visit is a new page. "All drawn" is
when the last chart, row or line is on the page, counted from the start of the
navigation; "busy" is what the page's main thread worked. Prints a table; asserts nothing.
"""

from __future__ import annotations

import argparse
import atexit
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

import numpy as np
from playwright.sync_api import Browser, sync_playwright

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
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
    Process,
    close_message,
    make_member,
    make_project,
    points_message,
    set_message,
)
from tests.web.sample_run import settle  # noqa: E402
from tracker.models import Member, Project, Run  # noqa: E402

START_SECONDS = 30.0
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
VIEWPORT = {"width": 1440, "height": 2400}
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

    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")
    print(f"{connection.vendor}, Python {sys.version.split()[0]}")
    print(
        f"{arguments.runs} runs, {arguments.charts} series"
        f" of {arguments.points:,} points each\n"
    )
    call_command("migrate", verbosity=0)
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
    url = f"http://127.0.0.1:{settings.PORT}"
    cookie = {**session(member), "url": url}
    address = (
        f"{url}/w/{member.workspace.slug}/{project.slug}/compare?text=train/&runs="
    )
    address += ",".join(str(run.id) for run in runs)
    with served(url), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        measure(browser, cookie, address, counts, arguments)
        browser.close()


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


def measure(
    browser: Browser,
    cookie: dict[str, str],
    address: str,
    counts: dict[str, int],
    arguments: argparse.Namespace,
) -> None:
    print("| tab | first visit, all drawn ms | again, p50 ms | worst ms | busy ms |")
    print("|---|---|---|---|---|")
    for tab in arguments.tabs:
        selector, what = TABS[tab]
        context = browser.new_context(viewport=VIEWPORT)
        context.add_cookies([cookie])
        context.add_init_script(WATCH % repr([selector, counts[what]]))
        visited = []
        for _ in range(arguments.rounds + 1):
            page = context.new_page()
            cdp = context.new_cdp_session(page)
            # Time of the processor, which other work on the machine does not stretch.
            cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
            wanted = (
                address if tab in ("charts",) else address.replace("text=train/&", "")
            )
            page.goto(f"{wanted}&tab={tab}")
            drawn = page.evaluate("window.drawn")
            metrics = cdp.send("Performance.getMetrics")["metrics"]
            busy = {each["name"]: each["value"] for each in metrics}["TaskDuration"]
            visited.append((drawn, 1e3 * busy))
            page.close()
        (first, _), *again = visited
        walls, works = zip(*again, strict=True)
        cells = (first, np.median(walls), max(walls), np.median(works))
        print(
            "|", " | ".join([tab, *(f"{cell:,.0f}" for cell in cells)]), "|", flush=True
        )
        context.close()


def session(member: Member) -> dict[str, str]:
    client = Client()
    client.force_login(member.user)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value}


@contextmanager
def served(url: str) -> Iterator[None]:
    command = [sys.executable, "manage.py", "serve", "--workers", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urlopen(f"{url}/sign-in").close()
                break
            except URLError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        try:
            yield
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
