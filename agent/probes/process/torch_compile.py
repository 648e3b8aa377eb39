"""Counts compilations and recompilations by `torch.compile`.

PyTorch's own counters are read only once the script has compiled something.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import ClassVar

from seamark.probes.probe import Job, Probe, ProbeUnavailable, Sample
from seamark.probes.reading import COUNTED, Reading, Scope

_SECONDS = 5.0
_COUNTING, _FRAMES = "torch._dynamo.utils", "torch._dynamo.convert_frame"


def _reading(name: str, meaning: str) -> Reading:
    return Reading(
        f"torch/{name}", "", Scope.PROCESS, "PyTorch", COUNTED, meaning, _SECONDS
    )


class TorchCompileProbe(Probe):
    """Reads the compiler's counters in the process that compiles."""

    name = "torch_compile"
    is_of_process = True
    readings: ClassVar[tuple[Reading, ...]] = (
        _reading("compiled_graphs", ""),
        _reading(
            "recompiles",
            "functions compiled again for other shapes or values",
        ),
        _reading("graph_breaks", "graphs that ended before the end of their function"),
    )

    def __init__(self, modules: Mapping[str, object] = sys.modules) -> None:
        self._modules = modules
        self._not_before = float("-inf")

    @classmethod
    def of(cls, job: Job) -> Probe:
        if job.watched is not None:
            # The compiler of another process is not accessible.
            raise ProbeUnavailable("")
        return cls()

    def sample(self, now: float) -> Sample:
        # Half a second of tolerance: samples are never exactly on time.
        if now < self._not_before - 0.5:
            return {}
        self._not_before = now + _SECONDS
        counters = getattr(self._modules.get(_COUNTING), "counters", None)
        attempts = getattr(self._modules.get(_FRAMES), "FRAME_COMPILE_COUNTER", None)
        if not isinstance(counters, Mapping) or not isinstance(attempts, Mapping):
            return {}
        # A copy, because the script may be compiling.
        times = [count for count in list(attempts.values()) if isinstance(count, int)]
        if not times:
            return {}
        graphs = dict(counters.get("stats", {})).get("unique_graphs", 0)
        breaks = list(dict(counters.get("graph_break", {})).values())
        return {
            "torch/compiled_graphs": float(graphs),
            "torch/recompiles": float(sum(times) - len(times)),
            "torch/graph_breaks": float(sum(breaks)),
        }
