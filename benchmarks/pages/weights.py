"""Measures the bytes of scripts and styles of pages, and axe's violations.

    python -m benchmarks.pages.weights

Bytes are compressed, for an empty cache: with gzip over plain HTTP, where browsers
accept nothing better, and with brotli over HTTPS and from localhost. Pages are those of
all routes, with a full project and an empty one. A test measures them and enforces
limits, with gzip; this prints the margins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.ingest.tables import table
from benchmarks.pages.recorded import record

TEST = "tests/slow/browser/test_every_page.py"
HEADS = (
    *("page", "script, kB of gzip", "style, kB", "both, kB"),
    *("script, kB of brotli", "style, kB", "both, kB", "limit, kB"),
    *("axe, light", "axe, dark", "axe, at 390 pixels"),
)
TITLES = {"full": "Pages with much on them", "empty": "Pages with nothing on them"}


def main() -> int:
    status, worlds = record(TEST, TITLES)
    for world, pages in worlds.items():
        print(f"## {TITLES[world]}\n\n{table(HEADS, list(rows(pages)))}\n")
    return status


def rows(pages: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
    """Yield each page's cells: from bytes of both packings and the limit, and counts."""
    for page, (script, style, script_br, style_br, limit, *counts) in pages.items():
        gzip = (script, style, script + style)
        brotli = (script_br, style_br, script_br + style_br)
        sizes = (f"{size / 1000:,.1f}" for size in (*gzip, *brotli, limit))
        yield [f"`{page}`", *sizes, *map(str, counts)]


if __name__ == "__main__":
    sys.exit(main())
