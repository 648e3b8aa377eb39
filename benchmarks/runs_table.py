"""Measures the runs table of a project with very many runs, over HTTP.

    python -m benchmarks.runs_table
    python -m benchmarks.runs_table --runs 10000

Uses SQLite in a temporary folder (or in --folder, which is kept and reused), a new
PostgreSQL (--database PostgreSQL), or the database in SEAMARK_DATABASE_URL: an empty
one, or one that this benchmark filled before. Requests are answered in this process,
through all middleware. A small project shows the number of queries for few runs. Prints
tables; exits with 1 if a bound is exceeded. Times are wall times; "busy" is the CPU
time of this process, which other programs do not lengthen: with SQLite it includes the
database.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import database

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--runs", type=int, default=100_000)
parser.add_argument("--attributes", type=int, default=100)
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--folder", type=Path, help="keep the data here")
parser.add_argument("--only", default="", help="questions with this in their name")

database.add_option(parser)

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
OPTIONS = parser.parse_args()
database.start()
if OPTIONS.folder:
    OPTIONS.folder.mkdir(parents=True, exist_ok=True)
FOLDER = OPTIONS.folder or Path(tempfile.mkdtemp(prefix="seamark-benchmark-"))
if not OPTIONS.folder:
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = str(FOLDER)

import django  # noqa: E402

django.setup()

import numpy as np  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks.ingest.tables import NO, YES  # noqa: E402
from benchmarks.many_runs import Fill  # noqa: E402
from tracker.actions.access import make_token  # noqa: E402
from tracker.actor import Scope  # noqa: E402
from tracker.models import Attribute, Member, Project, Role, User  # noqa: E402
from tracker.queries.run_query.parser import MAX_CONDITIONS, parse  # noqa: E402
from tracker.queries.runs.filter.filters import RunFilter  # noqa: E402
from tracker.queries.runs.groups import run_groups  # noqa: E402

CASE, QUERY_CASE = "LD-07", "BI-10"
ADDRESS = "/api/v1/projects/many/{project}/"
FEW_RUNS, MIN_MATCHING = 200, 10
MANY, FEW = "runs", "few"
METRIC = "-path:train/loss"
EXAMPLE = 'train/loss < 0.3 and tags contains "dali" or state = "failed"'
# Requests: name, path below the project's address, parameters.
QUESTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("newest", "runs", {}),
    ("by a metric", "runs", {"sort": METRIC}),
    *(
        (
            f"by a metric, 1 in {part:,} by a parameter",
            "runs",
            {"sort": METRIC, "query": f"params/share < {1 / part!r}"},
        )
        for part in (2, 10, 100, 1_000, 10_000)
    ),
    (
        "by a metric, one run by a parameter",
        "runs",
        {"sort": METRIC, "query": "params/seed = 77"},
    ),
    (
        "by a metric, 1 in 4 by a text",
        "runs",
        {"sort": METRIC, "query": "params/optimizer = adam"},
    ),
    ("by a minimum", "runs", {"sort": "min:train/loss"}),
    ("by a maximum", "runs", {"sort": "-max:train/loss"}),
    ("by a mean", "runs", {"sort": "-mean:train/loss"}),
    (
        "by a mean, 1 in 2 by a parameter",
        "runs",
        {"sort": "-mean:train/loss", "query": "params/share < 0.5"},
    ),
    ("by a text", "runs", {"sort": "path:params/optimizer"}),
    ("by a metric, 9/10 passed over", "runs", {"sort": METRIC, "offset": 0.9}),
    (
        "by a metric, 1 in 2, 4/10 passed over",
        "runs",
        {"sort": METRIC, "query": "params/share < 0.5", "offset": 0.4},
    ),
    (
        "by a mean, 9/10 passed over",
        "runs",
        {"sort": "-mean:train/loss", "offset": 0.9},
    ),
    ("two metrics", "runs", {"query": "train/loss < 0.5 and val/accuracy > 0.5"}),
    ("the example", "runs", {"sort": "-path:val/accuracy", "query": EXAMPLE}),
    ("not", "runs", {"query": "not train/loss < 0.5"}),
    ("by a metric, a state", "runs", {"sort": METRIC, "query": "state = failed"}),
    ("by a metric, a tag", "runs", {"sort": METRIC, "query": "tags contains dali"}),
    ("a text in a text", "runs", {"query": 'note ~ "note 777"'}),
    ("a text in names and tags", "runs", {"search": "run 0999"}),
    *(
        (f"by {column}", "runs", {"sort": column})
        for column in (
            *("name", "state", "duration", "stages", "tags"),
            *("-finding", "-gpu", "-cpu", "-gpu_idle", "-gpu_hours"),
        )
    ),
    ("idle GPUs", "runs", {"query": "gpu_idle > 40"}),
    ("by a metric, idle GPUs", "runs", {"sort": METRIC, "query": "gpu_idle > 40"}),
    ("GPU hours", "runs", {"query": "gpu_hours > 10 and train/loss < 0.5"}),
    ("busy GPUs", "runs", {"query": "gpu > 90"}),
    ("busy CPUs", "runs", {"query": "cpu > 90"}),
    ("a finding", "runs", {"query": 'finding ~ "data"'}),
    ("who made it", "runs", {"query": "made_by = nobody"}),
    ("paths", "attribute-paths", {}),
    ("paths beginning so", "attribute-paths", {"prefix": "train/group_3/"}),
]
PARSED = 2_000
GROUP_METRICS = [f"path:train/group_{n % 5}/metric_{n:03}" for n in range(12, 18)]
# Groupings, for which the page reads all runs: name, keys, numeric columns.
GROUPED: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("groups, no numbers", ("path:params/optimizer",), ()),
    ("groups, a metric", ("path:params/optimizer",), ("path:train/loss",)),
    (
        "groups by two columns, eight metrics",
        ("path:params/optimizer", "path:params/batch_size"),
        ("path:train/loss", "path:val/accuracy", *GROUP_METRICS),
    ),
    ("groups of one run each", ("path:params/seed",), ("path:train/loss",)),
    (
        "groups, numbers of the run",
        ("path:params/optimizer",),
        ("duration", "gpu", "cpu", "gpu_idle", "gpu_hours", "energy"),
    ),
    ("groups by idle GPUs' findings", ("finding",), ("gpu_idle",)),
    ("groups by tags", ("tags",), ("path:train/loss",)),
    ("groups by who made it", ("made_by",), ("gpu_hours",)),
]
# Bounds for each request; for searches, which read every text, a larger one.
BOUND_MS, GROUPED_BOUND_MS, PARSE_BOUND_MS = 100, 1_000, 10
SEARCH_BOUND_MS = 1_000
SEARCHES = {"a text in a text", "a text in names and tags"}


def main() -> int:
    call_command("migrate", verbosity=0)
    for slug, runs in ((FEW, FEW_RUNS), (MANY, OPTIONS.runs)):
        if not Project.objects.filter(slug=slug).exists():
            began = time.perf_counter()
            Fill(runs, OPTIONS.attributes, slug).write()
            print(f"built in {time.perf_counter() - began:,.0f} s", flush=True)
    print(f"{connection.vendor}, Python {sys.version.split()[0]}")
    print(f"{Attribute.objects.count():,} attributes, {stored_mib():,.0f} MiB\n")
    is_parsed = measure_parsing()
    slow = [*ask_everything(), *put_together()]
    return 1 if slow or not is_parsed else 0


def measure_parsing() -> bool:
    """Return whether queries are read in time."""
    condition = "a" * 79 + " < 0.1234"
    longest = " and ".join([condition] * MAX_CONDITIONS)
    print("| case | query to read | characters | p50 ms | p99 ms | bound | holds |")
    print("|---|---|---|---|---|---|---|")
    slowest = 0.0
    for name, query in (("the example", EXAMPLE), ("of the largest", longest)):
        now = timezone.now()
        times = []
        for _ in range(PARSED):
            began = time.perf_counter()
            parse(query, now)
            times.append((time.perf_counter() - began) * 1e3)
        p50, p99 = np.percentile(times, [50, 99])
        slowest = max(slowest, p99)
        cells = [
            *(QUERY_CASE, name, f"{len(query):,}", f"{p50:.2f}", f"{p99:.2f}"),
            *(f"p99 ≤ {PARSE_BOUND_MS} ms", YES if p99 <= PARSE_BOUND_MS else NO),
        ]
        print("|", " | ".join(cells), "|")
    print()
    return slowest <= PARSE_BOUND_MS


def ask_everything() -> list[str]:
    """Send all requests; return those that exceed a bound."""
    client = reader()
    # The web server's way in, which has the program out of the garbage collector's sight.
    import_module("tracker.wsgi")
    slow = []
    print(
        "| case | asked | matching | p50 ms | p95 ms | busy ms | statements"
        f" | of {FEW_RUNS} runs | bound | holds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, address, parameters in QUESTIONS:
        if OPTIONS.only not in name:
            continue
        few = asked(client, FEW, address, placed(parameters, FEW_RUNS))
        query = placed(parameters, OPTIONS.runs)
        many = asked(client, MANY, address, query)
        walls, busy = measured(client, ADDRESS.format(project=MANY) + address, query)
        p50, p95 = np.percentile(walls, [50, 95])
        # If hardly any of the few runs match, the small project needs fewer queries.
        is_told = few.matching is None or few.matching >= MIN_MATCHING
        is_alike = not is_told or many.statements <= few.statements
        bound = SEARCH_BOUND_MS if name in SEARCHES else BOUND_MS
        holds = p95 < bound and is_alike
        if not holds:
            slow.append(name)
        cells = [
            *(CASE, name, "" if many.matching is None else f"{many.matching:,}"),
            *(f"{p50:.0f}", f"{p95:.0f}", f"{min(busy):.0f}", str(many.statements)),
            str(few.statements) if is_told else "–",
            f"p95 < {bound:,} ms; no more statements",
            YES if holds else NO,
        ]
        print("|", " | ".join(cells), "|", flush=True)
    return slow


@dataclass(frozen=True, slots=True)
class Asked:
    """Number of matching runs, if counted, and of SQL queries."""

    matching: int | None
    statements: int


def placed(parameters: dict[str, Any], runs: int) -> dict[str, Any]:
    """Replace a relative offset by a number of runs."""
    passed = int(parameters.get("offset", 0) * runs)
    return {**parameters, "offset": passed} if passed else parameters


def asked(client: Client, project: str, address: str, query: dict[str, Any]) -> Asked:
    with CaptureQueriesContext(connection) as statements:
        answer = client.get(ADDRESS.format(project=project) + address, query)
        count = len(statements)
    assert answer.status_code == HTTPStatus.OK, answer.content
    return Asked(answer.json().get("matching"), count)


def put_together() -> list[str]:
    """Group all runs; return the groupings that do not keep to their bound."""
    project = Project.objects.get(slug=MANY)
    slow = []
    print(
        "\n| grouped | groups | p50 ms | p95 ms | busy ms"
        f" | p95 < {GROUPED_BOUND_MS:,} ms |"
    )
    print("|---|---|---|---|---|---|")
    for name, keys, columns in GROUPED:
        if OPTIONS.only not in name:
            continue
        walls, busy = [], []
        for _ in range(max(3, OPTIONS.rounds // 4)):
            began, worked = time.perf_counter(), time.process_time()
            found = run_groups(
                project.pk, wanted=RunFilter(), keys=keys, columns=columns
            )
            walls.append((time.perf_counter() - began) * 1e3)
            busy.append((time.process_time() - worked) * 1e3)
        p50, p95 = np.percentile(walls, [50, 95])
        holds = "yes" if p95 < GROUPED_BOUND_MS else "**no**"
        if p95 >= GROUPED_BOUND_MS:
            slow.append(name)
        count = len(found.groups)
        cells = [name, f"{count}", f"{p50:.0f}", f"{p95:.0f}", f"{min(busy):.0f}"]
        print("|", " | ".join([*cells, holds]), "|", flush=True)
    return slow


def measured(
    client: Client, address: str, parameters: dict[str, Any]
) -> tuple[list[float], list[float]]:
    walls, busy = [], []
    for _ in range(OPTIONS.rounds):
        began, worked = time.perf_counter(), time.process_time()
        client.get(address, parameters)
        walls.append((time.perf_counter() - began) * 1e3)
        busy.append((time.process_time() - worked) * 1e3)
    return walls, busy


def reader() -> Client:
    project = Project.objects.select_related("workspace").get(slug=MANY)
    user, _ = User.objects.get_or_create(username="benchmark")
    member, _ = Member.objects.get_or_create(
        workspace=project.workspace, user=user, defaults={"role": Role.VIEWER}
    )
    token = make_token(member, "benchmark", Scope.READ)
    return Client(headers={"authorization": f"Bearer {token}", "host": "localhost"})


def stored_mib() -> float:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            )
        size: int = cursor.fetchone()[0]
    return size / 2**20


if __name__ == "__main__":
    sys.exit(main())
