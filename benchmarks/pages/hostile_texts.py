"""Counts pages and fields with hostile texts, and successful attacks.

    python -m benchmarks.pages.hostile_texts

A successful attack is a script that ran, an injected element, link or handler, a
dialog, or a request to another host. A test visits the pages and accepts none; this
prints its coverage. Fields are found in the database: each column and attribute that
contains a payload. Exits with 1 if the test fails.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.pages.recorded import record
from benchmarks.peers.tables import table

TEST = (
    "tests/slow/browser/test_hostile_texts.py"
    "::test_no_text_that_is_logged_does_anything_on_any_page"
)
# As named by the test: a payload that hides a later one cannot hide an earlier one.
ORDERS = ("in order", "reversed")
HEADS = ("order", "payloads", "fields", "pages", "fields x pages", "hits")


def main() -> int:
    status, found = record(TEST, ORDERS)
    print(table(HEADS, [row(order, said) for order, said in found.items()]))
    fields = sorted({field for said in found.values() for field in said["fields"]})
    print(f"\nFields: {', '.join(f'`{field}`' for field in fields)}.")
    return status


def row(order: str, said: Mapping[str, Any]) -> list[str]:
    fields, pages = len(said["fields"]), said["pages"]
    counts = (said["payloads"], fields, pages, fields * pages, said["hits"])
    return [order, *(f"{count:,}" for count in counts)]


if __name__ == "__main__":
    sys.exit(main())
