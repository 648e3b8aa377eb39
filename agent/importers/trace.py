"""Extracts a torch.profiler trace (Kineto, Chrome's format) in compact form (pure).

Keeps only the data needed for steps; times are in microseconds, as in the trace.
Categories and names are those of PyTorch 1.8 to 2.x.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seamark.importers.intervals import Interval
from seamark.importers.problems import Problems
from seamark.importers.trace_timeline import Lanes

# Any: untrusted JSON.
Event = Mapping[str, Any]

# More than hours of profiling produce; a limit against memory exhaustion.
MAX_SPANS = 20_000_000
_MAX_DEVICES = 64
_MAX_PHASES = 32
_LARGEST_MOMENT = 1e16  # microseconds; beyond, a float is no longer exact to one
_LONGEST = 1e12
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,12})")
_LOADER = re.compile(r"enumerate\(DataLoader\)#(\w{1,80})\.__next__")
_OPTIMIZER = re.compile(r"Optimizer\.(step|zero_grad)#")
_COLLECTIVE = re.compile(r"nccl|rccl", re.IGNORECASE)
_BACKWARD = "autograd::engine::evaluate_function"
_COPY_TO_DEVICE = re.compile(r"HtoD|HostToDevice", re.IGNORECASE)
_ANNOTATED = "user_annotation"
_OLD_PHASES = frozenset({"forward", "backward", "loss", "optimizer", "evaluate"})
# Prefixes of annotations that mark measurements, not phases.
_NO_PHASE = ("PyTorch Profiler", "nccl:", "gloo:", "rccl:", "mpi:", "ucc:")

KERNELS = frozenset({"kernel"})
COPIES = frozenset({"memcpy", "gpu_memcpy"})
CALLS = frozenset({"runtime", "cuda_runtime", "cuda_driver", "hip_runtime"})
OPERATORS = frozenset({"operator", "cpu_op", _ANNOTATED})


class Spans:
    """Many intervals, 16 bytes each."""

    def __init__(self) -> None:
        self._bounds = array("d")

    def add(self, start: float, end: float) -> None:
        self._bounds.append(start)
        self._bounds.append(end)

    def __len__(self) -> int:
        return len(self._bounds) // 2

    def __iter__(self) -> Iterator[Interval]:
        return zip(self._bounds[::2], self._bounds[1::2], strict=True)


@dataclass(frozen=True, slots=True)
class TracedStep:
    """The interval between two calls of the profiler's step()."""

    number: int
    start: float
    end: float
    thread: str


