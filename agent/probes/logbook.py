"""Logs probe results: adds the namespace, descriptions and sample numbers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping

from seamark.probes.probe import Probe
from seamark.probes.reading import Described, Reading
from seamark.queue.buffer import SetValue
from seamark.recording.attributes import Recorder
from seamark.recording.values import Value


class Logbook:
    """Shared by all sampling threads."""

    def __init__(
        self,
        namespace: str,
        recorder: Recorder,
        interval: float,
        *,
        describes_at: str = "facts/readings",
    ) -> None:
        """`describes_at` is the path of the descriptions, unique for each process."""
        self.interval = interval
        self._describes_at = describes_at
        self._namespace = namespace
        self._recorder = recorder
        self._described = Described()
        self._describing = threading.Lock()
        self._reported: dict[str, Value] = {}
        self._began = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether the run still accepts data."""
        return self._recorder.is_awake

    def put(self, readings: Mapping[str, float], number: int) -> None:
        """Log the metrics of one sample."""
        if readings and self.is_open:
            space = self._namespace
            named = {f"{space}/{path}": value for path, value in readings.items()}
            self._recorder.log_measured(named, float(number))

    def describe(self, paths: Iterable[str], probe: Probe) -> None:
        """Log descriptions of new paths."""
        self.describe_as(paths, probe.readings, probe.chosen)

    def describe_as(
        self,
        paths: Iterable[str],
        readings: Iterable[Reading],
        chosen: Mapping[str, str] = {},
    ) -> None:
        with self._describing:
            text = self._described.add(paths, readings, chosen)
        if text is not None:
            self.state({self._describes_at: text})

    def state(self, facts: Mapping[str, Value]) -> None:
        """Log facts that have changed."""
        for path, value in facts.items():
            cleaned = _encodable(value) if isinstance(value, str) else value
            if self.is_open and self._reported.get(path) != cleaned:
                self._reported[path] = cleaned
                self._recorder.put(SetValue(f"{self._namespace}/{path}", cleaned))

    def number(self, now: float, last: int) -> int:
        """Return the sample number at a time, higher than the last one."""
        return max(last + 1, int((now - self._began) / self.interval))


def _encodable(text: str) -> str:
    # Names of devices and folders are arbitrary bytes.
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
