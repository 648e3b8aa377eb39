"""The time breakdown of a stage, whose parts add up to all of its time.

Time is counted on every GPU that the stage holds, in GPU-seconds; without a GPU it is
the stage's own, in seconds. Named phases and waits for data count as themselves. The
rest of the steps is split by the measured activity of the GPU: computing, or idle inside
steps. Without such a measurement it is not attributed. Outside of steps there is
initialization before the first step, the boundary between steps, and after the last step
the GPU's activity decides. A job without a GPU holds nothing idle: it computes while its
processes use a core, and the rest is not attributed.
"""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.analysis.stage_phases import WORKING_GPU_PERCENT
from tracker.diagnosis.analysis.statistics import percentile
from tracker.diagnosis.analysis.timeline import (
    SILENT_SECONDS,
    Spans,
    lay_out,
    reading_times,
    silent_seconds,
    step_intervals,
)
from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.engine.measurements import (
    IN_SCRIPT,
    MICROSECONDS,
    ON_DEVICE,
    Measurements,
    Steps,
    Window,
    clean,
)
from tracker.diagnosis.hardware.activity import activity_of
from tracker.diagnosis.signals import Array, Samples

# A GPU that is below this in nearly every sample is unused.
UNUSED_BELOW_PERCENT = 1.0
UNUSED_PERCENTILE = 95.0


USE_OF_PHASE = {
    PhaseKind.COPY: Use.COPY,
    PhaseKind.COMMUNICATE: Use.COMMUNICATION,
    PhaseKind.EVALUATE: Use.EVALUATION,
    PhaseKind.CHECKPOINT: Use.CHECKPOINT,
    PhaseKind.LOAD_MODEL: Use.INITIALIZATION,
    PhaseKind.LOAD_DATA: Use.INITIALIZATION,
    PhaseKind.IMPORT: Use.INITIALIZATION,
    PhaseKind.COMPILE: Use.INITIALIZATION,
}
# The GPU computes in the active categories, and is idle in the quiet ones.
ACTIVE = (Use.COMMUNICATION, Use.EVALUATION)
QUIET = (Use.COPY, Use.CHECKPOINT, Use.BOUNDARY)
# Outside of steps these phases are work, too.
WORK = (
    PhaseKind.FORWARD,
    PhaseKind.BACKWARD,
    PhaseKind.OPTIMIZER,
    PhaseKind.REQUEST,
)


def keep_ledger(
    measurements: Measurements,
    window: Window,
    *,
    has_failed: bool = False,
    machines: int = 1,
) -> Ledger:
    """Divide the time of a stage that lasted over `window` into categories.

    Each of `machines` has the same number of GPUs, and those of one machine are measured.
    For a failed stage, time after its last timed checkpoint is lost.
    """
    measurements = clean(measurements)
    kept = window
    if has_failed and (saved := _last_checkpoint(measurements, window)) is not None:
        kept = Window(window.start, saved)

    gpus = sorted(measurements.gpus)
    held_gpus: list[int | None] = [*gpus] or [None]
    parts = [_divide(measurements, kept, gpu) for gpu in held_gpus]
    held = len(gpus) * max(1, machines)
    copies = max(1, machines) if gpus else 1
    seconds = {use: copies * sum(part[use] for part in parts) for use in Use}
    seconds[Use.LOST] += max(1, held) * (window.seconds - kept.seconds)
    return Ledger(held, seconds, _energy(measurements, copies))


