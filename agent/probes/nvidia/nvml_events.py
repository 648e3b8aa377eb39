"""Errors of NVIDIA's driver (XID), as events."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from seamark.probes.nvidia.catalogue import EVENTS
from seamark.probes.nvidia.driver import (
    TIMEOUT,
    GpuLost,
    NotNow,
    NotOffered,
    ask,
    begin,
    code_of,
    load_library,
    refusal,
    uuid_of,
)
from seamark.probes.nvidia.visible import visible_gpus
from seamark.probes.probe import Facts, Probe, ProbeUnavailable, Sample
from seamark.probes.reading import COUNTED, Reading, Scope
from seamark.recording.values import Value

# Short, because forks of the process wait for the end of a call.
_WAIT_MILLISECONDS = 10


class NvmlEventsProbe(Probe):
    """Takes events; the driver queues those between two samples."""

    name = "nvml_events"
    is_of_machine = True
    may_hang = True
    readings: ClassVar[tuple[Reading, ...]] = (
        Reading(
            "gpu/<i>/xid",
            "number",
            Scope.GPU,
            EVENTS,
            COUNTED,
            "one point per driver error; the value is its XID",
        ),
    )

    def __init__(
        self, library: Any = None, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._library = library or load_library()
        begin(self._library)
        # By handle, and by device id for drivers that use another handle in events.
        self._indices: dict[object, int] = {}
        self._news: dict[str, Value] = {}
        try:
            gpus = visible_gpus(self._library, environment).gpus
            self._events: Any = self._library.nvmlEventSetCreate()
        except self._library.NVMLError as error:
            raise ProbeUnavailable(f"no events from the driver ({error})") from error
        try:
            self._register(gpus)
        except Exception:
            # The next probe creates its own event set.
            self.close()
            raise

    def sample(self, now: float) -> Sample:
        del now  # the driver has queued the events
        library = self._library
        try:
            event = library.nvmlEventSetWait_v2(self._events, _WAIT_MILLISECONDS)
        except library.NVMLError as error:
            # Events from before the GPU was lost arrive in a later wait.
            if code_of(error) == TIMEOUT or isinstance(refusal(error), GpuLost):
                return {}
            raise
        index = self._index_of(event.device)
        if index is None or not event.eventType & library.nvmlEventTypeXidCriticalError:
            return {}
        number = int(event.eventData)
        self._news[f"facts/gpu/{index}/last_xid"] = number
        return {f"gpu/{index}/xid": float(number)}

    def news(self) -> Facts:
        news, self._news = self._news, {}
        return news

    def close(self) -> None:
        # The library frees the memory without a check: a second time ends the process.
        events, self._events = self._events, None
        if events is not None:
            with contextlib.suppress(self._library.NVMLError):
                self._library.nvmlEventSetFree(events)

    def _register(self, gpus: Mapping[int, Any]) -> None:
        for index, gpu in gpus.items():
            # An error of one GPU must not affect the others.
            with contextlib.suppress(NotOffered, NotNow, GpuLost):
                ask(self._library, partial(self._register_one, index, gpu))
        if not self._indices:
            raise ProbeUnavailable("no GPU that reports errors")

    def _register_one(self, index: int, gpu: Any) -> None:
        library = self._library
        event_type = library.nvmlEventTypeXidCriticalError
        if library.nvmlDeviceGetSupportedEventTypes(gpu) & event_type:
            library.nvmlDeviceRegisterEvents(gpu, event_type, self._events)
            self._indices[_address(gpu)] = index
            if (uuid := uuid_of(library, gpu)) is not None:
                self._indices[uuid] = index

    def _index_of(self, gpu: Any) -> int | None:
        # A GPU that has just fallen off the bus no longer returns its id.
        index = self._indices.get(_address(gpu))
        return (
            self._indices.get(uuid_of(self._library, gpu)) if index is None else index
        )


def _address(gpu: Any) -> int | None:
    return ctypes.cast(gpu, ctypes.c_void_p).value
