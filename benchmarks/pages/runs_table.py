"""Measures the runs table of a project with very many runs, in a real browser.

    python -m benchmarks.pages.runs_table
    python -m benchmarks.pages.runs_table --runs 10000 --folder /var/tmp/many

SQLite in a temporary folder (or in --folder, which is kept and used again), or the
database that SEAMARK_DATABASE_URL names: an empty one, or one that this filled before.
A server of one process answers chromium. Prints a table; asserts nothing. "interactive"
is when the first rows are drawn and the page's scripts listen, counted from when the
address was opened; every other time ends in the frame that shows what was asked for.
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
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.chromium import find_chromium
from tests.services import free_port

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--runs", type=int, default=100_000)
parser.add_argument("--attributes", type=int, default=20)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--folder", type=Path, help="keep the data here")

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
OPTIONS = parser.parse_args()
if OPTIONS.folder:
    OPTIONS.folder.mkdir(parents=True, exist_ok=True)
FOLDER = OPTIONS.folder or Path(tempfile.mkdtemp(prefix="seamark-benchmark-"))
if not OPTIONS.folder:
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = str(FOLDER)
os.environ["SEAMARK_PORT"] = str(free_port())

import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from benchmarks.many_runs import Fill  # noqa: E402
from tracker.models import Member, Project, Role, Run, User  # noqa: E402

START_SECONDS = 30.0
SLOWEST_MS = 300_000
VIEWPORT = {"width": 1440, "height": 900}
PAGE = "/w/many/runs/"
METRIC = "path:train/loss"

# Told by the page itself, so that nothing of the measuring is in between.
WATCH = """() => {
  const look = () => {
    const grid = document.querySelector(".runs-grid")
    const first = grid?.querySelector('[data-position="0"] a')
    if (first?.textContent) window.interactive = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}"""
JUMP = """part => new Promise(resolve => {
  const grid = document.querySelector(".runs-grid"), begun = performance.now()
  const height = parseFloat(getComputedStyle(grid).getPropertyValue("--row"))
  const position = Math.round(part * (grid.ariaRowCount ?? grid.getAttribute("aria-rowcount")))
  grid.scrollTop = position * height
  const look = () => grid.querySelector(`[data-position="${position + 5}"] a`)?.textContent
    ? resolve(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})"""
SORT = """key => new Promise(resolve => {
  const grid = document.querySelector(".runs-grid"), begun = performance.now()
  const first = () => grid.querySelector('[data-position="0"] a')?.textContent
  const before = first()
  const head = [...grid.querySelectorAll("[role=columnheader]")].find(cell => cell.dataset.key === key)
  head.click()
  const look = () => first() && first() !== before
    ? resolve(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})"""
FILTER = """query => new Promise(resolve => {
  const field = document.querySelector("[name=query]"), begun = performance.now()
  const count = document.querySelector("[data-part=count]"), before = count.textContent
  field.value = query
  field.dispatchEvent(new Event("input", { bubbles: true }))
  const look = () => count.textContent !== before
    ? resolve(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})"""
GROUPED = """() => new Promise(resolve => {
  const look = () => document.querySelector(".runs-grid__row--group .runs-grid__count")
    ? resolve(performance.now()) : requestAnimationFrame(look)
  look()
})"""
SCROLL = """async count => {
  const grid = document.querySelector(".runs-grid")
  let slowest = 0
  for (let i = 0; i < count; i++) {
    const begun = performance.now()
    grid.scrollTop += 84
    await new Promise(requestAnimationFrame)
    slowest = Math.max(slowest, performance.now() - begun)
  }
  return slowest
}"""
STEPS = 60


def main() -> None:
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")
    call_command("migrate", verbosity=0)
    if not Project.objects.filter(slug="runs").exists():
        began = time.perf_counter()
        Fill(OPTIONS.runs, OPTIONS.attributes).write()
        print(f"built in {time.perf_counter() - began:,.0f} s", flush=True)
    print(
        f"{connection.vendor}, {Run.objects.count():,} runs, Python {sys.version.split()[0]}"
    )
    url = f"http://127.0.0.1:{settings.PORT}"
    # Before playwright's event loop, in which Django asks no database.
    cookie = {**session(), "url": url}
    with served(url), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        context = browser.new_context(viewport=VIEWPORT, locale="en-GB")
        context.add_cookies([cookie])
        # What is read from a cold disk takes as long as it takes.
        context.set_default_timeout(SLOWEST_MS)
        measure(context, f"{url}{PAGE}")
        browser.close()


def measure(context: BrowserContext, address: str) -> None:
    opened(context, address)  # the server's first request is slower
    told: dict[str, list[float]] = {}

    def tell(name: str, milliseconds: float) -> None:
        told.setdefault(name, []).append(milliseconds)

    for number in range(OPTIONS.rounds):
        page = opened(context, address)
        tell("interactive", page.evaluate("window.interactive"))
        tell("a scroll to the middle", page.evaluate(JUMP, 0.5))
        tell("slowest of 60 frames while scrolling", page.evaluate(SCROLL, STEPS))
        tell("a sort by a metric", page.evaluate(SORT, METRIC))
        tell("a sort by the name", page.evaluate(SORT, "name"))
        query = f"params/share < {0.1 + number / 1_000}"
        tell("a query for a tenth of the runs", page.evaluate(FILTER, query))
        page.close()
        page = opened(context, f"{address}?sort=-path:params/optimizer&sort={METRIC}")
        tell("interactive, sorted by two columns", page.evaluate("window.interactive"))
        page.close()
        page = context.new_page()
        page.goto(f"{address}?group=path:params/optimizer", wait_until="commit")
        tell("interactive, in groups", page.evaluate(GROUPED))
        page.close()
    print("| runs table | p50 ms | longest ms |\n|---|---|---|")
    for name, times in told.items():
        print(f"| {name} | {np.median(times):.0f} | {max(times):.0f} |")


def opened(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    page.goto(address)
    page.wait_for_function("() => window.interactive")
    return page


def session() -> dict[str, str]:
    project = Project.objects.select_related("workspace").get(slug="runs")
    user, _ = User.objects.get_or_create(username="benchmark")
    Member.objects.get_or_create(
        workspace=project.workspace, user=user, defaults={"role": Role.VIEWER}
    )
    client = Client()
    client.force_login(user)
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
