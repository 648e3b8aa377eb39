"""Measures values of dashboards over all runs of a project.

    python -m benchmarks.value_tile
    python -m benchmarks.value_tile --database PostgreSQL

Uses SQLite in a temporary folder, a new PostgreSQL, or the empty database in
SEAMARK_DATABASE_URL. Prints medians: the statements alone, and the tile over HTTP in this
process, through all middleware. "busy" is the CPU time of this process, which other programs
do not lengthen: with SQLite it includes the database.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import database
from benchmarks.pages.installation import prepare

parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
parser.add_argument("--runs", type=int, default=10_000)
parser.add_argument("--attributes", type=int, default=40)
parser.add_argument("--rounds", type=int, default=21)
parser.add_argument("--folder", type=Path, help="where SQLite's file goes")
database.add_option(parser)

# Settings read the environment when Django loads, below.
OPTIONS = parser.parse_args()
database.start()
prepare(OPTIONS.folder)

from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from benchmarks.many_runs import Fill  # noqa: E402
from tests.builders import make_member  # noqa: E402
from tracker.actions.dashboards import create_dashboard  # noqa: E402
from tracker.boards.board import Board, Settings, Widget  # noqa: E402
from tracker.models import Project  # noqa: E402
from tracker.queries.runs.filter.filters import (  # noqa: E402
    Found,
    RunFilter,
    read_query,
)
from tracker.queries.runs.over_runs import OverRuns, number_over_runs  # noqa: E402

METRIC = "train/loss"
# Name, column, statistic across runs, query.
QUESTIONS = (
    ("highest last value", f"path:{METRIC}", "highest", ""),
    ("highest maximum", f"max:{METRIC}", "highest", ""),
    ("lowest mean", f"mean:{METRIC}", "lowest", ""),
    ("mean of last values", f"path:{METRIC}", "mean", ""),
    ("most GPU hours", "gpu_hours", "highest", ""),
    ("query: half of the runs", f"max:{METRIC}", "highest", "params/share < 0.5"),
    ("query: by tag", f"max:{METRIC}", "highest", 'tags contains "dali"'),
)


def main() -> None:
    fill = Fill(OPTIONS.runs, OPTIONS.attributes)
    fill.write()
    print(f"{OPTIONS.runs:,} runs of {OPTIONS.attributes} attributes")
    print(f"{'':<26}wall ms  busy ms     runs")
    for name, column, over, query in QUESTIONS:
        ask = partial(_ask, fill.project, column, over, query)
        _report(name, ask, f"{ask().known_count:,}")
    _report("the tile over HTTP", _tile(fill.project), "")


def _ask(project: Project, column: str, over: str, query: str) -> OverRuns:
    found = Found(project.pk, RunFilter(query=read_query(query)))
    return number_over_runs([found], column, over)


def _tile(project: Project) -> Callable[[], object]:
    """Return a function that requests the tile of the highest value."""
    member = make_member("ada", workspace=project.workspace)
    settings: Settings = {"metric": METRIC, "summary": "max"}
    tile = Widget(id="aaaaaaaa", kind="value", settings=settings)
    board = Board(widgets=(tile,))
    made = create_dashboard(project, "best", board, user_id=member.user_id)
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(member.user)
    address = reverse("widget-body", args=[made.id, tile.id])

    def request() -> None:
        response = client.get(address)
        assert b"highest of" in response.content, response.status_code

    return request


def _report(name: str, ask: Callable[[], object], runs: str) -> None:
    walls, busy = [], []
    for _ in range(OPTIONS.rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        ask()
        walls.append(time.perf_counter() - wall)
        busy.append(time.process_time() - cpu)
    wall, cpu = (1_000 * statistics.median(times) for times in (walls, busy))
    print(f"{name:<26}{wall:7.1f}  {cpu:7.1f}  {runs:>7}", flush=True)


if __name__ == "__main__":
    main()
