"""Measures the data of the runs table over HTTP: 100 rows of 50 columns.

    python -m benchmarks.pages.table_data
    python -m benchmarks.pages.table_data --runs 100000 --folder /var/tmp/many

Uses a database as `benchmarks.pages.runs_table` does. The rows are sorted by a metric
and read in full, over one connection to a server of one process; "unchanged" is the
request when the page holds the rows already. Prints a table; exits with 1 if the page
exceeds its bounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

from benchmarks.pages.installation import prepare, server

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--runs", type=int, default=5_000)
parser.add_argument("--rounds", type=int, default=100)
parser.add_argument("--folder", type=Path, help="keep the data here")
OPTIONS = parser.parse_args()
prepare(OPTIONS.folder)

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402

from benchmarks.many_runs import Fill  # noqa: E402
from benchmarks.pages.viewers import viewer  # noqa: E402
from tracker.models import Project, Run  # noqa: E402

ATTRIBUTES = 100
METRICS = 50
SORT = "-path:train/loss"
MAX_MS, MAX_KB = 20.0, 150.0
WARM_UP = 10


def main() -> int:
    if not Project.objects.filter(slug="runs").exists():
        began = time.perf_counter()
        Fill(OPTIONS.runs, ATTRIBUTES).write()
        print(f"built in {time.perf_counter() - began:,.0f} s", flush=True)
    print(f"{Run.objects.count():,} runs\n")
    with server() as url:
        return 1 if measure(HTTPConnection(urlsplit(url).netloc)) else 0


def measure(connection: HTTPConnection) -> bool:
    """Return whether the page exceeds its bounds."""
    paths = [f"train/group_{place % 5}/metric_{place:03}" for place in range(12, 62)]
    assert len(paths) == METRICS
    page = "/w/many/runs/runs.json?" + urlencode(
        [("sort", SORT), *(("column", f"path:{path}") for path in paths)]
    )
    signed_in = {"Cookie": cookie(), "Accept-Encoding": "gzip, zstd"}
    tag = answered(connection, page, signed_in)[1]
    print("| rows of the table | p50 ms | p95 ms | kB | compressed kB |")
    print("|---|---|---|---|---|")
    p50, size = row(connection, "page", page, signed_in)
    row(connection, "page, unchanged", page, signed_in | {"If-None-Match": tag})
    exceeds = p50 > MAX_MS or size > MAX_KB
    print(f"\npage ≤ {MAX_MS:.0f} ms and ≤ {MAX_KB:.0f} kB compressed: {not exceeds}")
    return exceeds


def row(
    connection: HTTPConnection, name: str, address: str, headers: Mapping[str, str]
) -> tuple[float, float]:
    """Print the figures of a request; return its median time and compressed size."""
    plain = {**headers, "Accept-Encoding": "identity"}
    full, small = (
        answered(connection, address, accepted)[0] / 1e3
        for accepted in (plain, headers)
    )
    times = []
    for _ in range(WARM_UP + OPTIONS.rounds):
        began = time.perf_counter()
        answered(connection, address, headers)
        times.append((time.perf_counter() - began) * 1e3)
    p50, p95 = np.percentile(times[WARM_UP:], [50, 95])
    print(
        f"| {name} | {p50:.1f} | {p95:.1f} | {full:,.1f} | {small:,.1f} |", flush=True
    )
    return float(p50), small


def answered(
    connection: HTTPConnection, address: str, headers: Mapping[str, str]
) -> tuple[int, str]:
    """Return the size of the body and the ETag."""
    connection.request("GET", address, headers=dict(headers))
    response = connection.getresponse()
    body = response.read()
    assert response.status in (200, 304), (response.status, body[:500])
    return len(body), response.headers.get("ETag", "")


def cookie() -> str:
    client = Client()
    client.force_login(viewer())
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


if __name__ == "__main__":
    sys.exit(main())
