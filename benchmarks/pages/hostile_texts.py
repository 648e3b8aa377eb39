"""Counts on how many pages how many fields hold texts that try to be run, and hits.

    python -m benchmarks.pages.hostile_texts

A hit is a script that ran, an element, a link or a handler that came in, a dialog, or a
request that left the host. It is a test that visits the pages and accepts none; here is
what it tried. Fields are found in the database: each column and each attribute that holds
a payload, and what is stored beside them. It ends with 1 where the test fails, as with a hit.
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
# As the test calls them: what hides a text that follows it hides none before it.
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
