"""NVIDIA GPUs, through the driver's management library."""

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

# Of one core, for each GPU. Its questions keep to what each may take, and are about half
# of this together: all of them are asked less often only of a driver that is slow in all.
_ALLOWANCE_OF_GPU = 0.01
_LOST_SECONDS = 30.0
# They supply what nothing better does.
_LAST_RESORTS = (catalogue.MASK, catalogue.WINDOW, catalogue.SAMPLES)


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
        Fact(
            "facts/gpu/<i>/mig/<j>/measured_with",
            "string",
            "`gpm` (hardware counters), `nvml` (memory), as far as each is offered",
        ),
        Fact("facts/gpu/<i>/mig/<j>/state", "string", "as of a GPU, of the slice"),
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
        self._environment, self._job, self._clock = environment, job, clock
        kept = job.kept or Kept()
        self._growths, self._states = kept.growths, States(kept.states)
        self._pids = Pids(job_root(job.watched))
        self._gpus: dict[int, Gpu] = {}
        self._slices: dict[tuple[int, int], Slice] = {}
        # Until when those that were lost are left alone, by their places.
        self._lost: dict[str, float] = {}
        # Those that could not be had so far, and when that is tried again.
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
        facts: dict[str, Value] = {}
        # While none can be had, nobody knows how many there are.
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
        """Yield every question to the driver, with the number of its GPU."""
        for index, gpu in self._gpus.items():
            for call in gpu.calls:
                yield index, call

    def close(self) -> None:
        for _, part in self._parts():
            part.close()

    def _parts(self) -> Iterator[tuple[str, Gpu | Slice]]:
        """Yield what is read, with its place."""
        for index, gpu in self._gpus.items():
            yield f"gpu/{index}", gpu
        for (index, number), part in self._slices.items():
            yield f"gpu/{index}/mig/{number}", part

    def _look(self) -> list[int]:
        """Follow the GPUs that can be had; return the numbers of those that are new."""
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
        # The machine's first process tells of them, which reads all.
        self._absent = {} if rank else visible.absent
        for index, why in self._absent.items():
            how = "lost" if isinstance(why, GpuLost) else "fails"
            self._states.say(f"gpu/{index}", f"{how}: {why}")
        return [*new]

    def _look_again(self) -> None:
        # If the driver fails, those that are read say so.
        with contextlib.suppress(ProbeUnavailable):
            for index in self._look():
                self._news["facts/gpu_count"] = self._visible
                self._news.update(self._facts_of(index))

    def _follow(self, index: int, handle: Any) -> None:
        # After a driver was loaded anew, the numbers may be others.
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
            # The others go on; a GPU that was reset may come back.
            self._lost[place] = now + _LOST_SECONDS
            self._states.say(place, f"lost: {reason}")
            return {}
        self._lost.pop(place, None)
        if part.failure:
            self._states.say(place, f"fails: {part.failure}")
        else:
            self._states.say(place)
        return {f"{place}/{path}": value for path, value in found.items()}