@dataclass(frozen=True, slots=True)
class HostSpan:
    """A named interval in a thread."""

    start: float
    end: float
    thread: str
    name: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy to a device, from pinned memory or not, if known."""

    start: float
    end: float
    size: int  # bytes
    is_pinned: bool | None
    correlation: object


@dataclass
class Trace:
    """The extracted data of one trace."""

    steps: list[TracedStep] = field(default_factory=list)
    waits: list[HostSpan] = field(default_factory=list)
    loaders: set[str] = field(default_factory=set)
    phases: list[HostSpan] = field(default_factory=list)
    backward: Spans = field(default_factory=Spans)
    # By number of the device, as the process sees it.
    kernels: dict[int, Spans] = field(default_factory=dict)
    collectives: dict[int, Spans] = field(default_factory=dict)
    copies: list[Copy] = field(default_factory=list)
    # Calls that copy, by their correlation id with the copy on the device.
    copy_calls: dict[object, HostSpan] = field(default_factory=dict)
    launches: Spans = field(default_factory=Spans)
    synchronizations: Spans = field(default_factory=Spans)
    # (time, allocated, reserved) of PyTorch's allocator, by device.
    memory: dict[int, array[float]] = field(default_factory=dict)
    # Members of the trace other than its events.
    header: dict[str, Any] = field(default_factory=dict)
    # The spans that a timeline shows.
    lanes: Lanes = field(default_factory=Lanes)
    events: int = 0


def collect(events: Iterable[object], problems: Problems) -> Trace:
    """Extract the needed events; invalid ones are counted."""
    trace = Trace()
    collector = _Collector(trace)
    for number, event in enumerate(events, 1):
        trace.events = number
        if not isinstance(event, dict):
            problems.add("an event is not an object", number)
            continue
        phase = event.get("ph")
        if phase == "X":
            bounds = _bounds(event)
            if bounds is None:
                problems.add("an event has no usable time", number)
                continue
            if not collector.add_span(event, *bounds):
                problems.add("it has too many spans", number)
                break
        elif phase == "i" and event.get("name") == "[memory]":
            collector.add_memory(event)
    return trace


class _Collector:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._spans = 0
        self._names: set[str] = set()

    def add_span(self, event: Event, start: float, end: float) -> bool:
        """Store a needed span; False if there are too many."""
        kind = event.get("cat")
        kind = kind.casefold() if isinstance(kind, str) else ""
        name = event.get("name")
        if not isinstance(name, str):
            return True
        self._spans += 1
        if kind in KERNELS:
            self._add_kernel(event, name, start, end)
        elif kind in CALLS:
            self._add_call(event, name, start, end)
        elif kind in OPERATORS:
            self._add_operator(event, kind, name, start, end)
        elif kind in COPIES:
            self._add_copy(event, name, start, end)
        else:
            self._spans -= 1
        return self._spans < MAX_SPANS

    def add_memory(self, event: Event) -> None:
        """Store the allocator's memory, if the event has it."""
        moment = _number(event.get("ts"), _LARGEST_MOMENT)
        found = _arguments(event)
        device = _whole(found.get("Device Id"))
        sizes = [
            _number(found.get(f"Total {name}"), _LARGEST_MOMENT)
            for name in ("Allocated", "Reserved")
        ]
        is_gpu = found.get("Device Type") == 1
        if moment is None or device is None or not is_gpu or None in sizes:
            return
        kept = _of(self._trace.memory, device, lambda: array("d"))
        if kept is not None and len(kept) < MAX_SPANS:
            kept.extend([moment, *(value for value in sizes if value is not None)])

    def _add_kernel(self, event: Event, name: str, start: float, end: float) -> None:
        device = _whole(_arguments(event).get("device"))
        if device is None:
            device = _whole(event.get("pid"))
        is_collective = _COLLECTIVE.search(name) is not None
        by_device = self._trace.collectives if is_collective else self._trace.kernels
        spans = _of(by_device, device or 0, Spans)
        if spans is not None:
            spans.add(start, end)
            part = "communication" if is_collective else "compute"
            self._trace.lanes.add(f"GPU {device or 0} {part}", start, end, name)

    def _add_copy(self, event: Event, name: str, start: float, end: float) -> None:
        found = _arguments(event)
        device = _whole(found.get("device")) or 0
        self._trace.lanes.add(f"GPU {device} copies", start, end, name)
        if _COPY_TO_DEVICE.search(name) is None:
            return
        lowered = name.casefold()
        is_pinned = None
        if "pageable" in lowered:
            is_pinned = False
        elif "pinned" in lowered:
            is_pinned = True
        size = _number(found.get("bytes"), _LARGEST_MOMENT)
        correlation = found.get("correlation")
        key = correlation if isinstance(correlation, (int, str)) else None
        self._trace.copies.append(Copy(start, end, int(size or 0), is_pinned, key))

    def _add_call(self, event: Event, name: str, start: float, end: float) -> None:
        self._trace.lanes.add("CUDA calls", start, end, name)
        if "Launch" in name:
            self._trace.launches.add(start, end)
        elif "Synchronize" in name:
            self._trace.synchronizations.add(start, end)
        elif "emcpy" in name:
            key = _arguments(event).get("correlation")
            if isinstance(key, (int, str)):
                span = HostSpan(start, end, _thread(event), "copy")
                self._trace.copy_calls[key] = span

    def _add_operator(
        self, event: Event, kind: str, name: str, start: float, end: float
    ) -> None:
        if name.startswith(_BACKWARD):
            self._trace.backward.add(start, end)
            return
        thread = _thread(event)
        step = _STEP.match(name)
        if step:
            number = int(step[1])
            self._trace.steps.append(TracedStep(number, start, end, thread))
            self._trace.lanes.add("Steps", start, end, f"step {number}")
            return
        loader = _LOADER.match(name)
        if loader:
            self._trace.loaders.add(loader[1])
            self._trace.waits.append(HostSpan(start, end, thread, ""))
            self._trace.lanes.add("Script", start, end, "wait for data")
            return
        phase = self._phase(kind, name)
        if phase:
            self._trace.phases.append(HostSpan(start, end, thread, phase))
            self._trace.lanes.add("Script", start, end, name)

    def _phase(self, kind: str, name: str) -> str:
        """Return the phase of a span; "" if it is not one."""
        optimizer = _OPTIMIZER.match(name)
        if optimizer:
            return "optimizer" if optimizer[1] == "step" else "zero_grad"
        plain = re.sub(r"[^\w.-]+", "_", name[:80]).strip("_.").casefold()
        if kind != _ANNOTATED:
            # In old traces these are operators, whose names contain colons.
            return plain if plain in _OLD_PHASES else ""
        if name.startswith(_NO_PHASE) or not plain:
            return ""
        if plain not in self._names and len(self._names) >= _MAX_PHASES:
            return ""
        self._names.add(plain)
        return plain


# Any: see above.
def _arguments(event: Event) -> Mapping[str, Any]:
    found = event.get("args")
    return found if isinstance(found, dict) else {}


def _bounds(event: Event) -> Interval | None:
    start = _number(event.get("ts"), _LARGEST_MOMENT)
    length = _number(event.get("dur", 0), _LONGEST)
    if start is None or length is None or length < 0:
        return None
    return start, start + length


def _number(value: object, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and abs(number) <= most else None


def _whole(value: object) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and isinstance(value, int) and value >= 0 else None


def _thread(event: Event) -> str:
    """Return the thread id as text, whether the trace has a number or text."""
    return f"{event.get('pid')}/{event.get('tid')}"


# Any: the values stored by device.
def _of(kept: dict[int, Any], device: int, make: Any) -> Any:
    if device not in kept:
        if len(kept) >= _MAX_DEVICES:
            return None
        kept[device] = make()
    return kept[device]
