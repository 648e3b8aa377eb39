"""Errors and resets of AMD GPUs, as events."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from seamark.lifecycle.driver_calls import call
from seamark.probes.amd.amd import load_library, visible_gpus
from seamark.probes.probe import Facts, Probe, ProbeUnavailable, Sample
from seamark.probes.reading import COUNTED, Fact, Reading, Scope
from seamark.recording.values import Value

# Short, because a process that is forked during a call inherits the library's locks.
_WAIT_MILLISECONDS = 10
_TIMEOUT, _NO_DATA = 8, 40
_MAX_EVENTS = 10
# Throttling is excluded: it is frequent, and its time is measured elsewhere.
_KINDS = ("VMFAULT", "GPU_PRE_RESET", "GPU_POST_RESET", "RING_HANG")


class AmdEventsProbe(Probe):
    """Takes events; the driver queues those between two samples."""

    name = "amd_events"
    is_of_machine = True
    may_hang = True
    readings: ClassVar[tuple[Reading, ...]] = (
        Reading(
            "gpu/<i>/event",
            "number",
            Scope.GPU,
            "amdsmi events",
            COUNTED,
            "one point per driver event: 1 page fault, 3 and 4 start and end of a reset, 5 hang",
        ),
    )
    states: ClassVar[tuple[Fact, ...]] = (
        Fact("facts/gpu/<i>/last_event", "string", "AMD, for example `RING_HANG`"),
    )

    def __init__(
        self, library: Any = None, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._library = library or load_library()
        self._news: dict[str, Value] = {}
        self._readers: list[Any] = []
        try:
            self._kinds = self._library.AmdSmiEvtNotificationType
            self._library.amdsmi_init()
            handles = visible_gpus(self._library, environment)
            self._indices = {_address(handle): i for i, handle in handles.items()}
            kinds = [self._kinds[name] for name in _KINDS]
            for handle in handles.values():
                self._readers.append(self._library.AmdSmiEventReader(handle, kinds))
        except self._library.AmdSmiException as error:
            self.close()
            raise ProbeUnavailable(f"no events from the driver ({error})") from error
        except (AttributeError, KeyError, TypeError) as error:
            # This version of the library has no events.
            self.close()
            raise ProbeUnavailable(f"no events from the library ({error})") from error
        if not self._readers:
            raise ProbeUnavailable("no AMD GPU")

    def sample(self, now: float) -> Sample:
        del now  # the driver has queued the events
        readings: dict[str, float] = {}
        for event in self._wait():
            index = self._indices.get(_address(event["processor_handle"]))
            name = str(event["event"])
            if index is not None and name in _KINDS:
                self._news[f"facts/gpu/{index}/last_event"] = name
                readings[f"gpu/{index}/event"] = float(self._kinds[name].value)
        return readings

    def news(self) -> Facts:
        news, self._news = self._news, {}
        return news

    def close(self) -> None:
        readers, self._readers = self._readers, []
        for reader in readers:
            reader.stop()

    def _wait(self) -> list[Mapping[str, Any]]:
        try:
            # Each reader receives the events of all requested GPUs.
            found: list[Mapping[str, Any]] = call(
                self._readers[0].read, _WAIT_MILLISECONDS, _MAX_EVENTS
            )
        except self._library.AmdSmiException as error:
            if getattr(error, "err_code", None) in (_TIMEOUT, _NO_DATA):
                return []
            raise
        return found


def _address(handle: Any) -> object:
    """Return the identity of a handle: the library wraps only some of them."""
    return getattr(handle, "value", handle)
