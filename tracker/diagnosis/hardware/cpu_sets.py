"""Parses CPU lists in the format of the kernel, such as `0-31,64-95`."""

from __future__ import annotations

import re

RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
MAX_RANGES = 500


def parse_cpus(text: str) -> frozenset[int]:
    """Return the CPU numbers of a list; empty if the text is not a list."""
    cpus: set[int] = set()
    for part in text.split(",", MAX_RANGES):
        match = RANGE.fullmatch(part.strip())
        if match is None:
            return frozenset()
        low, high = int(match[1]), int(match[2] or match[1])
        cpus.update(range(low, high + 1))
    return frozenset(cpus)
