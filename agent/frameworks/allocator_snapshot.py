"""Summarizes PyTorch's snapshot of GPU memory: free bytes by block size.

Detects fragmentation: enough memory is free in total, but no block is large enough
(pure).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

# Limit of analyzed blocks.
MAX_BLOCKS = 200_000
_MAX_LISTED = 10
_FREE = "inactive"


# Any: the format depends on the PyTorch release.
def summarized(
    segments: Iterable[Mapping[str, Any]], gpu: int
) -> dict[str, int | float | str]:
    """Return facts about the segments of a GPU; {} if there are none."""
    own = [segment for segment in segments if segment.get("device") == gpu]
    if not own:
        return {}
    free: list[int] = []
    used: Counter[int] = Counter()
    blocks = (block for segment in own for block in segment.get("blocks", ()))
    for block in islice(blocks, MAX_BLOCKS):
        size = int(block["size"])
        if block.get("state") == _FREE:
            free.append(size)
        else:
            used[size] += 1
    total, largest = sum(free), max(free, default=0)
    facts: dict[str, int | float | str] = {
        "segments": len(own),
        "free_pieces": len(free),
        "free_bytes": total,
        "largest_free_bytes": largest,
        "largest_pieces": _lines(used),
    }
    if total:
        facts["scattered_share"] = 1 - largest / total
    if next(blocks, None) is not None:
        facts["pieces_looked_at"] = MAX_BLOCKS
    return facts


def _lines(used: Counter[int]) -> str:
    """Return a line for each block size, largest total first."""
    ranked = sorted(used.items(), key=lambda entry: entry[0] * entry[1], reverse=True)
    return "\n".join(
        f"{size * count / 2**20:,.1f} MiB  {count:,} × {size / 2**20:,.2f} MiB"
        for size, count in ranked[:_MAX_LISTED]
    )
