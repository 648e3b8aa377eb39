"""A pytest plugin that counts examples: `-p benchmarks.promises.counting`.

Writes a line of JSON to the file in COUNTED_FILE. For Hypothesis it counts valid
examples. A module with its own count, for example of requests, has a counter `TRIED`.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

FILE = "COUNTED_FILE"
# As printed by `--hypothesis-show-statistics` for each phase.
EXAMPLES = re.compile(r"- (\d+) passing, (\d+) failing")

tests = Counter[str]()
tried = Counter[str]()
counters: dict[int, Counter[str]] = {}
failed: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        counter = getattr(getattr(item, "module", None), "TRIED", None)
        if isinstance(counter, Counter):
            counters[id(counter)] = counter


def pytest_runtest_teardown(item: pytest.Item) -> None:
    said = getattr(item, "hypothesis_statistics", "")
    tried["examples"] += examples_in(said)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        tests[report.outcome] += 1
    if report.failed:
        failed.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        tests["failed"] += 1
        failed.append(report.nodeid)


def pytest_sessionfinish() -> None:
    for counter in counters.values():
        tried.update(counter)
    found = {"tests": tests, "tried": +tried, "failed": failed}
    Path(os.environ[FILE]).write_text(json.dumps(found), "utf-8")


def examples_in(statistics: str) -> int:
    """Return the number of examples reported by Hypothesis."""
    return sum(
        int(number) for found in EXAMPLES.findall(statistics) for number in found
    )
