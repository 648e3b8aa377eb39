"""Histograms, counted on the device that holds the values.

No framework is imported: arrays and tensors are counted by the framework that made
them, everything else in Python.
"""

from __future__ import annotations

import math
import operator
import struct
import sys
from collections.abc import Sequence
from typing import Any

from seamark.errors import AgentError, UnsupportedValue

MAX_BINS = 512
# The header: the encoding of the edges, and the number of values without a bin.
_HEAD = struct.Struct("<Bd")
_EXPLICIT, _EVEN = 0, 1
# Up to this count float32 is exact; torch counts in the type of the values.
_EXACT_FLOAT32 = 2**24

# Lowest edge, highest edge, counts of the bins, and the number of non-finite values.
Counted = tuple[float, float, Sequence[float], int]


class Histogram:
    """A histogram of values.

    Either `values` are counted in `bins` bins of equal width between the lowest and the
    highest value, or `edges` and `counts` are given, with one more edge than counts.
    Values are a list, an array, or a tensor on any device. NaN and infinities belong to
    no bin; their number is stored separately.
    """

    __slots__ = ("_bins", "_counts", "_edges", "_values")

    def __init__(
        self,
        values: object = None,
        bins: int = 64,
        *,
        edges: object = None,
        counts: object = None,
    ) -> None:
        # Validated when it is logged, like every other value.
        self._values = values
        self._bins = bins
        self._edges = edges
        self._counts = counts

    def encoded(self) -> bytes:
        """Return the bytes of its record; raises UnsupportedValue."""
        try:
            return self._given() if self._values is None else self._counted()
        except AgentError:
            raise
        except Exception as error:
            # The values' own code ran and may raise anything.
            reason = type(error).__name__
            raise UnsupportedValue(self, f"cannot be counted ({reason})") from error

    def __repr__(self) -> str:
        return "<Histogram>"

    def _given(self) -> bytes:
        edges, counts = _floats(self._edges), _floats(self._counts)
        if len(edges) != len(counts) + 1 or not counts:
            raise UnsupportedValue(self, "needs values, or one edge more than counts")
        _check_bins(self, len(counts))
        if not all(map(math.isfinite, (*edges, *counts))) or min(counts) < 0:
            raise UnsupportedValue(self, "has edges and counts that are finite numbers")
        if not all(map(operator.lt, edges, edges[1:])):
            raise UnsupportedValue(self, "has edges that ascend")
        head = _HEAD.pack(_EXPLICIT, 0.0)
        return head + struct.pack(f"<{2 * len(counts) + 1}d", *edges, *counts)

    def _counted(self) -> bytes:
        bins = operator.index(self._bins)
        _check_bins(self, bins)
        low, high, counts, others = _count(self._values, bins)
        head = _HEAD.pack(_EVEN, float(others))
        return head + struct.pack(f"<{len(counts) + 2}d", low, high, *counts)


def _check_bins(histogram: Histogram, bins: int) -> None:
    if not 0 < bins <= MAX_BINS:
        raise UnsupportedValue(histogram, f"has 1 to {MAX_BINS} bins")


# Any, here and below: foreign types are known only at run time.
def _count(values: Any, bins: int) -> Counted:
    module = type(values).__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return _count_with_torch(torch, values, bins)
    numpy = sys.modules.get("numpy")
    if numpy is not None and (module == "numpy" or hasattr(values, "__array__")):
        return _count_with_numpy(numpy, values, bins)
    return _count_plainly(_floats(values), bins)


def _count_with_torch(torch: Any, values: Any, bins: int) -> Counted:
    found = values.detach().flatten()
    try:
        return _count_where_they_are(torch, found, bins)
    except (RuntimeError, TypeError):
        # A GPU may be out of memory, lack float64, or be limited to deterministic
        # operations, which its histograms are not.
        if found.device.type == "cpu":
            raise
        return _count_where_they_are(torch, found.cpu(), bins)


def _count_where_they_are(torch: Any, found: Any, bins: int) -> Counted:
    exact = torch.float64 if found.numel() >= _EXACT_FLOAT32 else torch.float32
    if found.dtype is not torch.float64:
        found = found.to(exact)
    finite = found[torch.isfinite(found)]
    others = found.numel() - finite.numel()
    if not finite.numel():
        return 0.0, 0.0, (), others
    low, high = _range(*(bound.item() for bound in torch.aminmax(finite)))
    counts = torch.histc(finite, bins=bins, min=low, max=high).tolist()
    return low, high, counts, others


def _count_with_numpy(numpy: Any, values: Any, bins: int) -> Counted:
    found = numpy.asarray(values).ravel()
    if found.dtype != numpy.float32:
        # The range of float16 values can overflow; booleans have none.
        found = found.astype(numpy.float64)
    finite = found[numpy.isfinite(found)]
    others = found.size - finite.size
    if not finite.size:
        return 0.0, 0.0, (), others
    low, high = _range(float(finite.min()), float(finite.max()))
    counts, _ = numpy.histogram(finite, bins=bins, range=(low, high))
    return low, high, counts.tolist(), others


def _count_plainly(found: list[float], bins: int) -> Counted:
    finite = [value for value in found if math.isfinite(value)]
    others = len(found) - len(finite)
    if not finite:
        return 0.0, 0.0, (), others
    low, high = _range(min(finite), max(finite))
    scale, last = bins / (high - low), bins - 1
    counts = [0] * bins
    for value in finite:
        place = int((value - low) * scale)
        counts[place if place < last else last] += 1
    return low, high, counts, others


def _range(low: float, high: float) -> tuple[float, float]:
    """Return the outermost edges, widened if all values are equal."""
    if low == high:
        room = max(0.5, abs(low) * 1e-6)
        low, high = low - room, high + room
    if not math.isfinite(high - low):
        raise OverflowError
    return low, high


def _floats(values: Any) -> list[float]:
    listed = getattr(values, "tolist", None)
    found = listed() if callable(listed) else values
    return [] if found is None else [float(value) for value in found]
