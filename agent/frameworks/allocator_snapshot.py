"""What PyTorch's own list of its GPU memory comes to: where it is free, and in what pieces.

The total may be free and no piece of it large enough: that is seen here alone (pure).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

# Whoever has more pieces than this is told of these alone.
MAX_BLOCKS = 200_000
_MAX_LISTED = 10
_FREE = "inactive"


# Any: the list is PyTorch's, and differs with its release.
def summarised(
    segments: Iterable[Mapping[str, Any]], gpu: int
) -> dict[str, int | float | str]:
    """Return what the segments of a GPU hold; nothing where there are none."""
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
    """Return a line for each size of pieces, those first that take most together."""
    ranked = sorted(used.items(), key=lambda entry: entry[0] * entry[1], reverse=True)
    return "\n".join(
        f"{size * count / 2**20:,.1f} MiB  {count:,} × {size / 2**20:,.2f} MiB"
        for size, count in ranked[:_MAX_LISTED]
    )
