"""Records properties of page tests, for benchmarks to print."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from contextlib import redirect_stdout
from typing import Any

import pytest


class Recorded:
    """A pytest plugin: each test's properties, by the test's parameter."""

    def __init__(self, parameters: Collection[str]) -> None:
        self.parameters = parameters
        self.found: dict[str, Mapping[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.user_properties:
            parts = report.nodeid.rpartition("[")[2].removesuffix("]").split("-")
            for parameter in set(parts) & set(self.parameters):
                self.found[parameter] = dict(report.user_properties)


def record(
    test: str, parameters: Collection[str]
) -> tuple[int, dict[str, Mapping[str, Any]]]:
    """Run a test with each parameter; return its status and the properties."""
    recorded = Recorded(parameters)
    arguments = ["-q", "--no-header", "-p", "no:cacheprovider", test]
    # Only the benchmark's output goes to stdout, not pytest's.
    with redirect_stdout(sys.stderr):
        status = pytest.main(arguments, plugins=[recorded])
    return int(status), recorded.found
