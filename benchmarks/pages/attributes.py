"""Measures the pages of runs with the maximum number of attributes.

    python -m benchmarks.pages.attributes
    python -m benchmarks.pages.attributes --attributes 10000 --browser

Uses SQLite in a temporary folder, or the empty PostgreSQL database in
SEAMARK_DATABASE_URL. The runs are logged through the real ingest, and differ in the
names of their attributes. Requests are answered in this process, through all
middleware; with --browser, Chromium loads pages from a server and reports its first
paint. Prints tables; asserts nothing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from playwright.sync_api import ViewportSize

from benchmarks.pages.installation import chromium, prepare, server, signed_in

prepare()

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
VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
# The browser may report it later than the paint.
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
    print("\n| attributes | page | p50 ms | longest | KiB | statements |")
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
    print("\n| attributes | page | first paint, p50 ms | requests |\n|---|---|---|---|")
    with server() as url, chromium() as browser:
        page = signed_in(browser, url, member.user, VIEWPORT).new_page()
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


if __name__ == "__main__":
    main()
