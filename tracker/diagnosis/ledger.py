"""Where the time of a stage's GPUs goes: a waste ledger, whose parts add up to all of it.

Time is counted on every GPU that the stage holds, in GPU-seconds; without a GPU it is
the stage's own, in seconds. A step is useful but for what is known of it: waiting for
data while the GPU is idle, copies, for as long as they took on the GPU where that was
timed, communication, evaluation, checkpoints. Outside of steps phases count as what they
are named; what is left is initialisation before the first step, boundary between steps,
and after the last one idle where readings say so. A stage without steps is useful while
its GPU works, or without a GPU its cores. Where no reading tells, nothing is guessed: that
time is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tracker.diagnosis.measurements import (
    IN_SCRIPT,
    MICROSECONDS,
    ON_DEVICE,
    Measurements,
    Steps,
    Window,
    clean,
)
from tracker.diagnosis.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.regimes import WORKING_CPU_CORES, WORKING_GPU_PERCENT
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.statistics import average, percentile
from tracker.diagnosis.timeline import (
    SILENT_SECONDS,
    Spans,
    lay_out,
    reading_times,
    silent_seconds,
    step_intervals,
)
from tracker.diagnosis.uses import Ledger, Use

# A GPU of which less is used than this in nearly every reading does nothing at all.
UNUSED_BELOW_PERCENT = 1.0
UNUSED_PERCENTILE = 95.0


USE_OF_PHASE = {
    PhaseKind.COPY: Use.COPY,
    PhaseKind.COMMUNICATE: Use.COMMUNICATION,
    PhaseKind.EVALUATE: Use.EVALUATION,
    PhaseKind.CHECKPOINT: Use.CHECKPOINT,
    PhaseKind.LOAD_MODEL: Use.INITIALISATION,
    PhaseKind.LOAD_DATA: Use.INITIALISATION,
    PhaseKind.IMPORT: Use.INITIALISATION,
    PhaseKind.COMPILE: Use.INITIALISATION,
}
# Outside of steps, these are work, too.
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
    """Divide the time of a stage that lasted over `window`.

    `machines` have as many GPUs each, of which those of one are measured. Of a stage
    that failed, what came after its last checkpoint is lost, if any was timed.
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
    """Divide the time of one GPU, or of the stage where it has none."""
    seconds = dict.fromkeys(Use, 0.0)
    if window.end <= window.start:
        return seconds

    readings, limit = _working(measurements, gpu)
    if gpu is not None and _is_unused(measurements, gpu):
        # Whatever the others do, this one does nothing.
        absent = silent_seconds(reading_times(measurements), window.start, window.end)
        seconds[Use.IDLE] = max(0.0, window.seconds - absent)
        return _settled(seconds, window.seconds)

    spans = lay_out(measurements.spans, window)
    for name, lasting in spans.seconds.items():
        seconds[_use_outside(name)] += lasting
    starts, ends = step_intervals(measurements.steps, window)
    _add_steps(seconds, measurements.steps, starts, ends, spans)
    if gpu is not None and readings is not None and len(ends):
        _forgive_hidden_waits(seconds, readings, int(starts[0]), int(ends[-1]))

    read_at = reading_times(measurements)
    for use, before, after in _gaps(starts, ends, window):
        free = _free_seconds(read_at, spans, before, after)
        if use is not None:
            seconds[use] += free
        elif (share := _working_share(readings, limit, before, after)) is not None:
            seconds[Use.IDLE] += free * (1.0 - share)
            # After its last step a stage may do anything; without steps, its work.
            seconds[Use.USEFUL] += 0.0 if len(ends) else free * share
    return _settled(seconds, window.seconds)


def _settled(seconds: dict[Use, float], total: float) -> dict[Use, float]:
    """What nothing accounts for is unknown; more than all there is cannot be."""
    known = sum(seconds.values())
    if known > total:
        return {use: value * total / known for use, value in seconds.items()}
    seconds[Use.UNKNOWN] += total - known
    return seconds


def _use_outside(name: str) -> Use:
    kind = kind_of_phase(name)
    if kind in WORK:
        return Use.USEFUL
    return USE_OF_PHASE.get(kind, Use.BOUNDARY) if kind else Use.BOUNDARY


