"""PCIe traffic of cards without a counter: sampled for 20 ms in each direction.

The call blocks meanwhile, so it is not made if counters supply the values, and rarely
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# The library documents KB for units of 1,000 bytes, KiB otherwise.
_KILOBYTE = 1000.0
PATHS = {
    "pcie_send_bytes_per_second": "NVML_PCIE_UTIL_TX_BYTES",
    "pcie_receive_bytes_per_second": "NVML_PCIE_UTIL_RX_BYTES",
}


class Window:
    """Short traffic samples of a GPU without a better source."""

    def __init__(self, library: Any, gpu: Any, others: Callable[[], set[str]]) -> None:
        """`others` returns the paths supplied by better sources so far."""
        self._library, self._gpu, self._others = library, gpu, others
        self._is_first = True

    def __call__(self, now: float) -> dict[str, float]:
        del now  # the driver measures the time
        is_first, self._is_first = self._is_first, False
        # Wait for the other sources' first results.
        if is_first or not PATHS.keys().isdisjoint(self._others()):
            return {}
        library = self._library
        return {
            path: _KILOBYTE
            * library.nvmlDeviceGetPcieThroughput(self._gpu, getattr(library, kind))
            for path, kind in PATHS.items()
        }
