"""Lists of CPUs as the kernel writes them, such as `0-31,64-95`."""

from __future__ import annotations

import re

RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
MAX_RANGES = 500


def parse_cpus(text: str) -> frozenset[int]:
    """Return the numbers of a list; none of a text that is no list."""
    cpus: set[int] = set()
    for part in text.split(",", MAX_RANGES):
        match = RANGE.fullmatch(part.strip())
        if match is None:
            return frozenset()
        low, high = int(match[1]), int(match[2] or match[1])
        cpus.update(range(low, high + 1))
    return frozenset(cpus)
