"""The parts of the step time, and the comparison of two such breakdowns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracker.diagnosis.analysis.steady import find_steady_part
from tracker.diagnosis.engine.measurements import Measurements, Steps, Window, clean
from tracker.diagnosis.signals import Array, Samples

DATA_WAIT, OTHER = "data wait", "other"
EXAMPLES = "step/examples"
PHASE_START, PHASE_END = "step/phase/", "_seconds"

# Throughput is computed per block, which gives its spread. Runs with too few steps for
# three blocks have shorter ones and a rough result; long runs have longer blocks.
BLOCK_STEPS = 50
SHORTEST_BLOCK_STEPS = 10
WANTED_BLOCKS = 6
MAX_BLOCKS = 200
FEWEST_BLOCKS = 3

RESAMPLES = 4000
INTERVAL = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    seconds: float  # mean per step


@dataclass(frozen=True, slots=True)
class StepBreakdown:
    """The steady part of a stage; `parts` add up to `mean_step_seconds`.

    `blocks` are examples per second, or steps per second if the examples are unknown;
    `examples_per_step` is None then.
    """

    window: Window
    step_count: int
    is_steady: bool
    median_step_seconds: float
    mean_step_seconds: float
    parts: tuple[Part, ...]
    steps_per_second: float
    examples_per_step: float | None
    blocks: tuple[float, ...]
    cpu_cores: float | None
    cpu_percent: float | None  # of the job's cores
    gpu_percent: float | None  # mean over the GPUs

    @property
    def examples_per_second(self) -> float | None:
        if self.examples_per_step is None:
            return None
        return self.steps_per_second * self.examples_per_step

    @property
    def data_wait_share(self) -> float:
        waits = [part.seconds for part in self.parts if part.name == DATA_WAIT]
        return sum(waits) / self.mean_step_seconds


@dataclass(frozen=True, slots=True)
class Ratio:
    """Throughput after divided by throughput before, with its 95 % interval."""

    ratio: float
    low: float
    high: float
    is_rough: bool = False  # one of the two has fewer than three blocks of 50 steps


def break_down(measurements: Measurements) -> StepBreakdown | None:
    """Return None if no steps were measured.

    Step columns other than signals are named by their path.
    """
    measurements, examples = _prepare(measurements)
    steady = find_steady_part(measurements) if len(measurements.steps) else None
    if steady is None:
        return None

    within = measurements.within(steady.window)
    seconds = within.steps.columns["step_seconds"]
    mean = float(seconds.mean())
    per_step = within.steps.columns[EXAMPLES] if examples else None
    cpu_cores = _mean(within.samples.get("job_cpu_cores"))
    return StepBreakdown(
        window=steady.window,
        step_count=len(seconds),
        is_steady=steady.is_steady,
        median_step_seconds=float(np.median(seconds)),
        mean_step_seconds=mean,
        parts=_parts(within.steps, mean),
        steps_per_second=1.0 / mean,
        examples_per_step=None if per_step is None else float(per_step.mean()),
        blocks=_throughput_of_blocks(seconds, per_step),
        cpu_cores=cpu_cores,
        cpu_percent=_percent(cpu_cores, measurements.facts.get("effective_cores")),
        gpu_percent=_gpu_percent(within),
    )


def compare_throughput(before: StepBreakdown, after: StepBreakdown) -> Ratio | None:
    """Return None with too few blocks, or if only one side counts examples.

    Also None if a block has no examples, because the time per example is then undefined.
    """
    counts_differ = (before.examples_per_step is None) != (
        after.examples_per_step is None
    )
    if counts_differ or min(len(before.blocks), len(after.blocks)) < FEWEST_BLOCKS:
        return None
    if not all(block > 0 for block in (*before.blocks, *after.blocks)):
        return None

    # Averages seconds per example or step: blocks have equal sizes, so this is the mean of
    # the whole series, while averaging rates would overweight fast blocks.
    old, new = 1.0 / np.array(before.blocks), 1.0 / np.array(after.blocks)
    # A fixed seed makes the result repeatable.
    random = np.random.default_rng(0)
    ratios = _resampled_means(old, random) / _resampled_means(new, random)
    low, high = np.percentile(ratios, INTERVAL)
    fewest = min(before.step_count, after.step_count)
    return Ratio(
        float(old.mean() / new.mean()),
        float(low),
        float(high),
        is_rough=fewest < FEWEST_BLOCKS * BLOCK_STEPS,
    )


def _resampled_means(blocks: Array, random: np.random.Generator) -> Array:
    chosen = random.integers(len(blocks), size=(RESAMPLES, len(blocks)))
    means: Array = blocks[chosen].mean(axis=1)
    return means


def _prepare(measurements: Measurements) -> tuple[Measurements, bool]:
    """Fill gaps that need not exclude a step; return whether examples are known."""
    steps = measurements.steps
    columns = {
        # A phase that a step did not enter took no time.
        name: np.nan_to_num(column) if name.startswith(PHASE_START) else column
        for name, column in steps.columns.items()
    }

    examples = columns.pop(EXAMPLES, np.full(len(steps), np.nan))
    # The loader's batch size replaces batches that could not be counted.
    examples = np.where(
        np.isfinite(examples), examples, _number(measurements.facts.get("batch_size"))
    )
    counts = bool(len(examples)) and bool(np.all(examples > 0))
    if counts:
        columns[EXAMPLES] = examples
    return clean(
        replace(measurements, steps=Steps(steps.numbers, steps.times, columns))
    ), counts


def _number(fact: float | str | None) -> float:
    return fact if isinstance(fact, int | float) else math.nan


def _parts(steps: Steps, mean_step_seconds: float) -> tuple[Part, ...]:
    parts = [
        Part(name.removeprefix(PHASE_START).removesuffix(PHASE_END), float(c.mean()))
        for name, c in steps.columns.items()
        if name.startswith(PHASE_START)
    ]
    if "data_wait_seconds" in steps.columns:
        wait = float(steps.columns["data_wait_seconds"].mean())
        parts.insert(0, Part(DATA_WAIT, wait))
    # Phases in several threads can add up to more than the step.
    other = mean_step_seconds - sum(part.seconds for part in parts)
    return (*parts, Part(OTHER, max(0.0, other)))


def _throughput_of_blocks(seconds: Array, per_step: Array | None) -> tuple[float, ...]:
    size = BLOCK_STEPS
    if len(seconds) < FEWEST_BLOCKS * BLOCK_STEPS:
        size = max(SHORTEST_BLOCK_STEPS, len(seconds) // WANTED_BLOCKS)
    size = max(size, len(seconds) // MAX_BLOCKS)
    count = len(seconds) // size
    if not count:
        return ()

    # Steps that do not fill a block are left out.
    amounts = np.ones(len(seconds)) if per_step is None else per_step
    amount = amounts[: count * size].reshape(count, size).sum(axis=1)
    duration = seconds[: count * size].reshape(count, size).sum(axis=1)
    return tuple(float(value) for value in amount / duration)


def _mean(samples: Samples | None) -> float | None:
    if samples is None or not len(samples.values):
        return None
    return float(samples.values.mean())


def _percent(cores: float | None, effective: float | str | None) -> float | None:
    if cores is None or not isinstance(effective, int | float) or effective <= 0:
        return None
    return 100.0 * cores / effective


def _gpu_percent(measurements: Measurements) -> float | None:
    means: Sequence[float] = [
        mean
        for signals in measurements.gpus.values()
        for name, value in signals.items()
        if name == "gpu_utilization_percent" and isinstance(value, Samples)
        if (mean := _mean(value)) is not None
    ]
    return sum(means) / len(means) if means else None
