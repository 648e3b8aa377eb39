"""Metrics of each step and each GPU in a trace, as in docs/monitoring.md (pure).

A step lies between two calls of the profiler's step(); without those, between two
batches that a PyTorch DataLoader handed over, or between two steps of an optimizer.
Otherwise the whole trace is one step. Seconds, not microseconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from seamark.importers.intervals import (
    Interval,
    longest_gap,
    total,
    union,
    within,
    without,
)
from seamark.importers.trace import Copy, HostSpan, Spans, Trace, TracedStep

MICROSECONDS = 1_000_000
# Length of the windows for GPU metrics.
WINDOW_MICROSECONDS = 20_000.0
_MAX_WINDOWS = 100_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its end, and its metrics by path under `step/`."""

    number: int
    end: float  # microseconds, in the trace's clock
    measured: dict[str, float]


@dataclass(frozen=True, slots=True)
class Window:
    """One GPU in a short window: metrics by path under `gpu/<i>/`."""

    end: float
    measured: dict[str, float]


@dataclass
class Account:
    """All metrics of a trace."""

    steps: list[Step] = field(default_factory=list)
    windows: dict[int, list[Window]] = field(default_factory=dict)


def account(trace: Trace) -> Account:
    """Compute the metrics of a trace's steps and GPUs."""
    steps = find_steps(trace)
    work = _Work(trace, steps[0].thread if steps else "")
    found = Account([work.step(step) for step in steps])
    bounds = _bounds(steps, work)
    if bounds is not None:
        for device in sorted({*trace.kernels, *trace.collectives}):
            found.windows[device] = _windows(trace, device, *bounds)
    return found


def find_steps(trace: Trace) -> list[TracedStep]:
    """Return the steps in order of time, of the thread that has the most."""
    if trace.steps:
        found = sorted(_of_main_thread(trace.steps), key=lambda step: step.start)
        return _without_overlap(found)
    for ends in (trace.waits, _optimizer_steps(trace)):
        found = _between_ends(ends)
        if found:
            return found
    return _whole(trace)


def _between_ends(spans: Sequence[HostSpan]) -> list[TracedStep]:
    """Return the steps between the ends of spans that occur once per step."""
    ordered = sorted(_of_main_thread(spans), key=lambda span: span.end)
    return [
        TracedStep(number, before.end, span.end, span.thread)
        for number, (before, span) in enumerate(pairwise(ordered))
        if span.end > before.end
    ]


def _optimizer_steps(trace: Trace) -> list[HostSpan]:
    return [phase for phase in trace.phases if phase.name == "optimizer"]


def _whole(trace: Trace) -> list[TracedStep]:
    """Return the whole trace as one step, if a GPU computed in it."""
    kernels = union([*_all(trace.kernels), *_all(trace.collectives)])
    if not kernels:
        return []
    start = min([kernels[0][0], *(start for start, _ in trace.launches)])
    return [TracedStep(0, start, kernels[-1][1], "")]


class _Work:
    """The components of steps, each kind as disjoint spans in order."""

    def __init__(self, trace: Trace, thread: str) -> None:
        self._has_loader = bool(trace.waits)
        self._has_device = bool(trace.kernels or trace.collectives or trace.copies)
        self._has_collectives = bool(trace.collectives)
        waits = [wait for wait in trace.waits if wait.thread == thread]
        self._waits = union((wait.start, wait.end) for wait in waits)
        self._compute = _all(trace.kernels)
        self._communication = _all(trace.collectives)
        self.kernels = union([*self._compute, *self._communication])
        self._copies = union((copy.start, copy.end) for copy in trace.copies)
        self._copied = sorted(trace.copies, key=lambda copy: copy.start)
        self._starts = sorted(
            start
            for spans in (*trace.kernels.values(), *trace.collectives.values())
            for start, _ in spans
        )
        self._launches = union(trace.launches)
        self._launch_starts = sorted(start for start, _ in trace.launches)
        self._synchronizations = union(trace.synchronizations)
        named = [*trace.phases, *_calls_to_copy(trace)]
        self._phases = _own_parts([*(s for s in named if s.thread == thread), *waits])
        if "backward" not in self._phases and len(trace.backward):
            # Autograd runs in its own thread while the script waits for it.
            self._phases["backward"] = union(trace.backward)

    def step(self, step: TracedStep) -> Step:
        start, end = step.start, step.end
        measured = {"seconds": end - start}
        waits = within(self._waits, start, end)
        if self._has_loader:
            measured["data_wait_seconds"] = total(waits)
        for name, spans in self._phases.items():
            seconds = total(within(spans, start, end))
            if seconds > 0:
                measured[f"phase/{name}_seconds"] = seconds
        if self._has_device:
            measured |= self._on_device(start, end, waits)
        measured["trace/launch_seconds"] = total(within(self._launches, start, end))
        measured["trace/synchronize_seconds"] = total(
            within(self._synchronizations, start, end)
        )
        in_seconds = {name: spent / MICROSECONDS for name, spent in measured.items()}
        in_seconds["trace/launches"] = _count(self._launch_starts, start, end)
        if self._has_device:
            kernels = _count(self._starts, start, end)
            in_seconds["trace/kernels"] = kernels
            in_seconds["trace/kernels_per_second"] = kernels / in_seconds["seconds"]
            in_seconds["trace/copied_bytes"] = float(self._copied_bytes(start, end))
        return Step(step.number, end, in_seconds)

    def _on_device(
        self, start: float, end: float, waits: Sequence[Interval]
    ) -> dict[str, float]:
        compute = within(self._compute, start, end)
        communication = within(self._communication, start, end)
        kernels = within(self.kernels, start, end)
        copies = within(self._copies, start, end)
        found = {
            "device/compute_seconds": total(compute),
            "device/copy_seconds": total(copies),
            "trace/gpu_busy_seconds": total(kernels),
            "trace/gpu_idle_seconds": end - start - total(union([*kernels, *copies])),
            "trace/longest_gap_seconds": longest_gap(kernels, start, end),
            "trace/exposed_copy_seconds": total(without(copies, kernels)),
        }
        if self._has_loader:
            found["trace/exposed_wait_seconds"] = total(without(waits, kernels))
        if self._has_collectives:
            found["device/communicate_seconds"] = total(communication)
            exposed = total(without(communication, compute))
            found["trace/exposed_communication_seconds"] = exposed
        return found

    def _copied_bytes(self, start: float, end: float) -> int:
        first = bisect_left(self._copied, start, key=lambda copy: copy.start)
        last = bisect_left(self._copied, end, key=lambda copy: copy.start)
        return sum(copy.size for copy in self._copied[first:last])


