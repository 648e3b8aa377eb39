"""Largest requests that reach a server: a proxy in front of it may refuse larger ones."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_BATCH_BYTES = 4 * 1024 * 1024
LARGEST_PART_BYTES = 8 * 1024 * 1024
# No proxy in use refuses this little.
SMALLEST_PART_BYTES = 64 * 1024


@dataclass
class RequestLimits:
    """Sizes that one server accepts, shared by everything that is sent to it.

    They only decrease: a size that was refused with 413 is not sent again.
    """

    batch_bytes: int = LARGEST_BATCH_BYTES  # before compression
    part_bytes: int = LARGEST_PART_BYTES

    def refuse_batch(self, size_bytes: int) -> None:
        """Send batches of at most half the size that was refused."""
        self.batch_bytes = min(self.batch_bytes, size_bytes // 2)

    def refuse_part(self, size_bytes: int) -> None:
        """Send parts of files of at most half the size that was refused."""
        half = max(size_bytes // 2, SMALLEST_PART_BYTES)
        self.part_bytes = min(self.part_bytes, half)

    def reset(self) -> None:
        """Start again with the largest sizes, as another server is used."""
        self.batch_bytes = LARGEST_BATCH_BYTES
        self.part_bytes = LARGEST_PART_BYTES


def refused_by_proxy(size_bytes: int, unit: str = "bytes") -> str:
    """Explain a 413 that no smaller request can avoid, and how to fix it."""
    return (
        f"a proxy in front of the server rejects a request of {size_bytes:,} {unit}"
        " with status 413; raise its limit for request bodies to 16 MiB (nginx:"
        " client_max_body_size 16m)"
    )
