"""Steps become slower.

## Detection
Step times, as medians of up to 40 blocks after warm-up, that rise by at least 5 % from the
first to the last, by the median slope between all pairs of blocks. Most later blocks have to
be slower than earlier ones, with a probability by chance below 1 %. The fastest tenth
of the steps has to rise at least half as much.

## Why it matters
Training does the same work in each step. Growing steps cost more with every hour, and their
cause often ends the run: memory fills, or clocks fall.

## Limitations
Work may grow on purpose: longer sequences, larger batches, unfrozen layers.
If the number of examples per batch grows, the time per example is judged.
Slowdowns are not judged if the process waits for a CPU core, or if other jobs begin to use
more cores. Other jobs and the machine delay some steps and leave the fastest ones as they are.
Step times that drift slowly in both directions can rise for a while.

Catalogue: T3, slow-down during the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tracker.diagnosis.analysis.statistics import highest_average, margin_above, typical
from tracker.diagnosis.analysis.steady import FEWEST_WARM_UP_STEPS, warm_up_steps
from tracker.diagnosis.analysis.trend import TOO_FEW_STEPS, Trend, trend_of
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration, ordinal, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.hardware.core_wait import without_core_waits
from tracker.diagnosis.signals import Array, Fact, Samples

SPAN = Span.STAGE

MICROSECONDS = 1_000_000
WAITING = "waiting for data"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    fewest_warm_up_steps: int = FEWEST_WARM_UP_STEPS

    notable_change: float = 0.05
    release_change: float = 0.03
    large_change: float = 0.20

    largest_chance: float = 0.01
    # Rising pairs of blocks minus falling ones, as a share of all pairs.
    min_tau: float = 0.50
    # Pairs on the same side of a jump fall as often as they rise.
    min_tau_of_a_jump: float = 0.25

    # Jitter delays some steps of a block; growing work also slows down the fastest ones.
    fastest_percent: float = 10.0
    min_share_of_the_fastest: float = 0.50

    # Signals with this change from the first third to the last are mentioned.
    clock_change: float = -0.03
    growth_change: float = 0.10
    swap_bytes_per_second: float = 1e6
    # A part of the step with this share of its growth is mentioned.
    part_share: float = 0.60

    fewest_readings: int = 9
    # Additional cores in use by other jobs slow down steps, even with dedicated cores.
    others_cores: float = 0.30
    # Share of time without a core above which other jobs make step times vary widely.
    core_wait_share: float = 0.10
    crowded_change: float = 0.50


@dataclass(frozen=True, slots=True)
class _Companion:
    """A signal that changed along with the step time."""

    signal: str
    words: str
    change: float
    advice: str


def check(
    step_seconds: Array,
    *,
    data_wait_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    step_examples: Array | None = None,
    step_end_seconds: Array | None = None,
    log_interval_steps: float | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    host_cpu_percent: Samples | None = None,
    host_cores: float | None = None,
    job_cpu_cores: Samples | None = None,
    gpus: Mapping[int, Mapping[str, Samples | Fact]] | None = None,
    job_memory_bytes: Samples | None = None,
    host_swap_in_bytes_per_second: Samples | None = None,
    cgroup_throttled_share: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    interval = round(log_interval_steps or 1)
    dropped = _warm_up(step_seconds, limits)
    examples = None if step_examples is None else step_examples[dropped:]
    usual = _of_usual_size(step_seconds[dropped:], examples)
    trend = trend_of(usual)
    if trend is None:
        return Abstention((TOO_FEW_STEPS,))

    limit = limits.release_change if already_open else limits.notable_change
    least_tau = limits.min_tau if trend.jump is None else limits.min_tau_of_a_jump
    is_clear = trend.chance < limits.largest_chance and trend.tau >= least_tau
    is_of_all_steps = _slows_the_fastest(usual, trend.jump, limits)
    if trend.change < limit or not is_clear or not is_of_all_steps:
        return None
    if step_end_seconds is not None:
        own = without_core_waits(
            step_seconds[dropped:],
            step_end_seconds[dropped:],
            job_main_thread_core_wait_share,
            worker_core_wait_share,
        )
        rest = trend_of(_of_usual_size(own, examples))
        waited = highest_average(
            job_main_thread_core_wait_share, worker_core_wait_share
        )
        is_crowded = (waited or 0.0) >= limits.core_wait_share
        if rest is None or rest.change < (
            limits.crowded_change if is_crowded else limit
        ):
            return Abstention((CROWDED,))
        at = float(step_end_seconds[dropped + (trend.jump or len(own) // 2)])
        if _others_take_more(host_cpu_percent, host_cores, job_cpu_cores, at, limits):
            return Abstention((CROWDED,))

    parts = dict(phase_seconds or {})
    if data_wait_seconds is not None:
        parts[WAITING] = data_wait_seconds
    part = _grown_part(trend, {n: v[dropped:] for n, v in parts.items()}, limits)
    companions = (
        *_of_gpus(gpus or {}, limits),
        *_of_the_machine(
            job_memory_bytes,
            host_swap_in_bytes_per_second,
            cgroup_throttled_share,
            limits,
        ),
    )
    return _finding(trend, dropped, part, companions, interval, limits=limits)


def _slows_the_fastest(seconds: Array, jump: int | None, limits: Limits) -> bool:
    ends = max(1, len(seconds) // 4)
    early, late = (
        np.percentile(part, (limits.fastest_percent, 50.0))
        for part in (seconds[: jump or ends], seconds[jump or -ends :])
    )
    fastest, usual = late - early
    return bool(fastest >= limits.min_share_of_the_fastest * usual)


def _of_usual_size(seconds: Array, examples: Array | None) -> Array:
    """Return times scaled to the median batch size, in proportion to the examples."""
    if examples is None or not len(examples):
        return seconds
    return seconds * np.median(examples) / examples


def _others_take_more(
    host_cpu_percent: Samples | None,
    host_cores: float | None,
    job_cpu_cores: Samples | None,
    at: float,
    limits: Limits,
) -> bool:
    """Return whether other jobs use more cores after a time than before."""
    if host_cpu_percent is None or job_cpu_cores is None or not host_cores:
        return False
    before, after = (
        typical(_half(host_cpu_percent, at, late=late)) / 100 * host_cores
        - typical(_half(job_cpu_cores, at, late=late))
        for late in (False, True)
    )
    return after - before >= limits.others_cores


def _half(samples: Samples, at: float, *, late: bool) -> Samples:
    rows = (samples.times > at * MICROSECONDS) == late
    return replace(samples, times=samples.times[rows], values=samples.values[rows])


def _warm_up(step_seconds: Array, limits: Limits) -> int:
    if not len(step_seconds):
        return 0
    dropped, is_steady = warm_up_steps(step_seconds, fewest=limits.fewest_warm_up_steps)
    # Growing steps are never steady; their growth is not warm-up.
    return dropped if is_steady else min(dropped, limits.fewest_warm_up_steps)


def _grown_part(trend: Trend, parts: Mapping[str, Array], limits: Limits) -> str:
    """Return the part of a step with most of the growth, or ""."""
    rise = trend.last - trend.first
    for name, values in parts.items():
        early, late = _thirds(values)
        if late - early >= limits.part_share * rise:
            return name
    return ""


def _of_gpus(
    gpus: Mapping[int, Mapping[str, Samples | Fact]],
    limits: Limits,
) -> tuple[_Companion, ...]:
    found: dict[str, _Companion] = {}
    for signals in gpus.values():
        clock = _change(signals.get("gpu_sm_clock_mhz"), limits)
        memory = _change(signals.get("gpu_memory_used_bytes"), limits)
        if clock is not None and clock <= limits.clock_change:
            found["gpu_sm_clock_mhz"] = _Companion(
                "gpu_sm_clock_mhz",
                f"the GPU's clock fell by {percent(-clock)}",
                clock,
                "Find the reason for the lower clock: heat and power have separate"
                " rules.",
            )
        if memory is not None and memory >= limits.growth_change:
            found["gpu_memory_used_bytes"] = _Companion(
                "gpu_memory_used_bytes",
                f"GPU memory in use grew by {percent(memory)}",
                memory,
                "Look for tensors that keep their graph: summed losses,"
                " outputs in lists.",
            )
    return tuple(found.values())


def _of_the_machine(
    memory: Samples | None,
    swap: Samples | None,
    throttled: Samples | None,
    limits: Limits,
) -> tuple[_Companion, ...]:
    found = []
    grown = _change(memory, limits)
    if grown is not None and grown >= limits.growth_change:
        found.append(
            _Companion(
                "job_memory_bytes",
                f"the job's memory grew by {percent(grown)}",
                grown,
                "Look for lists that grow with every step: logs, metrics, caches.",
            )
        )
    rate = _late(swap, limits)
    if rate is not None and rate >= limits.swap_bytes_per_second:
        found.append(
            _Companion(
                "host_swap_in_bytes_per_second",
                "the machine reads memory back from swap",
                rate,
                "Free memory of the machine, or use fewer loader workers.",
            )
        )
    share = _late(throttled, limits)
    if share is not None and share >= limits.growth_change:
        found.append(
            _Companion(
                "cgroup_throttled_share",
                f"the CPU quota throttles the job in {percent(share)} of the periods",
                share,
                "Raise the container's CPU quota, or use fewer threads.",
            )
        )
    return tuple(found)


def _change(samples: Samples | Fact | None, limits: Limits) -> float | None:
    """Return the relative change from the first third to the last."""
    if not isinstance(samples, Samples) or len(samples.values) < limits.fewest_readings:
        return None
    early, late = _thirds(samples.values)
    return late / early - 1.0 if early > 0 else None


def _late(samples: Samples | None, limits: Limits) -> float | None:
    if samples is None or len(samples.values) < limits.fewest_readings:
        return None
    return _thirds(samples.values)[1]


def _thirds(values: Array) -> tuple[float, float]:
    third = max(1, len(values) // 3)
    return float(np.median(values[:third])), float(np.median(values[-third:]))


def _finding(
    trend: Trend,
    dropped: int,
    part: str,
    companions: tuple[_Companion, ...],
    interval: int,
    *,
    limits: Limits,
) -> Finding:
    how = (
        f", in one jump near the {ordinal((dropped + trend.jump) * interval)} step"
        if trend.jump is not None
        else ""
    )
    along = [companion.words for companion in companions]
    where = f" Most of it is {part}." if part else ""
    beside = f" At the same time, {'; '.join(along)}." if along else ""
    time = "step time" if interval == 1 else f"time of {interval} steps"
    return Finding(
        severity=(
            Severity.WARNING if trend.change >= limits.large_change else Severity.NOTICE
        ),
        summary=(
            f"The {time} rose from {duration(trend.first)} to"
            f" {duration(trend.last)}, by"
            f" {percent(trend.change)}{how}.{where}{beside}"
        ),
        evidence=(
            Evidence(
                "step_seconds",
                f"change of the {time} over the run",
                trend.change,
                "share",
                limits.notable_change,
                Side.ABOVE,
                release=limits.release_change,
            ),
            Evidence(
                "step_seconds",
                "probability of such a trend by chance",
                trend.chance,
                "share",
                limits.largest_chance,
                Side.BELOW,
            ),
            *(
                Evidence(
                    c.signal,
                    f"{c.signal.replace('_', ' ')}, change from the first third to the last",
                    c.change,
                    _unit(c),
                )
                for c in companions
            ),
        ),
        recommendations=tuple(Recommendation(c.advice) for c in companions)
        or (
            Recommendation(
                "Compare a profile of the first minutes with one of the last to find the"
                " growing part."
            ),
        ),
        disproof=(
            "Restart from the last checkpoint: if steps are just as slow right away, the"
            " work itself has grown."
        ),
        gain=expected_gain(
            trend.mean,
            (Floor(trend.start, "the pace at the start"),),
            what="A typical step" if interval == 1 else "A typical interval",
        ),
        margin=margin_above(trend.change, limits.notable_change),
        corroboration=AGREEING if companions or part else ALONE,
    )


def _unit(companion: _Companion) -> str:
    return "B/s" if companion.signal.endswith("bytes_per_second") else "share"
