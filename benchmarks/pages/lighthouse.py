"""Prints Lighthouse's scores of every page.

    python -m benchmarks.pages.lighthouse
    python -m benchmarks.pages.lighthouse --form mobile
    python -m benchmarks.pages.lighthouse --only run,runs --samples 1

Lighthouse comes from npm, pinned, and needs Node 18 or newer. Pages are those of all
routes, with a full project, on a server of one process on this machine. Lighthouse
defines the scores: performance is that of a desktop, or, with `--form mobile`, of a
simulated phone with a slow processor and network. Audits vary, so each number is the
median of several.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median_low
from typing import Any, TypeVar

from playwright.sync_api import BrowserContext, sync_playwright

from benchmarks.pages.installation import prepare, server

prepare()

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402

from tests.builders import make_member  # noqa: E402
from tests.chromium import find_chromium  # noqa: E402
from tests.services import free_port  # noqa: E402
from tests.web.every_page import NOTHING, make_full, pages  # noqa: E402
from tracker.models import Member  # noqa: E402

VERSION = "12.8.2"
FORMS = ("desktop", "mobile")
SAMPLES = 3
SECONDS_FOR_A_PAGE = 180
CATEGORIES = ("performance", "accessibility", "best-practices")
# Their labels and formats.
TIMINGS = {
    "first-contentful-paint": ("first paint, ms", "{:,.0f}"),
    "largest-contentful-paint": ("largest paint, ms", "{:,.0f}"),
    "total-blocking-time": ("blocked, ms", "{:,.0f}"),
    "cumulative-layout-shift": ("shift", "{:.2f}"),
    "total-byte-weight": ("bytes", "{:,.0f}"),
}
# A score or a timing.
Number = TypeVar("Number", int, float)
# Not ours: the description of the API is drawn by Swagger's page.
NOT_OURS = "api"
# Name prefixes of pages that are visited without signing in.
FOR_STRANGERS = ("sign-in", "shared")


@dataclass(frozen=True, slots=True)
class Audit:
    """Result of a page: scores from 0 to 100, timings, and failed audits."""

    page: str
    scores: Mapping[str, int | None]
    timings: Mapping[str, float | None]
    short: tuple[
        str, ...
    ]  # audits that count and are not passed, outside of performance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names of pages, with commas")
    parser.add_argument("--form", choices=FORMS, default="desktop")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each page")
    arguments = parser.parse_args()
    if arguments.samples < 1:
        parser.error("a page is audited once at least")

    npx = shutil.which("npx")
    if npx is None:
        raise SystemExit("Node's npx is needed.")
    # Requests find out which addresses are pages; most are not.
    logging.disable(logging.WARNING)
    member = make_member()
    client = signed_in(member)
    cookie = settings.SESSION_COOKIE_NAME
    secret = client.cookies[cookie].value
    found = pages(make_full(member), client)
    only = set(filter(None, arguments.only.split(",")))
    wanted = {
        name: address
        for name, address in found.items()
        if name not in {*NOTHING, NOT_OURS} and (not only or name in only)
    }
    audits = []
    with server() as url, browser() as (context, port):
        for name, address in wanted.items():
            context.clear_cookies()
            if not name.startswith(FOR_STRANGERS):
                context.add_cookies([{"name": cookie, "value": secret, "url": url}])
            samples = [
                lighthouse(f"{url}{address}", port, form=arguments.form, npx=npx)
                for _ in range(arguments.samples)
            ]
            audits.append(median_of([read_report(name, each) for each in samples]))
            print(row(audits[-1]), flush=True)
    lines = described(audits, form=arguments.form, samples=arguments.samples)
    print("", *lines, sep="\n")


def signed_in(member: Member) -> Client:
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(member.user)
    return client


@contextmanager
def browser() -> Iterator[tuple[BrowserContext, int]]:
    """Start a browser that Lighthouse can drive; yield its window and its port."""
    program = find_chromium()
    if program is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path=program,
            args=["--no-sandbox", f"--remote-debugging-port={port}"],
        )
        try:
            yield context, port
        finally:
            context.close()


# Any: a report as JSON.
def lighthouse(address: str, port: int, *, form: str, npx: str) -> dict[str, Any]:
    """Audit one page in the browser at this port, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *(npx, "--yes", f"lighthouse@{VERSION}", address, "--quiet"),
            *("--output=json", f"--output-path={report}", f"--port={port}"),
            f"--only-categories={','.join(CATEGORIES)}",
            *(["--preset=desktop"] if form == "desktop" else []),
        ]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=SECONDS_FOR_A_PAGE,
            check=False,
        )
        if not report.exists():
            sys.exit(f"{address}: {done.stderr[-2_000:]}")
        loaded: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return loaded


def read_report(page: str, report: Mapping[str, Any]) -> Audit:
    """Return the scores, timings and failed audits of a report."""
    audits, categories = report["audits"], report["categories"]
    counted = {
        reference["id"]
        for name in CATEGORIES
        if name != "performance"
        for reference in categories[name]["auditRefs"]
        if reference["weight"] > 0
    }
    return Audit(
        page,
        {name: percent(categories[name]["score"]) for name in CATEGORIES},
        {name: audits[name].get("numericValue") for name in TIMINGS},
        tuple(
            sorted(
                name
                for name in counted
                if audits[name]["score"] is not None and audits[name]["score"] < 1
            )
        ),
    )


def median_of(samples: Sequence[Audit]) -> Audit:
    """Return the median of each number, and the failed audits of all samples."""
    first = samples[0]
    return Audit(
        first.page,
        {name: middle(each.scores[name] for each in samples) for name in first.scores},
        {
            name: middle(each.timings[name] for each in samples)
            for name in first.timings
        },
        tuple(sorted({audit for each in samples for audit in each.short})),
    )


def middle(numbers: Iterable[Number | None]) -> Number | None:
    """Return the lower median of the known values; None if there are none."""
    known = [number for number in numbers if number is not None]
    return median_low(known) if known else None


def percent(score: float | None) -> int | None:
    return None if score is None else round(100 * score)


def row(audit: Audit) -> str:
    """Return a page's row of the table; unknown values are a dash."""
    cells = [
        f"`{audit.page}`",
        *(shown(score, "{:.0f}") for score in audit.scores.values()),
        *(shown(audit.timings[name], how) for name, (_, how) in TIMINGS.items()),
        ", ".join(audit.short),
    ]
    return f"| {' | '.join(cells)} |"


def shown(value: float | None, how: str) -> str:
    return "–" if value is None else how.format(value)


def described(audits: Sequence[Audit], *, form: str, samples: int) -> Iterator[str]:
    """Yield the lines of the page about all audits."""
    heads = ["page", *(name.replace("-", " ") for name in CATEGORIES)]
    heads += [*(name for name, _ in TIMINGS.values()), "short of"]
    where, asked = (" on a phone", " --form mobile") if form == "mobile" else ("", "")
    yield f"# What Lighthouse says of the pages{where}"
    yield ""
    command = f"python -m benchmarks.pages.lighthouse{asked}"
    yield f"Printed by `{command}`."
    now = datetime.now(UTC)
    yield f"{now.day} {now:%B %Y}, {os.cpu_count()} cores, Lighthouse {VERSION}, {form}."
    yield "Scores go to 100; timings are of its simulation, in milliseconds."
    if samples > 1:
        yield f"Each number is the median of {samples} audits."
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' --: |' * (len(heads) - 2)} --- |"
    yield from map(row, audits)


if __name__ == "__main__":
    main()