def _divide(
    measurements: Measurements, window: Window, gpu: int | None
) -> dict[Use, float]:
    """Divide the time of one GPU, or of the stage if it has no GPU."""
    seconds = dict.fromkeys(Use, 0.0)
    if window.end <= window.start:
        return seconds

    read_at = reading_times(measurements)
    if gpu is not None and _is_unused(measurements, gpu):
        # This GPU is idle regardless of the other ones.
        absent = silent_seconds(read_at, window.start, window.end)
        seconds[Use.IDLE] = max(0.0, window.seconds - absent)
        return _settled(seconds, window.seconds)

    spans = lay_out(measurements.spans, window)
    for name, lasting in spans.seconds.items():
        seconds[_use_outside(name)] += lasting
    starts, ends = step_intervals(measurements.steps, window)
    _add_steps(seconds, measurements.steps, starts, ends, spans)

    activity = activity_of(measurements, gpu)
    split = _split_by_cores if gpu is None else _split_by_gpu
    running = activity.mean_running(starts[0], ends[-1]) if len(ends) else None
    low, high = np.array([window.start], float), np.array([window.end], float)
    if len(ends):
        seconds[Use.BOUNDARY] += _free_seconds(read_at, spans, ends[:-1], starts[1:])
        waited = seconds[Use.DATA_WAIT]
        split(seconds, activity.mean(starts[0], ends[-1]))
        _hide_waits(seconds, waited, running, float((ends - starts).sum()))
        seconds[Use.INITIALIZATION] += _free_seconds(read_at, spans, low, starts[:1])
        low = ends[-1:]
    free = _free_seconds(read_at, spans, low, high)
    rest = dict.fromkeys(Use, 0.0) if len(ends) else seconds
    split(rest, activity.mean(low[0], high[0]), free)
    if rest is not seconds:
        seconds = {use: value + rest[use] for use, value in seconds.items()}
    return _settled(seconds, window.seconds)


def _settled(seconds: dict[Use, float], total: float) -> dict[Use, float]:
    """Count unexplained time as unknown, and scale down a sum above the total."""
    known = sum(seconds.values())
    if known > total:
        return {use: value * total / known for use, value in seconds.items()}
    seconds[Use.UNKNOWN] += total - known
    return seconds


def _use_outside(name: str) -> Use:
    kind = kind_of_phase(name)
    if kind in WORK:
        return Use.UNATTRIBUTED
    return USE_OF_PHASE.get(kind, Use.BOUNDARY) if kind else Use.BOUNDARY


def _add_steps(
    seconds: dict[Use, float], steps: Steps, starts: Array, ends: Array, spans: Spans
) -> None:
    if not len(steps):
        return
    lasting = (ends - starts) / MICROSECONDS
    # Time within an evaluation span, for example, is counted there.
    own = np.maximum(0.0, lasting - spans.within(starts, ends))
    parts = _parts_of_steps(steps)
    # Phases in several threads can add up to more than the step.
    whole = steps.columns["step_seconds"]
    for part in (sum(parts.values()),) if parts else ():
        whole = np.maximum(whole, part)
    known = {use: float((part * own / whole).sum()) for use, part in parts.items()}
    for use, amount in known.items():
        seconds[use] += amount
    seconds[Use.UNATTRIBUTED] += max(0.0, float(own.sum()) - sum(known.values()))


def _parts_of_steps(steps: Steps) -> dict[Use, Array]:
    """Return the known times of each step other than its own work."""
    parts: dict[Use, Array] = {}
    if "data_wait_seconds" in steps.columns:
        parts[Use.DATA_WAIT] = np.minimum(
            steps.columns["data_wait_seconds"], steps.columns["step_seconds"]
        )
    on_device = steps.phases.get(ON_DEVICE, {})
    for name, phase in steps.phases.get(IN_SCRIPT, {}).items():
        kind = kind_of_phase(name)
        use = USE_OF_PHASE.get(kind) if kind else None
        if use is not None:
            lasting = _lasting(use, phase, on_device.get(name))
            parts[use] = parts.get(use, 0.0) + np.minimum(
                lasting, steps.columns["step_seconds"]
            )
    return parts


def _lasting(use: Use, in_script: Array, on_device: Array | None) -> Array:
    """Return the duration of a phase in each step, in the script or on the GPU."""
    if on_device is None or not np.isfinite(on_device).any():
        return in_script
    if use is Use.COMMUNICATION:
        # The script may wait for other ranks, or return before the GPU has finished.
        return np.fmax(in_script, on_device)
    if use is not Use.COPY:
        return in_script
    # Work queued on the GPU before a copy does not belong to the copy, although the script
    # waits for it. GPU times of the last steps may be missing.
    return np.where(np.isfinite(on_device), on_device, np.nanmean(on_device))


