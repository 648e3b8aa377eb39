"""Images are decoded on the CPU while GPU decoders are idle.

## Detection
Steps that wait for data because the CPU cannot prepare it fast enough, with decoding as a
large part of the work, while all decoders of the GPUs are idle.

## Why it matters
GPUs decode JPEG files and video, some with dedicated engines that training does not use. The
CPU cores are then free for other work.

## Limitations
Decoding is measured only in a named phase of the logging process; loader workers are not seen.
Decoding adds work to the GPU: measure it. If the GPU is mostly busy, nothing is reported.

Catalogue: D10, decoding on the CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import highest, margin_above, typical
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.input.code_lines import gpu_decoder_line
from tracker.diagnosis.input.loading import Loading, measure_loading
from tracker.diagnosis.input.waiting import Waiting, measure_notable_waiting
from tracker.diagnosis.signals import Array, Fact, Samples

ENGINES = ("gpu_jpeg_percent", "gpu_decoder_percent")
DECODE_PHASE = "the time of decoding, as a phase"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of the CPU time for loading.
    decoding_share: float = 0.40
    max_gpu_percent: float = 85.0
    # Share of time; a decoder in use is above it.
    idle_decoder_percent: float = 1.0

    # The limits of the rule about CPU-bound preprocessing.
    full_cpu_share: float = 0.80
    full_cpu_release_share: float = 0.70
    busy_loader_cores: float = 0.80
    busy_loader_release_cores: float = 0.70


@dataclass(frozen=True, slots=True)
class _Decoding:
    seconds: float  # per step
    share: float  # of loading
    engine_percent: float | None
    gpu_percent: float


def check(
    *,
    step_seconds: Array,
    data_wait_seconds: Array,
    job_cpu_cores: Samples,
    effective_cores: float,
    busiest_gpu_percent: Samples,
    gpus: Mapping[int, Mapping[str, Samples | Fact]],
    phase_seconds: Mapping[str, Array] | None = None,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    worker_cpu_cores: Samples | None = None,
    job_main_cpu_cores: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    waiting = measure_notable_waiting(
        step_seconds, data_wait_seconds, busiest_gpu_percent, already_open=already_open
    )
    if waiting is None:
        return None
    engine = _busiest_engine(gpus)
    gpu_percent = typical(busiest_gpu_percent)
    loading = measure_loading(
        waiting,
        job_cpu_cores,
        loader_workers=loader_workers,
        job_workers=job_workers,
        worker_cpu_cores=worker_cpu_cores,
        job_main_cpu_cores=job_main_cpu_cores,
    )
    if loading is None or not effective_cores > 0:
        return Abstention(("loader_workers", "worker_cpu_cores"))
    full = limits.full_cpu_release_share if already_open else limits.full_cpu_share
    busy = (
        limits.busy_loader_release_cores if already_open else limits.busy_loader_cores
    )
    is_cpu_bound = (
        typical(job_cpu_cores) >= full * effective_cores or loading.busy_cores >= busy
    )
    gpu_has_time = (
        gpu_percent <= limits.max_gpu_percent
        and (engine or 0.0) <= limits.idle_decoder_percent
    )
    if not is_cpu_bound or not gpu_has_time:
        return None

    decoding = seconds_of_kind(phase_seconds or {}, PhaseKind.DECODE)
    if decoding is None:
        return Abstention((DECODE_PHASE,))
    seconds = float(np.mean(decoding))
    found = _Decoding(
        seconds, min(1.0, seconds / loading.cpu_seconds), engine, gpu_percent
    )
    is_notable = found.share >= limits.decoding_share
    return _finding(waiting, loading, found, framework, limits) if is_notable else None


def _busiest_engine(gpus: Mapping[int, Mapping[str, Samples | Fact]]) -> float | None:
    """Return the peak utilization of the decoders; None if no card reports it."""
    found = [
        highest(value)
        for signals in gpus.values()
        for name in ENGINES
        if isinstance(value := signals.get(name), Samples) and len(value.values)
    ]
    return max(found) if found else None


def _finding(
    waiting: Waiting,
    loading: Loading,
    decoding: _Decoding,
    framework: str | None,
    limits: Limits,
) -> Finding:
    engines = (
        " while the GPU decoders are idle"
        if decoding.engine_percent is not None
        else ""
    )
    removed = waiting.exposed_share * decoding.share * waiting.step_seconds
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"Decoding takes {duration(decoding.seconds)} of CPU time per batch,"
            f" {percent(decoding.share)} of loading{engines}. Steps wait"
            f" {percent(waiting.exposed_share)} of their time for data."
        ),
        evidence=_evidence(waiting, loading, decoding, limits),
        recommendations=(
            Recommendation(
                "Decode on the GPU, and measure the cost for the training step.",
                code=gpu_decoder_line(framework),
            ),
            Recommendation(
                "Or decode once, before training, and store smaller images or arrays.",
                code='run = agent.init("my run", stage="preprocess")',
            ),
            Recommendation(
                "Or use a faster decoder for the CPU, such as libjpeg-turbo."
            ),
        ),
        disproof=(
            "Load images that are already decoded: if steps wait as long as now, decoding"
            " is not the limit."
        ),
        gain=expected_gain(
            waiting.step_seconds,
            (
                waiting.own_work,
                Floor(waiting.step_seconds - removed, "the rest of loading"),
            ),
        ),
        explains=("preprocessing-is-cpu-bound", "data-wait-dominates"),
        comes_after=("too-few-loader-workers",),
        quality=SAMPLED,
        margin=margin_above(decoding.share, limits.decoding_share),
        corroboration=ALONE if decoding.engine_percent is None else AGREEING,
    )


def _evidence(
    waiting: Waiting, loading: Loading, decoding: _Decoding, limits: Limits
) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            "phase_seconds",
            "decoding, share of the CPU time of loading",
            decoding.share,
            "share",
            limits.decoding_share,
            Side.ABOVE,
        ),
        Evidence(
            "job_cpu_cores", "CPU time to load one batch", loading.cpu_seconds, "s"
        ),
        Evidence(
            "busiest_gpu_percent",
            "GPU utilization, median",
            decoding.gpu_percent,
            "%",
            limits.max_gpu_percent,
            Side.BELOW,
        ),
        waiting.evidence(),
    ]
    if decoding.engine_percent is not None:
        found.append(
            Evidence(
                "gpu_jpeg_percent",
                "utilization of the GPU decoders, peak",
                decoding.engine_percent,
                "%",
                limits.idle_decoder_percent,
                Side.BELOW,
            )
        )
    return tuple(found)
