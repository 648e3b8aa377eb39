"""NVIDIA GPUs, through the driver's management library (NVML)."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from seamark.probes.gpu_states import States
from seamark.probes.nvidia import catalogue, identity
from seamark.probes.nvidia.driver import GpuLost, begin, load_library, uuid_of
from seamark.probes.nvidia.gpu import Gpu, Slice, slices_of
from seamark.probes.nvidia.paced import Paced
from seamark.probes.nvidia.users import Pids, job_root
from seamark.probes.nvidia.visible import own_gpus, visible_gpus
from seamark.probes.probe import (
    ANY_JOB,
    Facts,
    Job,
    Kept,
    Probe,
    ProbeUnavailable,
    Sample,
)
from seamark.probes.reading import Fact, Reading
from seamark.recording.values import Value

# Share of a core for each GPU. Each query has its own limit, about half of this in
# total: all queries are slowed only if the driver is slow in all of them.
_ALLOWANCE_OF_GPU = 0.01
_LOST_SECONDS = 30.0
# Sources used only if no better one supplies a metric.
_LAST_RESORTS = (catalogue.MASK, catalogue.WINDOW, catalogue.SAMPLES)


class NvmlProbe(Probe):
    """Measures every GPU this process may use, by the driver's indices."""

    name = "nvml"
    may_hang = True
    readings: ClassVar[tuple[Reading, ...]] = catalogue.READINGS
    states: ClassVar[tuple[Fact, ...]] = (
        Fact("facts/gpu_driver", "string", "driver version"),
        Fact(
            "facts/gpu_driver_cuda",
            "string",
            "newest CUDA version that the driver supports",
        ),
        *identity.FACTS,
        Fact("facts/gpu/<i>/mig/<j>/uuid", "string", ""),
        Fact("facts/gpu/<i>/mig/<j>/memory_total_bytes", "int", ""),
        Fact(
            "facts/gpu/<i>/mig/<j>/measured_with",
            "string",
            "available interfaces: `gpm` (hardware counters), `nvml` (memory)",
        ),
        Fact("facts/gpu/<i>/mig/<j>/state", "string", "as for a GPU"),
    )

    # Any: the library is loaded only if it is installed, and has no types.
    def __init__(
        self,
        library: Any = None,
        environment: Mapping[str, str] = os.environ,
        job: Job = ANY_JOB,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """`clock` returns the CPU time of this thread, in seconds."""
        self._library = library or load_library()
        begin(self._library)
        self._environment, self._job, self._clock = environment, job, clock
        kept = job.kept or Kept()
        self._growths, self._states = kept.growths, States(kept.states)
        self._pids = Pids(job_root(job.watched))
        self._gpus: dict[int, Gpu] = {}
        self._slices: dict[tuple[int, int], Slice] = {}
        # Times until which lost devices are skipped, by path.
        self._lost: dict[str, float] = {}
        # Unavailable GPUs with their errors; retried at `_look_at`.
        self._absent: dict[int, Exception] = {}
        self._look_at = float("-inf")
        self._news: dict[str, Value] = {}
        self._look()

    @classmethod
    def of(cls, job: Job) -> NvmlProbe:
        return cls(job=job)

    @property
    def allowance(self) -> float:
        return _ALLOWANCE_OF_GPU * max(1, len(self._gpus))

    @property
    def chosen(self) -> Mapping[str, str]:
        gpus = self._gpus.values()
        counted = {path for gpu in gpus for path in gpu.counted}
        by_gpm = {path for gpu in gpus for path in gpu.found_by_gpm}
        # The best source first; otherwise the source in the description.
        better = ((catalogue.COUNTERS, counted), (catalogue.GPM, by_gpm))
        chosen: dict[str, str] = {}
        for reading in self.readings:
            path = reading.path.removeprefix("gpu/<i>/")
            source = next((name for name, paths in better if path in paths), None)
            if source is not None:
                chosen[reading.path] = source
            elif reading.source in _LAST_RESORTS:
                chosen[reading.path] = reading.source
        return chosen

    def facts(self) -> Facts:
        facts: dict[str, Value] = {}
        # While none is available, the number is unknown.
        if self._visible or not self._absent:
            facts["facts/gpu_count"] = self._visible
        facts.update(identity.system_facts(self._library))
        for index in self._gpus:
            facts.update(self._facts_of(index))
        return facts

    def news(self) -> Facts:
        news, self._news = self._news, {}
        for index, gpu in self._gpus.items():
            if gpu.asked_less:
                news[f"facts/gpu/{index}/asked_less"] = gpu.asked_less
        for place, part in self._parts():
            if part.measured_with:
                news[f"facts/{place}/measured_with"] = part.measured_with
        return news | self._states.facts

    def sample(self, now: float) -> Sample:
        if self._absent and now >= self._look_at:
            self._look_at = now + _LOST_SECONDS
            self._look_again()
        readings: dict[str, float] = {}
        for place, part in self._parts():
            readings.update(self._sample_one(place, part, now))
        return readings

    def calls(self) -> Iterator[tuple[int, Paced]]:
        """Yield every query, with the index of its GPU."""
        for index, gpu in self._gpus.items():
            for call in gpu.calls:
                yield index, call

    def close(self) -> None:
        for _, part in self._parts():
            part.close()

    def _parts(self) -> Iterator[tuple[str, Gpu | Slice]]:
        """Yield every measured device with its path."""
        for index, gpu in self._gpus.items():
            yield f"gpu/{index}", gpu
        for (index, number), part in self._slices.items():
            yield f"gpu/{index}/mig/{number}", part

    def _look(self) -> list[int]:
        """Add the available GPUs; return the indices of new ones."""
        try:
            visible = visible_gpus(self._library, self._environment)
        except self._library.NVMLError as error:
            raise ProbeUnavailable(f"no NVIDIA driver ({error})") from error
        self._visible = visible.count
        rank = self._job.local_rank
        handles = own_gpus(visible.gpus, rank, is_ordered=visible.is_ordered)
        new = {i: handle for i, handle in handles.items() if i not in self._gpus}
        for index, handle in new.items():
            self._follow(index, handle)
        # The machine's first process, which measures all GPUs, reports them.
        self._absent = {} if rank else visible.absent
        for index, why in self._absent.items():
            how = "lost" if isinstance(why, GpuLost) else "fails"
            self._states.say(f"gpu/{index}", f"{how}: {why}")
        return [*new]

    def _look_again(self) -> None:
        # If the driver fails, the measured GPUs report it.
        with contextlib.suppress(ProbeUnavailable):
            for index in self._look():
                self._news["facts/gpu_count"] = self._visible
                self._news.update(self._facts_of(index))

    def _follow(self, index: int, handle: Any) -> None:
        # After the driver was reloaded, indices may differ.
        growths = self._growths[uuid_of(self._library, handle) or str(index)]
        library, pids = self._library, self._pids
        self._gpus[index] = Gpu(library, handle, pids, self._clock, growths)
        for number, part in slices_of(library, handle, pids).items():
            self._slices[index, number] = part

    def _facts_of(self, index: int) -> dict[str, Value]:
        found = identity.identity(self._library, self._gpus[index].handle)
        facts = {f"facts/gpu/{index}/{name}": value for name, value in found.items()}
        for (gpu, number), part in self._slices.items():
            if gpu != index:
                continue
            found = identity.identity(self._library, part.handle)
            place = f"facts/gpu/{index}/mig/{number}"
            for name in ("uuid", "memory_total_bytes"):
                if name in found:
                    facts[f"{place}/{name}"] = found[name]
        return facts

    def _sample_one(
        self, place: str, part: Gpu | Slice, now: float
    ) -> dict[str, float]:
        if now < self._lost.get(place, now):
            return {}
        try:
            found = part.sample(now)
        except GpuLost as reason:
            # The others continue; a GPU may come back after a reset.
            self._lost[place] = now + _LOST_SECONDS
            self._states.say(place, f"lost: {reason}")
            return {}
        self._lost.pop(place, None)
        if part.failure:
            self._states.say(place, f"fails: {part.failure}")
        else:
            self._states.say(place)
        return {f"{place}/{path}": value for path, value in found.items()}
