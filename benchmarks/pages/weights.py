"""Measures how much script and style pages have a browser fetch, and what axe objects to.

    python -m benchmarks.keep pages.weights       # to docs/benchmarks/pages-weights.md
    python -m benchmarks.pages.weights

Bytes are as the server sends them, compressed, to a browser that has nothing yet; pages are
those of the routes, with much on them and with nothing. It is a test that measures them and
holds their limits; here is by how much.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout

import pytest

from benchmarks.peers.tables import table

TEST = "tests/web/browser/test_every_page.py"
HEADS = (
    *("page", "script, kB", "style, kB", "both, kB", "limit, kB"),
    *("axe, light", "axe, dark", "axe, at 390 pixels"),
)
TITLES = {"full": "Pages with much on them", "empty": "Pages with nothing on them"}


class Measured:
    """What tests have said of each page, world by world."""

    def __init__(self) -> None:
        self.worlds: dict[str, Mapping[str, Sequence[int]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            parts = report.nodeid.rpartition("[")[2].removesuffix("]").split("-")
            for world in set(parts) & TITLES.keys():
                self.worlds[world] = dict(report.user_properties)


def main() -> int:
    measured = Measured()
    arguments = ["-q", "--no-header", "-p", "no:cacheprovider", TEST]
    # What is printed here is kept; how the test went is not.
    with redirect_stdout(sys.stderr):
        status = pytest.main(arguments, plugins=[measured])
    for world, pages in measured.worlds.items():
        print(f"## {TITLES[world]}\n\n{table(HEADS, list(rows(pages)))}\n")
    return int(status)


def rows(pages: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
    """Yield each page's cells: from bytes of script, of style and the limit, and counts."""
    for page, (script, style, limit, *counts) in pages.items():
        sizes = (size / 1000 for size in (script, style, script + style, limit))
        yield [f"`{page}`", *(f"{size:,.1f}" for size in sizes), *map(str, counts)]


if __name__ == "__main__":
    sys.exit(main())
