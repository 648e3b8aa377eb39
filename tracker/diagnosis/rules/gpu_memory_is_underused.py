"""GPU memory has room for a larger batch.

## Detection
A GPU that works, is not fully used, and never uses more than 60 % of its memory, in steps
that do not wait for data. It is not fully used if SM activity is below 60 %, utilization is
below 70 %, or a micro-benchmark found that 30 % of the step time does not depend on the
batch size.

## Why it matters
A larger batch gives the GPU more work per kernel. It is the first thing to try if neither
the GPU nor the data is the limit.

## Limitations
The framework's own peak of allocated memory is used. Without it the driver's value counts,
which includes other processes, and frameworks that reserve memory in advance are not judged.
A GPU whose memory or tensor cores are always busy gains nothing from larger batches and is
excluded.
Only a measurement shows whether a larger batch is faster: one batch size does not predict
another, and `run.probe.batch` measures several in a minute. Larger batches can need a higher
learning rate and may generalize worse.

Catalogue: C3, batch too small or memory head-room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    highest,
    margin_below,
    typical,
    typical_or_none,
)
from tracker.diagnosis.engine.finding import (
    AGREEING,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import RESERVING, batch_size_line
from tracker.diagnosis.engine.wording import percent, size
from tracker.diagnosis.hardware.gpu_work import takes_part
from tracker.diagnosis.input.batches import (
    BatchTimes,
    batch_gain,
    batch_times,
    largest_power_of_two,
)
from tracker.diagnosis.input.waiting import measure_waiting
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.signals.trials import BATCH


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    low_memory_share: float = 0.60
    low_memory_release_share: float = 0.65

    # Above these limits a larger batch has little effect.
    busy_gpu_percent: float = 70.0
    busy_gpu_release_percent: float = 75.0
    busy_sm_percent: float = 60.0
    busy_sm_release_percent: float = 65.0
    # The share of a step that does not depend on the batch size.
    fixed_step_share: float = 0.30

    # At these limits the GPU is saturated.
    full_gpu_percent: float = 90.0
    full_memory_percent: float = 60.0
    full_tensor_percent: float = 50.0

    # The share of memory that a larger batch may fill.
    safe_memory_share: float = 0.90
    largest_factor: int = 64
    double: float = 2.0
    # A smaller measured gain is noise.
    smallest_gain: float = 1.03


@dataclass(frozen=True, slots=True)
class _Memory:
    signal: str
    share: float  # of GPU memory, peak
    total: float
    quality: float


@dataclass(frozen=True, slots=True)
class _Use:
    busy: float
    sm: float | None
    is_full: bool  # memory or tensor cores are saturated
    limits: Limits

    def is_low(self, *, already_open: bool) -> bool:
        sm = (
            self.limits.busy_sm_release_percent
            if already_open
            else self.limits.busy_sm_percent
        )
        busy = (
            self.limits.busy_gpu_release_percent
            if already_open
            else self.limits.busy_gpu_percent
        )
        return self.busy < busy or (self.sm is not None and self.sm < sm)

    @property
    def margin(self) -> float:
        by_time = margin_below(self.busy, self.limits.busy_gpu_percent)
        by_sm = (
            0.5
            if self.sm is None
            else margin_below(self.sm, self.limits.busy_sm_percent)
        )
        return max(by_time, by_sm)


@dataclass(frozen=True, slots=True)
class _Batch:
    """`suggested` is None if no larger batch is known to fit or the size is unknown."""

    now: float | None
    suggested: int | None
    factor: float
    times: BatchTimes | None

    @property
    def fixed_share(self) -> float | None:
        """Return the measured share of a step that does not depend on the batch size."""
        if self.times is None or not self.now:
            return None
        return self.times.base_seconds / self.times.step_seconds(self.now)

    @property
    def gain(self) -> Gain | None:
        if self.times is None or not self.now or not self.suggested:
            return None
        return batch_gain(self.times, self.now, self.suggested)


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    gpu_utilization_percent: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_memory_used_bytes: Samples | None = None,
    gpu_allocator_peak_bytes: Samples | None = None,
    gpu_sm_active_percent: Samples | None = None,
    gpu_dram_active_percent: Samples | None = None,
    gpu_tensor_active_percent: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    probe_batch_largest: float | None = None,
    probe_batch_base_seconds: float | None = None,
    probe_batch_seconds_per_example: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    memory = _memory(
        gpu_allocator_peak_bytes,
        gpu_memory_used_bytes,
        gpu_memory_total_bytes,
        framework,
    )
    if isinstance(memory, Abstention):
        return memory
    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    if waiting is None or waiting.is_notable(already_open=False):
        # Larger batches would make these steps wait even longer for data.
        return Abstention(("steps that do not wait for data",))

    use = _use(
        gpu_utilization_percent,
        gpu_sm_active_percent,
        gpu_dram_active_percent,
        gpu_tensor_active_percent,
        limits,
    )
    batch = _batch(
        memory.share,
        batch_size,
        probe_batch_largest,
        batch_times(probe_batch_base_seconds, probe_batch_seconds_per_example),
        limits,
    )
    has_room = memory.share <= (
        limits.low_memory_release_share if already_open else limits.low_memory_share
    )
    is_low = use.is_low(already_open=already_open) or (
        (batch.fixed_share or 0.0) >= limits.fixed_step_share
    )
    if not (has_room and is_low and takes_part(gpu_utilization_percent)):
        return None
    if use.is_full or _was_tried_in_vain(batch, probe_batch_largest, limits):
        return None
    return _finding(memory, use, batch, waiting.share, framework, limits=limits)


def _memory(
    peak: Samples | None, used: Samples | None, total: float, framework: str | None
) -> _Memory | Abstention:
    """Return the memory in use, from the framework if possible, else from the driver."""
    if not total > 0:
        return Abstention(("gpu_memory_total_bytes",))
    if peak is not None and highest(peak) > 0:
        share = highest(peak) / total
        return _Memory("gpu_allocator_peak_bytes", share, total, peak.quality)
    if framework in RESERVING:
        return Abstention((f"the memory use that {framework} itself reports",))
    if used is None:
        return Abstention(("gpu_allocator_peak_bytes", "gpu_memory_used_bytes"))
    quality = min(SAMPLED, used.quality)
    return _Memory("gpu_memory_used_bytes", highest(used) / total, total, quality)


def _use(
    utilization: Samples,
    sm: Samples | None,
    dram: Samples | None,
    tensor: Samples | None,
    limits: Limits,
) -> _Use:
    busy = typical(utilization)
    is_full = busy > limits.full_gpu_percent and (
        (typical_or_none(dram) or 0.0) >= limits.full_memory_percent
        or (typical_or_none(tensor) or 0.0) >= limits.full_tensor_percent
    )
    return _Use(busy, typical_or_none(sm), is_full, limits=limits)


def _batch(
    memory_share: float,
    now: float | None,
    largest: float | None,
    times: BatchTimes | None,
    limits: Limits,
) -> _Batch:
    """Suggest a size that fits, as measured or else as estimated from memory use."""
    factor = _largest_safe_factor(memory_share, limits)
    suggested = None
    if now and largest is not None:
        tried = largest_power_of_two(largest)
        suggested = tried if tried > now else None
    elif now:
        suggested = int(now * factor)
    return _Batch(now, suggested, factor, times)


def _was_tried_in_vain(batch: _Batch, largest: float | None, limits: Limits) -> bool:
    """Return whether measurements show that nothing larger fits or is faster."""
    if largest is not None and batch.now and batch.suggested is None:
        return True
    return batch.gain is not None and batch.gain.likely < limits.smallest_gain


def _largest_safe_factor(memory_share: float, limits: Limits) -> float:
    """Return a factor that fits even if all memory in use grows with the batch."""
    room = limits.safe_memory_share / max(
        memory_share, limits.safe_memory_share / limits.largest_factor
    )
    if room < limits.double:
        return math.floor(room * 10) / 10
    # Powers of two suit the hardware.
    return limits.double ** math.floor(math.log2(room))


def _finding(
    memory: _Memory,
    use: _Use,
    batch: _Batch,
    wait_share: float,
    framework: str | None,
    *,
    limits: Limits,
) -> Finding:
    on = "" if use.sm is None else f" with {use.sm:.0f} % SM activity"
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"At its peak, {size(memory.share * memory.total)} of"
            f" {size(memory.total)} GPU memory ({percent(memory.share)}) was in"
            f" use, and GPU utilization was {use.busy:.0f} %{on}."
        ),
        evidence=_evidence(memory, use, batch, wait_share, limits),
        recommendations=_recommendations(batch, framework),
        disproof=(
            "Train a few hundred steps with twice the batch: if examples per second do"
            " not rise, the batch is not the limit."
        ),
        gain=batch.gain,
        explains=("gpu-utilization-is-low", "gpu-reaches-little-of-its-peak"),
        comes_after=("copies-to-the-gpu-take-long",),
        quality=memory.quality,
        margin=min(
            margin_below(memory.share, limits.low_memory_share),
            1.0 if batch.fixed_share is not None else use.margin,
        ),
        corroboration=AGREEING,
    )


def _evidence(
    memory: _Memory, use: _Use, batch: _Batch, wait_share: float, limits: Limits
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            memory.signal,
            "GPU memory, peak, share of all",
            memory.share,
            "share",
            limits.low_memory_share,
            Side.BELOW,
            release=limits.low_memory_release_share,
        ),
        Evidence(
            "gpu_utilization_percent",
            "GPU utilization, median",
            use.busy,
            "%",
            limits.busy_gpu_percent,
            Side.BELOW,
            release=limits.busy_gpu_release_percent,
        ),
        Evidence(
            "data_wait_seconds",
            "waiting for data, share of step time",
            wait_share,
            "share",
        ),
    ]
    if use.sm is not None:
        evidence.append(
            Evidence(
                "gpu_sm_active_percent",
                "SM activity, median",
                use.sm,
                "%",
                limits.busy_sm_percent,
                Side.BELOW,
                release=limits.busy_sm_release_percent,
            )
        )
    if batch.fixed_share is not None:
        evidence.append(
            Evidence(
                "probe_batch_base_seconds",
                "step time independent of the batch size, share",
                batch.fixed_share,
                "share",
                limits.fixed_step_share,
                Side.ABOVE,
            )
        )
    return tuple(evidence)


def _recommendations(
    batch: _Batch, framework: str | None
) -> tuple[Recommendation, ...]:
    suggested = f"{batch.suggested}" if batch.suggested else ""
    recommendations = [
        Recommendation(
            "Increase the batch size for as long as examples per second rise.",
            current=f"{batch.now:g}" if batch.now else "",
            suggested=f"up to {suggested or f'{batch.factor:g} times as large'}",
            code=batch_size_line(
                framework, suggested or f"int({batch.factor:g} * batch_size)"
            ),
        ),
        Recommendation(
            "Raise the learning rate with the batch, warm it up, and compare the loss at"
            " equal numbers of examples. From some thousands on, use an optimizer made"
            " for large batches, such as LARS or LAMB."
        ),
    ]
    if batch.times is None:
        recommendations.append(
            Recommendation(
                "The speedup is unknown, because one size does not predict another:"
                " run the batch probe, which takes a minute.",
                code=BATCH,
            )
        )
    return tuple(recommendations)
