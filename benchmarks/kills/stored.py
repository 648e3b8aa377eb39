"""Reads what an installation has stored."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from uuid import uuid4

from benchmarks.kills import bodies
from benchmarks.kills.case import Database, Size
from benchmarks.kills.installation import Installation
from benchmarks.kills.wire import Connection


def installed(stack: ExitStack, size: Size, database: str) -> Installation:
    url = stack.enter_context(Database(database)).url
    return stack.enter_context(Installation(size.folder, database_url=url))


def unused(name: str) -> str:
    return f"{name}-{uuid4().hex[:8]}"


def run_ids(installation: Installation, name: str) -> list[str]:
    place = f"/projects/home/{bodies.PROJECT}/runs"
    found = ask(installation, place, search=name, limit=200)["runs"]
    return [run["id"] for run in found if run["name"] == name]


# Any: JSON.
def ask(installation: Installation, place: str, **query: object) -> Any:
    connection = Connection()
    try:
        return connection.get(installation.addresses[0], place, **query)
    finally:
        connection.close()


def read(installation: Installation, name: str, path: str) -> list[float]:
    """Return the stored steps of a series, as often as they are stored."""
    found = run_ids(installation, name)
    answer = ask(installation, f"/runs/{found[0]}/series", path=path, buckets=10_000)
    (line,) = answer["series"]
    assert line["exact"]
    assert line["x"] == line["mean"]
    steps: list[float] = line["x"]
    return steps