def _split_by_gpu(
    seconds: dict[Use, float], mean: float | None, free: float = 0.0
) -> None:
    """Split unexplained work, and `free` time around it, by the GPU's mean activity.

    Activity is assigned to work, communication and evaluation first.
    """
    if mean is None:
        return
    waiting = seconds[Use.DATA_WAIT]
    work = seconds[Use.UNATTRIBUTED] + waiting
    active = work + sum(seconds[use] for use in ACTIVE)
    total = active + free + sum(seconds[use] for use in QUIET)
    share = min(1.0, mean * total / active) if active else 0.0
    idle = (1.0 - share) * work
    # A wait costs nothing while the GPU works through its queue.
    seconds[Use.DATA_WAIT] = min(waiting, idle)
    seconds[Use.IDLE_IN_STEPS] += idle - seconds[Use.DATA_WAIT]
    seconds[Use.UNATTRIBUTED] = 0.0

    seconds[Use.COMPUTING] += share * work
    seconds[Use.IDLE] += free

    spare = max(0.0, mean * total - active)
    for use in (Use.IDLE, Use.BOUNDARY):
        taken = min(spare, seconds[use])
        seconds[use] -= taken
        seconds[Use.COMPUTING] += taken
        spare -= taken


def _hide_waits(
    seconds: dict[Use, float], waited: float, running: float | None, steps: float
) -> None:
    """Count waits as idle multiprocessors while any kernel runs.

    A few active multiprocessors that process the queue hide a wait like all of them would;
    the rules about waiting use the same definition.
    """
    if running is None:
        return
    exposed = max(0.0, 1.0 - running) * steps / MICROSECONDS
    hidden = max(0.0, seconds[Use.DATA_WAIT] - min(waited, exposed))
    seconds[Use.DATA_WAIT] -= hidden
    seconds[Use.IDLE_IN_STEPS] += hidden


def _split_by_cores(
    seconds: dict[Use, float], mean: float | None, free: float = 0.0
) -> None:
    """Count the share of time in which the job's processes worked as computing."""
    if mean is None:
        return
    unexplained = seconds[Use.UNATTRIBUTED] + free
    seconds[Use.COMPUTING] += mean * unexplained
    seconds[Use.UNATTRIBUTED] = (1.0 - mean) * unexplained


def _free_seconds(read_at: Array, spans: Spans, starts: Array, ends: Array) -> float:
    """Return the time outside of named phases, without unmeasured time."""
    free = np.maximum(0.0, (ends - starts) / MICROSECONDS - spans.within(starts, ends))
    is_long = free > SILENT_SECONDS
    absent = sum(
        silent_seconds(read_at, start, end)
        for start, end in zip(starts[is_long], ends[is_long], strict=True)
    )
    return max(0.0, float(free.sum()) - absent)


def _is_unused(measurements: Measurements, gpu: int) -> bool:
    """Return whether a GPU is idle while another one works."""
    if not len(measurements.steps):
        return False
    busy = {
        number: percentile(found, UNUSED_PERCENTILE)
        for number, signals in measurements.gpus.items()
        if isinstance(found := signals.get("gpu_utilization_percent"), Samples)
    }
    if gpu not in busy or not busy[gpu] < UNUSED_BELOW_PERCENT:
        return False
    return any(value >= WORKING_GPU_PERCENT for value in busy.values())


def _last_checkpoint(measurements: Measurements, window: Window) -> int | None:
    """Return the time of the last timed checkpoint; None if there is none."""
    ends = [
        int(span.times[-1])
        for name, span in measurements.spans.items()
        if kind_of_phase(name) is PhaseKind.CHECKPOINT and len(span.times)
    ]
    steps = measurements.steps
    for name, phase in steps.phases.get(IN_SCRIPT, {}).items():
        written = steps.times[phase > 0]
        if kind_of_phase(name) is PhaseKind.CHECKPOINT and len(written):
            ends.append(int(written[-1]))
    inside = [end for end in ends if window.start < end <= window.end]
    return max(inside, default=None)


def _energy(measurements: Measurements, machines: int) -> float | None:
    """Return the energy of all GPUs; None unless each of them was measured."""
    taken = []
    for signals in measurements.gpus.values():
        found = signals.get("gpu_energy_joules")
        # The first sample is 0, and a short run may have no other.
        if not isinstance(found, Samples) or not found.values.any():
            return None
        # The counter starts at 0, and again after a restart of the agent.
        rises = np.diff(found.values, prepend=0.0)
        taken.append(float(np.where(rises < 0, found.values, rises).sum()))
    return machines * sum(taken) if taken else None
