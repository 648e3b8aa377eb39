"""NVIDIA GPUs, through the driver's management library."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from agent.probes.nvidia import catalogue, identity
from agent.probes.nvidia.driver import GpuLost, begin, load_library
from agent.probes.nvidia.gpu import Gpu, Slice, slices_of
from agent.probes.nvidia.paced import Paced
from agent.probes.nvidia.users import Pids, job_root
from agent.probes.nvidia.visible import own_gpus, visible_gpus
from agent.probes.probe import ANY_JOB, Facts, Job, Probe, ProbeUnavailable, Sample
from agent.probes.reading import Fact, Reading
from agent.values import Value

# Of one core, for each GPU. Its questions keep to what each may take, and are about half
# of this together: all of them are asked less often only of a driver that is slow in all.
_ALLOWANCE_OF_GPU = 0.01
_LOST_SECONDS = 30.0
# They supply what nothing better does.
_LAST_RESORTS = (catalogue.MASK, catalogue.WINDOW, catalogue.SAMPLES)
PRESENT = "present"


class NvmlProbe(Probe):
    """Reads every GPU this process may see, by the driver's numbers."""

    name = "nvml"
    may_hang = True
    readings: ClassVar[tuple[Reading, ...]] = catalogue.READINGS
    states: ClassVar[tuple[Fact, ...]] = (
        Fact("facts/gpu_driver", "string", "the driver's version"),
        Fact("facts/gpu_driver_cuda", "string", "the newest CUDA that it runs"),
        *identity.FACTS,
        Fact("facts/gpu/<i>/mig/<j>/uuid", "string", "of the slice"),
        Fact("facts/gpu/<i>/mig/<j>/memory_total_bytes", "int", "of the slice"),
    )

    # Any: the library is loaded only where there is one, and has no types.
    def __init__(
        self,
        library: Any = None,
        environment: Mapping[str, str] = os.environ,
        job: Job = ANY_JOB,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """`clock` says how much of a core this thread has used, in seconds."""
        self._library = library or load_library()
        begin(self._library)
        self._pids = Pids(job_root(job.watched))
        try:
            visible = visible_gpus(self._library, environment)
        except self._library.NVMLError as error:
            raise ProbeUnavailable(f"no NVIDIA driver ({error})") from error
        self._visible = visible.count
        handles = own_gpus(visible.gpus, job.local_rank, is_ordered=visible.is_ordered)
        self._gpus = {
            index: Gpu(self._library, handle, self._pids, clock)
            for index, handle in handles.items()
        }
        self._slices: dict[tuple[int, int], Slice] = {
            (index, number): found
            for index, handle in handles.items()
            for number, found in slices_of(self._library, handle, self._pids).items()
        }
        self._lost: dict[int, float] = {}
        self._failing: set[int] = set()
        self._news: dict[str, Value] = {}

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
        # The best first; what nothing better supplies is from where it is described.
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
        facts: dict[str, Value] = {"facts/gpu_count": self._visible}
        facts.update(identity.system_facts(self._library))
        for index, gpu in self._gpus.items():
            found = identity.identity(self._library, gpu.handle)
            facts.update({f"facts/gpu/{index}/{k}": v for k, v in found.items()})
        for (index, number), part in self._slices.items():
            found = identity.identity(self._library, part.handle)
            place = f"facts/gpu/{index}/mig/{number}"
            for name in ("uuid", "memory_total_bytes"):
                if name in found:
                    facts[f"{place}/{name}"] = found[name]
        return facts

    def news(self) -> Facts:
        news, self._news = self._news, {}
        for index, gpu in self._gpus.items():
            if gpu.measured_with:
                news[f"facts/gpu/{index}/measured_with"] = gpu.measured_with
            if gpu.dear:
                news[f"facts/gpu/{index}/asked_less"] = gpu.dear
            if gpu.failure and index not in self._lost:
                self._failing.add(index)
                news[f"facts/gpu/{index}/state"] = f"fails: {gpu.failure}"
            elif index in self._failing:
                self._failing.discard(index)
                news.setdefault(f"facts/gpu/{index}/state", PRESENT)
        return news

    def sample(self, now: float) -> Sample:
        readings: dict[str, float] = {}
        for index, gpu in self._gpus.items():
            readings.update(self._sample_one(index, gpu, f"gpu/{index}", now))
        for (index, number), part in self._slices.items():
            place = f"gpu/{index}/mig/{number}"
            readings.update(self._sample_one(index, part, place, now))
        return readings

    def calls(self) -> Iterator[tuple[int, Paced]]:
        """Yield every question to the driver, with the number of its GPU."""
        for index, gpu in self._gpus.items():
            for call in gpu.calls:
                yield index, call

    def close(self) -> None:
        parts: list[Gpu | Slice] = [*self._gpus.values(), *self._slices.values()]
        for part in parts:
            part.close()

    def _sample_one(
        self, index: int, part: Gpu | Slice, place: str, now: float
    ) -> dict[str, float]:
        if now < self._lost.get(index, now):
            return {}
        try:
            found = part.sample(now)
        except GpuLost as reason:
            # The others go on; a GPU that was reset may come back.
            self._lost[index] = now + _LOST_SECONDS
            self._news[f"facts/gpu/{index}/state"] = f"lost: {reason}"
            return {}
        if self._lost.pop(index, None) is not None:
            self._news[f"facts/gpu/{index}/state"] = PRESENT
        return {f"{place}/{path}": value for path, value in found.items()}
