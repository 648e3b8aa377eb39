"""Some steps are much slower.

## Detection
Steps that exceed the median by five times the median deviation and by 30 %, with extra time of
at least 3 % of all time. Autocorrelation shows whether they are periodic, and their phases
show the cause. Without a period or a cause, they must take twice the median and exceed the
median of logarithms by five median deviations, and at most 10 % of the steps may be slow.

## Why it matters
All GPUs of the job wait while a few steps do additional work.

## Limitations
Batches of different sizes take different times: slow steps that the number of examples
explains do not count. Warm-up is excluded. Slow steps that wait for data belong to the rules
about the loader. Other kinds of steps do not count: every k-th step updates the weights,
batches have one of a few lengths, or evaluation metrics are logged. If lengths vary, as those of
sentences do, the longest are no outliers. Slow steps without a period
in which the process mostly waited for a CPU core are caused by other jobs and do not count.
Nor do the first steps of epochs if the loader has workers, which then fill their queue.
Without step timing, intervals between logged points are judged; one that contains an evaluation
or a checkpoint is slow for that reason.

Catalogue: T2, step outliers with period.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.epochs import epoch_starts
from tracker.diagnosis.analysis.outliers import (
    Outliers,
    are_logged,
    find_outliers,
    is_kind_of_step,
    is_rhythm,
    largest_of,
    tail_limit,
    with_period,
)
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.analysis.steady import warm_up_steps
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
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
from tracker.diagnosis.engine.frameworks import phase_line
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.engine.wording import count, duration, ordinal, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.hardware.core_wait import most_waited, without_waiting_steps
from tracker.diagnosis.signals import Array, Samples, Tracked

SPAN = Span.STAGE

DATA = "waiting for data"
OWN_WORK = (PhaseKind.CHECKPOINT, PhaseKind.EVALUATE, PhaseKind.LOG)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = 0.03
    release_share: float = 0.02
    large_share: float = 0.10

    fewest_steps: int = 100
    fewest_outliers: int = 3
    # With more slow steps than this, there are two kinds of steps and no outliers.
    max_outliers_share: float = 0.10

    # Minimum ratio to the median without a period or a cause; less is the jitter of a
    # shared machine.
    min_factor: float = 2.0

    # A phase with this share of the extra time is the cause.
    cause_share: float = 0.60
    # Correlation at which the number of examples explains the step times.
    size_correlation: float = 0.80

    # Share of all time; above it, waits for data affect most steps, not a few.
    waiting_share: float = 0.30


@dataclass(frozen=True, slots=True)
class _Cause:
    name: str  # "" if no phase takes most of the extra time
    share: float
    advice: Recommendation


def check(
    step_seconds: Array,
    *,
    data_wait_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    step_examples: Array | None = None,
    step_end_seconds: Array | None = None,
    evaluations: Mapping[str, Tracked] | None = None,
    gap_before_step_seconds: Array | None = None,
    loader_workers: float | None = None,
    log_interval_steps: float | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if len(step_seconds) < limits.fewest_steps:
        return Abstention((f"at least {limits.fewest_steps} steps",))
    dropped, _ = warm_up_steps(step_seconds)
    seconds = _without_size(
        step_seconds[dropped:], _after(step_examples, dropped), limits
    )
    outliers = find_outliers(seconds)
    gaps = _after(gap_before_step_seconds, dropped)
    if outliers is not None and gaps is not None and loader_workers:
        starts = epoch_starts(seconds, gaps)
        outliers = outliers.of(~np.isin(outliers.rows, starts))
    are_many = outliers is not None and _are_many(outliers, len(seconds), limits)
    if outliers is not None and are_many:
        # Jitter of a shared machine slows down many steps slightly; keep the largest outliers.
        outliers = largest_of(outliers)
    if outliers is None or not _is_notable(
        outliers, len(seconds), already_open, limits
    ):
        return None

    named = {name: values[dropped:] for name, values in (phase_seconds or {}).items()}
    wait = _after(data_wait_seconds, dropped)
    if wait is not None:
        named[DATA] = wait
    outliers, period = with_period(outliers, len(seconds))
    cause = _cause(outliers, named, float(np.median(seconds)), limits)
    ends = _after(step_end_seconds, dropped)
    lasting = step_seconds[dropped:]
    is_of_a_kind = not cause.name and (
        is_kind_of_step(outliers, period, len(seconds))
        or are_logged(outliers, ends, lasting, evaluations)
    )
    waits_anyway = (
        wait is not None and cause.name == DATA and _is_much(wait, lasting, limits)
    )
    if is_of_a_kind or waits_anyway:
        return None
    is_own = is_rhythm(outliers, period) or _is_own_work(cause)
    if ends is not None and not is_own:
        waited = most_waited(
            ends, lasting, job_main_thread_core_wait_share, worker_core_wait_share
        )
        outliers = without_waiting_steps(outliers, waited)
        if not _is_notable(outliers, len(seconds), already_open, limits):
            return Abstention((CROWDED,))
    if (
        not cause.name
        and period is None
        and (are_many or _is_tail(outliers, seconds, limits))
    ):
        return None
    interval = round(log_interval_steps or 1)
    return _finding(
        outliers,
        len(seconds),
        cause,
        period,
        loader_workers,
        interval=interval,
        limits=limits,
    )


def _after(values: Array | None, dropped: int) -> Array | None:
    return None if values is None else values[dropped:]


def _without_size(seconds: Array, examples: Array | None, limits: Limits) -> Array:
    """Return the times scaled to one batch size, if the size explains them."""
    if examples is None or not np.ptp(examples) > 0 or not np.ptp(seconds) > 0:
        return seconds
    if not np.corrcoef(examples, seconds)[0, 1] >= limits.size_correlation:
        return seconds
    slope, _ = np.polyfit(examples, seconds, 1)
    level: Array = seconds - slope * (examples - np.median(examples))
    return np.maximum(level, 0.0)


def _is_notable(
    outliers: Outliers, steps: int, already_open: bool, limits: Limits
) -> bool:
    limit = limits.release_share if already_open else limits.notable_share
    is_enough = len(outliers.rows) >= limits.fewest_outliers
    return (
        is_enough and not _are_many(outliers, steps, limits) and outliers.share >= limit
    )


def _are_many(outliers: Outliers, steps: int, limits: Limits) -> bool:
    return len(outliers.rows) > limits.max_outliers_share * steps


def _usual_excess(outliers: Outliers) -> float:
    return float(np.median(outliers.excess))


def _is_tail(outliers: Outliers, seconds: Array, limits: Limits) -> bool:
    """Return whether slow steps are the end of what jitter or varying lengths cause."""
    usual = outliers.median + _usual_excess(outliers)
    return usual < max(limits.min_factor * outliers.median, tail_limit(seconds))


def _cause(
    outliers: Outliers, named: Mapping[str, Array], step_seconds: float, limits: Limits
) -> _Cause:
    """Return the phase that takes the extra time of slow steps.

    A phase that is most of every step is also most of a slow one; it is the cause only
    if it takes far more of the extra time than of a median step.
    """
    excess = float(outliers.excess.sum())
    usual = {name: float(np.median(values)) for name, values in named.items()}
    shares = {
        name: float((values[outliers.rows] - usual[name]).sum()) / excess
        for name, values in named.items()
    }
    name = max(shares, key=lambda name: shares[name], default="")
    usual_share = min(1.0, usual[name] / step_seconds) if name else 0.0
    least = max(limits.cause_share, usual_share + (1.0 - usual_share) / 2)
    if not name or shares[name] < least:
        return _Cause(
            "",
            0.0,
            Recommendation(
                "Name the other work of the loop as phases, so that the run shows which"
                " part makes steps slow.",
                code=phase_line("log"),
            ),
        )
    return _Cause(name, min(1.0, shares[name]), _advice(name))


def _is_much(wait: Array, seconds: Array, limits: Limits) -> bool:
    """Return whether most steps wait for data, which loader rules report."""
    return float(wait.sum()) >= limits.waiting_share * float(seconds.sum())


def _is_own_work(cause: _Cause) -> bool:
    """Return whether slow steps do extra work, such as saving, besides computing."""
    return kind_of_phase(cause.name) in OWN_WORK


def _advice(name: str) -> Recommendation:
    if name == DATA:
        return Recommendation(
            "Increase the prefetch queue, so that one slow batch does not delay a step."
        )
    match kind_of_phase(name):
        case PhaseKind.CHECKPOINT:
            text = (
                "Save less often, or copy the weights and write them in the background."
            )
        case PhaseKind.EVALUATE:
            text = "Evaluate less often, on fewer examples, and with larger batches."
        case PhaseKind.LOG:
            text = "Log less often, and less data at a time."
        case PhaseKind.COMMUNICATE:
            text = "Find the process that the others wait for in these steps."
        case _:
            text = f'Find the extra work of "{name}" in these steps.'
    return Recommendation(text)


def _finding(
    outliers: Outliers,
    steps: int,
    cause: _Cause,
    period: int | None,
    loader_workers: float | None,
    *,
    interval: int,
    limits: Limits,
) -> Finding:
    longer = _usual_excess(outliers) + outliers.median
    regular = f", about every {period * interval} steps" if period else ""
    number = len(outliers.rows)
    slow = (
        f"{count(number, 'step', 'steps')} of {steps:,}"
        if interval == 1
        else f"{number:,} of {steps:,} intervals of {interval} steps"
    )
    mostly = f" {percent(cause.share)} of it is {cause.name}." if cause.name else ""
    recommendations = [cause.advice]
    if period and cause.name == DATA and loader_workers and period == loader_workers:
        recommendations.append(
            Recommendation(
                f"The loader has {loader_workers:g} workers, and every"
                f" {ordinal(loader_workers)} step is slow: their batches arrive together."
                " Increase their prefetch factor."
            )
        )
    return Finding(
        severity=(
            Severity.WARNING
            if outliers.share >= limits.large_share
            else Severity.NOTICE
        ),
        summary=(
            f"{slow} took {duration(longer)} (median) instead of"
            f" {duration(outliers.median)}{regular}. The extra time is"
            f" {percent(outliers.share)} of all time.{mostly}"
        ),
        evidence=_evidence(
            outliers, cause, period and period * interval, interval, limits
        ),
        recommendations=tuple(recommendations),
        disproof=(
            "Train a few hundred steps without other work in the loop: if as many"
            " are slow, the cause lies outside of the script."
        ),
        gain=gain_of_share(outliers.share, "The extra time of slow steps"),
        explains=("gpu-utilization-is-low",) if cause.name != DATA else (),
        # A job that waits for a core has slow steps, regardless of their work.
        comes_after=("cores-are-oversubscribed",),
        margin=margin_above(outliers.share, limits.notable_share),
        corroboration=AGREEING if cause.name or period else ALONE,
    )


def _evidence(
    outliers: Outliers,
    cause: _Cause,
    period: int | None,
    interval: int,
    limits: Limits,
) -> tuple[Evidence, ...]:
    name = "step time" if interval == 1 else f"time of {interval} steps"
    longer = _usual_excess(outliers) + outliers.median
    evidence = [
        Evidence(
            "step_seconds",
            "extra time of slow steps, share of all time",
            outliers.share,
            "share",
            limits.notable_share,
            Side.ABOVE,
            release=limits.release_share,
        ),
        Evidence("step_seconds", f"{name}, median", outliers.median, "s"),
        Evidence("step_seconds", f"{name}, median of the slow ones", longer, "s"),
    ]
    if cause.name:
        evidence.append(
            Evidence(
                "data_wait_seconds" if cause.name == DATA else "phase_seconds",
                f"{cause.name}, share of that extra time",
                cause.share,
                "share",
                limits.cause_share,
                Side.ABOVE,
            )
        )
    if period:
        evidence.append(
            Evidence("step_seconds", "steps between slow steps", float(period), "steps")
        )
    return tuple(evidence)
