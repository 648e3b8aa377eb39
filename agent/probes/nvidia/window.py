"""PCIe traffic of cards that count it nowhere: a look of 20 ms each way.

The driver keeps the caller waiting meanwhile, so nobody is asked whom the counters
answer for, and others seldom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# The library says KB where it means thousands, KiB where it does not.
_KILOBYTE = 1000.0
PATHS = {
    "pcie_send_bytes_per_second": "NVML_PCIE_UTIL_TX_BYTES",
    "pcie_receive_bytes_per_second": "NVML_PCIE_UTIL_RX_BYTES",
}


class Window:
    """The traffic during a short look, of a GPU that has nothing better."""

    def __init__(self, library: Any, gpu: Any, others: Callable[[], set[str]]) -> None:
        """`others` are the paths that are supplied by something better, so far."""
        self._library, self._gpu, self._others = library, gpu, others
        self._is_first = True

    def __call__(self, now: float) -> dict[str, float]:
        del now  # it measures its own time
        is_first, self._is_first = self._is_first, False
        # Until the next turn it shows what else answers.
        if is_first or not PATHS.keys().isdisjoint(self._others()):
            return {}
        library = self._library
        return {
            path: _KILOBYTE
            * library.nvmlDeviceGetPcieThroughput(self._gpu, getattr(library, kind))
            for path, kind in PATHS.items()
        }