def _all(by_device: dict[int, Spans]) -> list[Interval]:
    return union(span for spans in by_device.values() for span in spans)


def _calls_to_copy(trace: Trace) -> list[HostSpan]:
    """Return the calls of the host that made copies to a device."""
    found = (trace.copy_calls.get(copy.correlation) for copy in trace.copies)
    return [span for span in found if span is not None]


def _own_parts(spans: Iterable[HostSpan]) -> dict[str, list[Interval]]:
    """Return each name's own time, without nested spans.

    Unnamed spans only reduce the time of those around them.
    """
    parts: dict[str, list[Interval]] = {}
    open_ones: list[HostSpan] = []
    since = 0.0

    def end_until(moment: float) -> None:
        nonlocal since
        while open_ones and open_ones[-1].end <= moment:
            ended = open_ones.pop()
            _keep(parts, ended.name, since, ended.end)
            since = max(since, ended.end)

    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        end_until(span.start)
        if open_ones:
            _keep(parts, open_ones[-1].name, since, span.start)
        open_ones.append(span)
        since = max(since, span.start) if len(open_ones) > 1 else span.start
    end_until(float("inf"))
    return {name: union(found) for name, found in parts.items() if name}


def _keep(
    parts: dict[str, list[Interval]], name: str, start: float, end: float
) -> None:
    if end > start:
        parts.setdefault(name, []).append((start, end))


def _of_main_thread(spans: Sequence[TracedStep | HostSpan]) -> list[TracedStep]:
    """Return those of the thread with the most: others may run their own loops."""
    counts: dict[str, int] = {}
    for span in spans:
        counts[span.thread] = counts.get(span.thread, 0) + 1
    main = max(counts, key=lambda thread: counts[thread], default="")
    return [
        span
        if isinstance(span, TracedStep)
        else TracedStep(0, span.start, span.end, main)
        for span in spans
        if span.thread == main
    ]


def _without_overlap(steps: Sequence[TracedStep]) -> list[TracedStep]:
    """Drop empty steps, and those that repeat the previous one."""
    found: list[TracedStep] = []
    for step in steps:
        if step.end > step.start and (not found or step.start >= found[-1].end - 1.0):
            found.append(step)
    return found


def _bounds(steps: Sequence[TracedStep], work: _Work) -> Interval | None:
    if steps:
        return steps[0].start, steps[-1].end
    if work.kernels:
        return work.kernels[0][0], work.kernels[-1][1]
    return None


def _windows(trace: Trace, device: int, start: float, end: float) -> list[Window]:
    empty = Spans()
    busy = union(
        span
        for by_device in (trace.kernels, trace.collectives)
        for span in by_device.get(device, empty)
    )
    count = max(1, round((end - start) / WINDOW_MICROSECONDS))
    count = min(count, _MAX_WINDOWS)
    length = (end - start) / count
    samples = trace.memory.get(device)
    readings = (
        sorted(zip(samples[::3], samples[1::3], samples[2::3], strict=True))
        if samples
        else []
    )
    found, place = [], 0
    for number in range(count):
        since, until = start + number * length, start + (number + 1) * length
        share = total(within(busy, since, until)) / length
        measured = {"utilization_percent": min(100.0, 100.0 * share)}
        first = place
        while place < len(readings) and readings[place][0] <= until:
            place += 1
        if place > first:
            inside = readings[first:place]
            measured["allocator/allocated_bytes"] = max(
                samples for _, samples, _ in inside
            )
            measured["allocator/reserved_bytes"] = max(
                samples for _, _, samples in inside
            )
        found.append(Window(until, measured))
    return found


def _count(starts: Sequence[float], start: float, end: float) -> float:
    return float(bisect_left(starts, end) - bisect_left(starts, start))


def is_pinned(copies: Sequence[Copy]) -> bool | None:
    """Return whether nearly all bytes were copied from pinned memory; None if mixed."""
    sizes = {True: 0, False: 0}
    for copy in copies:
        if copy.is_pinned is None:
            return None
        sizes[copy.is_pinned] += copy.size
    everything = sum(sizes.values())
    for answer, size in sizes.items():
        if everything and size >= _NEARLY_ALL * everything:
            return answer
    return None


_NEARLY_ALL = 0.9
