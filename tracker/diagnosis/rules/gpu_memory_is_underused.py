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

LOW_MEMORY_SHARE = 0.60
LOW_MEMORY_RELEASE_SHARE = 0.65

# Above these limits a larger batch has little effect.
BUSY_GPU_PERCENT = 70.0
BUSY_GPU_RELEASE_PERCENT = 75.0
BUSY_SM_PERCENT = 60.0
BUSY_SM_RELEASE_PERCENT = 65.0
# The share of a step that does not depend on the batch size.
FIXED_STEP_SHARE = 0.30

# At these limits the GPU is saturated.
FULL_GPU_PERCENT = 90.0
FULL_MEMORY_PERCENT = 60.0
FULL_TENSOR_PERCENT = 50.0

# The share of memory that a larger batch may fill.
SAFE_MEMORY_SHARE = 0.90
LARGEST_FACTOR = 64
DOUBLE = 2.0
# A smaller measured gain is noise.
SMALLEST_GAIN = 1.03


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

    def is_low(self, *, already_open: bool) -> bool:
        sm = BUSY_SM_RELEASE_PERCENT if already_open else BUSY_SM_PERCENT
        busy = BUSY_GPU_RELEASE_PERCENT if already_open else BUSY_GPU_PERCENT
        return self.busy < busy or (self.sm is not None and self.sm < sm)

    @property
    def margin(self) -> float:
        by_time = margin_below(self.busy, BUSY_GPU_PERCENT)
        by_sm = 0.5 if self.sm is None else margin_below(self.sm, BUSY_SM_PERCENT)
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
    )
    batch = _batch(
        memory.share,
        batch_size,
        probe_batch_largest,
        batch_times(probe_batch_base_seconds, probe_batch_seconds_per_example),
    )
    has_room = memory.share <= (
        LOW_MEMORY_RELEASE_SHARE if already_open else LOW_MEMORY_SHARE
    )
    is_low = use.is_low(already_open=already_open) or (
        (batch.fixed_share or 0.0) >= FIXED_STEP_SHARE
    )
    if not (has_room and is_low and takes_part(gpu_utilization_percent)):
        return None
    if use.is_full or _was_tried_in_vain(batch, probe_batch_largest):
        return None
    return _finding(memory, use, batch, waiting.share, framework)


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
) -> _Use:
    busy = typical(utilization)
    is_full = busy > FULL_GPU_PERCENT and (
        (typical_or_none(dram) or 0.0) >= FULL_MEMORY_PERCENT
        or (typical_or_none(tensor) or 0.0) >= FULL_TENSOR_PERCENT
    )
    return _Use(busy, typical_or_none(sm), is_full)


def _batch(
    memory_share: float,
    now: float | None,
    largest: float | None,
    times: BatchTimes | None,
) -> _Batch:
    """Suggest a size that fits, as measured or else as estimated from memory use."""
    factor = _largest_safe_factor(memory_share)
    suggested = None
    if now and largest is not None:
        tried = largest_power_of_two(largest)
        suggested = tried if tried > now else None
    elif now:
        suggested = int(now * factor)
    return _Batch(now, suggested, factor, times)


def _was_tried_in_vain(batch: _Batch, largest: float | None) -> bool:
    """Return whether measurements show that nothing larger fits or is faster."""
    if largest is not None and batch.now and batch.suggested is None:
        return True
    return batch.gain is not None and batch.gain.likely < SMALLEST_GAIN


def _largest_safe_factor(memory_share: float) -> float:
    """Return a factor that fits even if all memory in use grows with the batch."""
    room = SAFE_MEMORY_SHARE / max(memory_share, SAFE_MEMORY_SHARE / LARGEST_FACTOR)
    if room < DOUBLE:
        return math.floor(room * 10) / 10
    # Powers of two suit the hardware.
    return DOUBLE ** math.floor(math.log2(room))


def _finding(
    memory: _Memory,
    use: _Use,
    batch: _Batch,
    wait_share: float,
    framework: str | None,
) -> Finding:
    on = "" if use.sm is None else f" with {use.sm:.0f} % SM activity"
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"At its peak, {size(memory.share * memory.total)} of"
            f" {size(memory.total)} GPU memory ({percent(memory.share)}) was in"
            f" use, and GPU utilization was {use.busy:.0f} %{on}."
        ),
        evidence=_evidence(memory, use, batch, wait_share),
        recommendations=_recommendations(batch, framework),
        disproof=(
            "Train a few hundred steps with twice the batch: if examples per second do"
            " not rise, the batch is not the limit."
        ),
        gain=batch.gain,
        explains=("gpu-utilization-is-low", "gpu-reaches-little-of-its-peak"),
        quality=memory.quality,
        margin=min(
            margin_below(memory.share, LOW_MEMORY_SHARE),
            1.0 if batch.fixed_share is not None else use.margin,
        ),
        corroboration=AGREEING,
    )


def _evidence(
    memory: _Memory, use: _Use, batch: _Batch, wait_share: float
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            memory.signal,
            "GPU memory, peak, share of all",
            memory.share,
            "share",
            LOW_MEMORY_SHARE,
            Side.BELOW,
            release=LOW_MEMORY_RELEASE_SHARE,
        ),
        Evidence(
            "gpu_utilization_percent",
            "GPU utilization, median",
            use.busy,
            "%",
            BUSY_GPU_PERCENT,
            Side.BELOW,
            release=BUSY_GPU_RELEASE_PERCENT,
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
                BUSY_SM_PERCENT,
                Side.BELOW,
                release=BUSY_SM_RELEASE_PERCENT,
            )
        )
    if batch.fixed_share is not None:
        evidence.append(
            Evidence(
                "probe_batch_base_seconds",
                "step time independent of the batch size, share",
                batch.fixed_share,
                "share",
                FIXED_STEP_SHARE,
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