def _add_steps(
    seconds: dict[Use, float], steps: Steps, starts: Array, ends: Array, spans: Spans
) -> None:
    if not len(steps):
        return
    lasting = (ends - starts) / MICROSECONDS
    # What lies in an evaluation, say, is counted there.
    own = np.maximum(0.0, lasting - spans.within(starts, ends))
    parts = _parts_of_steps(steps)
    # Phases in several threads can add up to more than the step.
    whole = steps.columns["step_seconds"]
    for part in (sum(parts.values()),) if parts else ():
        whole = np.maximum(whole, part)
    known = {use: float((part * own / whole).sum()) for use, part in parts.items()}
    for use, amount in known.items():
        seconds[use] += amount
    seconds[Use.USEFUL] += max(0.0, float(own.sum()) - sum(known.values()))


def _parts_of_steps(steps: Steps) -> dict[Use, Array]:
    """Return what is known of each step beside its work."""
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
    """Return how long a phase lasted in each step, in the script or on the GPU."""
    if on_device is None or not np.isfinite(on_device).any():
        return in_script
    if use is Use.COMMUNICATION:
        # The script may wait for other ranks, or have only begun what the GPU does.
        return np.fmax(in_script, on_device)
    if use is not Use.COPY:
        return in_script
    # What was queued on the GPU before a copy is no part of it, though the script waits.
    # Of the last steps the GPU may not have told.
    return np.where(np.isfinite(on_device), on_device, np.nanmean(on_device))


def _forgive_hidden_waits(
    seconds: dict[Use, float], readings: Samples, start: int, end: int
) -> None:
    """Waiting while the GPU still works off its queue costs nothing."""
    inside = (readings.times > start) & (readings.times <= end)
    if not inside.any():
        return
    idle = max(0.0, 1.0 - average(readings.values[inside]) / 100)
    whole = seconds[Use.USEFUL] + seconds[Use.DATA_WAIT]
    exposed = min(seconds[Use.DATA_WAIT], idle * whole)
    seconds[Use.USEFUL] += seconds[Use.DATA_WAIT] - exposed
    seconds[Use.DATA_WAIT] = exposed


def _gaps(
    starts: Array, ends: Array, window: Window
) -> Iterable[tuple[Use | None, Array, Array]]:
    """Yield what lies around steps: its use, or None where readings have to tell."""
    low, high = np.array([window.start], float), np.array([window.end], float)
    if not len(ends):
        yield None, low, high
        return
    yield Use.INITIALISATION, low, starts[:1]
    yield Use.BOUNDARY, ends[:-1], starts[1:]
    yield None, ends[-1:], high


def _free_seconds(read_at: Array, spans: Spans, starts: Array, ends: Array) -> float:
    """Return how long nothing ran that was named, but for what nobody measured."""
    free = np.maximum(0.0, (ends - starts) / MICROSECONDS - spans.within(starts, ends))
    is_long = free > SILENT_SECONDS
    absent = sum(
        silent_seconds(read_at, start, end)
        for start, end in zip(starts[is_long], ends[is_long], strict=True)
    )
    return max(0.0, float(free.sum()) - absent)


def _working(
    measurements: Measurements, gpu: int | None
) -> tuple[Samples | None, float]:
    """Return the readings that say whether work is done, and above which value it is."""
    if gpu is not None:
        found = measurements.gpus[gpu].get("gpu_utilization_percent")
        return found if isinstance(found, Samples) else None, WORKING_GPU_PERCENT
    # Whoever works alone on a large machine works, too.
    return measurements.samples.get("job_cpu_cores"), WORKING_CPU_CORES


def _working_share(
    readings: Samples | None, limit: float, starts: Array, ends: Array
) -> float | None:
    if readings is None:
        return None
    inside = (readings.times > starts[0]) & (readings.times <= ends[-1])
    if not inside.any():
        return None
    return float(np.mean(readings.values[inside] > limit))


def _is_unused(measurements: Measurements, gpu: int) -> bool:
    """Whether a GPU does nothing while another works."""
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
    """Return when the last checkpoint was written; None: none was timed."""
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
    """Return what all GPUs took; None unless each of them was measured."""
    taken = []
    for signals in measurements.gpus.values():
        found = signals.get("gpu_energy_joules")
        # The first answer is 0, and of a short run there is no other.
        if not isinstance(found, Samples) or not found.values.any():
            return None
        # The counter begins at 0, and again where the agent did.
        rises = np.diff(found.values, prepend=0.0)
        taken.append(float(np.where(rises < 0, found.values, rises).sum()))
    return machines * sum(taken) if taken else None
