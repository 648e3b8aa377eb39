"""Measures the pages of runs with as many attributes as a run may have.

    python -m benchmarks.run_page
    python -m benchmarks.run_page --attributes 10000 --browser

SQLite in a temporary folder, or the empty PostgreSQL database that
SEAMARK_DATABASE_URL names. The runs are logged through the real ingest, and differ in
how their attributes are named. Requests are answered in this process, through every
middleware; with --browser, chromium asks a server and says when it first painted.
Prints tables; asserts nothing.
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
from playwright.sync_api import sync_playwright

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
from django.test.utils import CaptureQueriesContext  # noqa: E402

from tests.builders import (  # noqa: E402
    START,
    Process,
    close_message,
    make_member,
    make_project,
    points_message,
    set_message,
)
from tests.web.sample_run import settle  # noqa: E402
from tracker.ingest.limits import LIMITS  # noqa: E402
from tracker.models import Member, Project, Run  # noqa: E402

PAGES = ("", "header", "charts", "hardware", "attributes", "attributes?search=7")
PER_LAYER = 100
CLASSES_OF_A_METRIC = 2
AT_ONCE = 5_000
START_SECONDS = 30.0
# The browser may say so later than it paints.
FIRST_PAINT = """() => new Promise((tell) => {
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName("first-contentful-paint")
    if (paint) tell(paint.startTime)
  }).observe({ type: "paint", buffered: true })
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attributes", type=int, default=LIMITS.attributes)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--browser", action="store_true", help="ask with chromium, too")
    arguments = parser.parse_args()

    print(f"{connection.vendor}, Python {sys.version.split()[0]}\n")
    call_command("migrate", verbosity=0)
    member = make_member()
    runs = [
        fill(make_project(member, f"project-{number}"), name, paths)
        for number, (name, paths) in enumerate(named(arguments.attributes).items())
    ]
    ask(member, runs, arguments.rounds)
    if arguments.browser:
        paint(member, runs, arguments.rounds)


def named(count: int) -> dict[str, list[str]]:
    """Return the paths of each run; those that begin with "params" become values."""
    layers = [
        f"model/layers/{n // PER_LAYER:04}/m{n % PER_LAYER:02}" for n in range(count)
    ]
    classes = [
        f"class_{n // CLASSES_OF_A_METRIC:05}/m{n % CLASSES_OF_A_METRIC}"
        for n in range(count)
    ]
    return {
        "nested": layers,
        "many namespaces": classes,
        "no namespace": [f"metric_{n:05}" for n in range(count)],
        "parameters": [f"params/p{n:05}" for n in range(count)],
        "ranks": [
            f"monitoring/train/rank-{n // 64}/gpu/{n // 8 % 8}/r{n % 8}"
            for n in range(count)
        ],
    }


def fill(project: Project, name: str, paths: list[str]) -> Run:
    process = Process(project, name)
    process.open()
    for start in range(0, len(paths), AT_ONCE):
        some = paths[start : start + AT_ONCE]
        if some[0].startswith("params/"):
            messages = [set_message(path, 0.5) for path in some]
        else:
            values = np.random.default_rng(start).random(len(some))
            ticks = points_message("", [0.0])
            messages = [{**ticks, "paths": some, "values": values.tobytes()}]
        refused = process.send(messages).refused
        assert not refused, refused
    process.send([close_message(time=START)])
    settle(process.run)
    return process.run


def ask(member: Member, runs: list[Run], rounds: int) -> None:
    client = Client(headers={"host": "localhost"})
    client.force_login(member.user)
    print("| attributes | page | p50 ms | longest | KiB | statements |")
    print("|---|---|---|---|---|---|")
    for run in runs:
        for page in PAGES:
            address = f"/runs/{run.id}/{page}"
            with CaptureQueriesContext(connection) as statements:
                size = len(client.get(address).content)
                statement_count = len(statements)
            seconds = []
            for _ in range(rounds):
                start = time.perf_counter()
                client.get(address)
                seconds.append(time.perf_counter() - start)
            cells = [
                *(run.name, page or "overview"),
                *(f"{1e3 * part:.0f}" for part in (np.median(seconds), max(seconds))),
                *(f"{size / 1024:,.0f}", str(statement_count)),
            ]
            print("|", " | ".join(cells), "|", flush=True)


def paint(member: Member, runs: list[Run], rounds: int) -> None:
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")
    url = f"http://127.0.0.1:{settings.PORT}"
    # Before playwright's event loop, in which Django asks no database.
    cookie = {**session(member), "url": url}
    print("\n| attributes | page | first paint, p50 ms | requests |\n|---|---|---|---|")
    with served(url), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        context = browser.new_context()
        context.add_cookies([cookie])
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for run in runs:
            for name in PAGES[:1] + PAGES[2:]:
                paints = []
                for _ in range(rounds):
                    asked.clear()
                    page.goto(f"{url}/runs/{run.id}/{name}", wait_until="networkidle")
                    paints.append(page.evaluate(FIRST_PAINT))
                cells = [run.name, name or "overview", f"{np.median(paints):.0f}"]
                print("|", " | ".join([*cells, str(len(asked))]), "|", flush=True)
        browser.close()


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
