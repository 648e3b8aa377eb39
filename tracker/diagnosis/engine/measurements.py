"""All measurements of one stage, as arrays that can be cut to a window.

Windows are half open, `start < time <= end`: a step's time is its end, and a sample
describes the interval before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.breakdown.phases import OF_SERVICES, PhaseKind, kind_of_phase
from tracker.diagnosis.engine.rule import SignalValue
from tracker.diagnosis.signals import (
    Array,
    EarlierRun,
    Fact,
    Ranks,
    Samples,
    Times,
    Tracked,
)

# A larger value comes from a broken counter.
LARGEST = 1e18

# Smaller facts are treated as 0, because a division by them overflows.
SMALLEST_FACT = 1e-9

# A shorter step means that the clock did not advance.
SHORTEST_STEP_SECONDS = 1e-9

MICROSECONDS = 1_000_000

# A GPU in a collective is "busy" with few active multiprocessors.
SPINNING_PERCENT = 85.0
SPINNING_SM_PERCENT = 20.0

# Times come from the clocks of machines; years after 9999 are not valid dates.
LATEST = 253_402_300_799 * MICROSECONDS

# Columns that may be unknown in some steps, with their minimum value.
SOMETIMES_UNKNOWN = {"step_examples": 1e-9, "exposed_wait_seconds": 0.0}
# Only traced steps have these; other steps have 0 and no kernels.
TRACED = (
    "exposed_communication_seconds",
    "exposed_copy_seconds",
    "traced_kernels",
    "traced_idle_seconds",
    "traced_longest_gap_seconds",
)
IN_SCRIPT, ON_DEVICE = "phase_seconds", "device_phase_seconds"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    start: int  # microseconds since 1970, exclusive
    end: int  # inclusive

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / MICROSECONDS


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Per-step signals in order of time, aligned: one row per step.

    `phases` holds the signals of kind PHASES by name, with one array per phase.
    """

    numbers: Array
    times: Times
    columns: Mapping[str, Array]
    phases: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)

    @classmethod
    def none(cls) -> Steps:
        return cls(np.empty(0), np.empty(0, np.int64), {})

    def __len__(self) -> int:
        return len(self.times)

    def select(self, rows: slice | NDArray[np.bool_] | NDArray[np.int64]) -> Steps:
        columns = {name: column[rows] for name, column in self.columns.items()}
        phases = {
            signal: {name: column[rows] for name, column in named.items()}
            for signal, named in self.phases.items()
        }
        return Steps(self.numbers[rows], self.times[rows], columns, phases)


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """`gpus` holds the per-GPU signals by GPU number.

    `gpu_count` is 0 if the driver reports no GPU, and None if unknown. `logged_steps` are
    intervals between logged points, of a script that does not time its steps.
    """

    steps: Steps = field(default_factory=Steps.none)
    logged_steps: Steps = field(default_factory=Steps.none)
    samples: Mapping[str, Samples] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    gpus: Mapping[int, Mapping[str, Samples | Fact]] = field(default_factory=dict)
    gpu_count: int | None = None
    spans: Mapping[str, Samples] = field(default_factory=dict)
    # Times of phases within requests, at the end of each request.
    request_parts: Mapping[str, Samples] = field(default_factory=dict)
    losses: Mapping[str, Tracked] = field(default_factory=dict)
    evaluations: Mapping[str, Tracked] = field(default_factory=dict)
    learning_rates: Mapping[str, Tracked] = field(default_factory=dict)
    ranks: Ranks = field(default_factory=Ranks)
    # Other runs, by signal name.
    earlier: Mapping[str, EarlierRun] = field(default_factory=dict)

    @property
    def is_one_process(self) -> bool:
        """Return whether only one process took part; False if unknown."""
        counts = [self.facts.get(name) for name in ("world_size", "logging_ranks")]
        known = [count for count in counts if isinstance(count, int | float)]
        return bool(known) and max(known) <= 1 and not len(self.ranks.times)

    def within(self, window: Window) -> Measurements:
        return replace(
            self,
            steps=self.steps.select(_rows(self.steps.times, window)),
            logged_steps=self.logged_steps.select(
                _rows(self.logged_steps.times, window)
            ),
            samples={
                name: _cut(samples, window) for name, samples in self.samples.items()
            },
            gpus={
                gpu: {
                    name: _cut(value, window) if isinstance(value, Samples) else value
                    for name, value in signals.items()
                }
                for gpu, signals in self.gpus.items()
            },
            spans=filled(
                {name: _cut(span, window) for name, span in self.spans.items()}
            ),
            request_parts=filled(
                {name: _cut(part, window) for name, part in self.request_parts.items()}
            ),
            losses=_cut_all(self.losses, window),
            evaluations=_cut_all(self.evaluations, window),
            learning_rates=_cut_all(self.learning_rates, window),
            ranks=_cut_ranks(self.ranks, window),
        )

    def values(self, gpu: int | None = None) -> dict[str, SignalValue]:
        """Return the signals for a rule by name; signals without a value are absent."""
        sampled: dict[str, Samples | Fact] = dict(self.samples)
        if gpu is not None:
            sampled |= self.gpus[gpu]

        values: dict[str, SignalValue] = dict(self.facts)
        if len(self.steps):
            values |= self.steps.columns
            values["step_times"] = self.steps.times
            values |= {
                name: named for name, named in self.steps.phases.items() if named
            }
        if self.gpus:
            values["gpus"] = self.gpus
        if self.spans:
            values["spans"] = self.spans
        if requests := _requests(self.spans):
            values["requests"] = requests
        if self.request_parts:
            values["request_parts"] = self.request_parts
        values |= self.earlier
        for name, tracked in (
            ("losses", self.losses),
            ("evaluations", self.evaluations),
            ("learning_rates", self.learning_rates),
        ):
            if tracked:
                values[name] = tracked
        if len(self.ranks.times):
            values["ranks"] = self.ranks
        for name, value in sampled.items():
            if not isinstance(value, Samples) or len(value.values):
                values[name] = value
        return values

    def with_logged_steps(self) -> Measurements:
        """Return the logged intervals as steps, if no steps were timed."""
        return self if len(self.steps) else replace(self, steps=self.logged_steps)

    def span(self) -> Window | None:
        """Return the window from the first measurement to the last."""
        arrays = [self.steps.times, *(s.times for s in self.all_samples())]
        filled = [times for times in arrays if len(times)]
        if not filled:
            return None

        first = min(int(times[0]) for times in filled)
        # The window excludes its start, so it starts before the first measurement.
        return Window(first - 1, max(int(times[-1]) for times in filled))

    def span_of_losses(self) -> Window | None:
        """Return the window from the first point of a loss to the last."""
        filled = [loss.times for loss in self.losses.values() if len(loss.times)]
        if not filled:
            return None
        first = min(int(times.min()) for times in filled)
        return Window(first - 1, max(int(times.max()) for times in filled))

    def all_samples(self) -> Iterator[Samples]:
        yield from self.samples.values()
        for signals in self.gpus.values():
            for value in signals.values():
                if isinstance(value, Samples):
                    yield value


def clean(measurements: Measurements) -> Measurements:
    """Remove invalid values, so that rules get finite numbers only."""
    gpus = {
        gpu: {
            name: _clean_samples(value) if isinstance(value, Samples) else value
            for name, value in _clean_facts(signals).items()
        }
        for gpu, signals in measurements.gpus.items()
    }
    samples = {
        name: _clean_samples(value) for name, value in measurements.samples.items()
    }
    busiest = _busiest(gpus)
    if len(busiest.times):
        samples["busiest_gpu_percent"] = busiest

    return replace(
        measurements,
        steps=_with_gaps(_clean_steps(measurements.steps)),
        logged_steps=_clean_steps(measurements.logged_steps),
        samples=samples,
        facts=_clean_facts(measurements.facts),
        gpus=gpus,
        spans=filled(
            {name: _clean_samples(span) for name, span in measurements.spans.items()}
        ),
        request_parts=filled(
            {
                name: _clean_samples(part)
                for name, part in measurements.request_parts.items()
            }
        ),
        ranks=_clean_ranks(measurements.ranks),
        earlier={
            name: earlier
            for name, earlier in measurements.earlier.items()
            if _is_known(earlier)
        },
    )


def filled(spans: Mapping[str, Samples]) -> dict[str, Samples]:
    """Return the spans that are not empty."""
    return {name: span for name, span in spans.items() if len(span.values)}


def _requests(spans: Mapping[str, Samples]) -> dict[str, Samples]:
    """Return the phases of a service; empty for a script without requests."""
    kinds = {name: kind_of_phase(name) for name in spans}
    if PhaseKind.REQUEST not in kinds.values():
        return {}
    return {name: span for name, span in spans.items() if kinds[name] in OF_SERVICES}


def _is_known(earlier: EarlierRun) -> bool:
    """Return whether the numbers are valid; series are checked where they are used."""
    numbers = [earlier.ranks, earlier.step_seconds, earlier.examples_per_second]
    numbers += [*earlier.parts.values(), *earlier.medians]
    known = (
        _is_measurement(np.array(numbers))
        & _is_measurement(earlier.step_examples).all()
    )
    return bool(np.all(known))


def _clean_steps(steps: Steps) -> Steps:
    seconds = steps.columns.get("step_seconds")
    if seconds is None:
        return Steps.none()

    for name, least in SOMETIMES_UNKNOWN.items():
        column = steps.columns.get(name)
        if column is not None and not np.all(
            _is_measurement(column) & (column >= least)
        ):
            # A column with unknown steps is dropped instead of these steps.
            columns = {other: c for other, c in steps.columns.items() if other != name}
            steps = replace(steps, columns=columns)

    traced = {
        name: np.where(_is_measurement(steps.columns[name]), steps.columns[name], 0.0)
        for name in TRACED
        if name in steps.columns
    }
    steps = replace(steps, columns={**steps.columns, **traced})
    good = _is_measurement(seconds) & (seconds >= SHORTEST_STEP_SECONDS)
    good &= _is_date(steps.times)
    for column in steps.columns.values():
        good &= _is_measurement(column) & (column >= 0)
    steps = _clean_phases(steps.select(good))

    # Clocks of several machines may differ; windows need ordered times.
    if np.any(np.diff(steps.times) < 0):
        steps = steps.select(np.argsort(steps.times, kind="stable"))
    ends = steps.times / MICROSECONDS
    return replace(steps, columns={**steps.columns, "step_end_seconds": ends})


def _with_gaps(steps: Steps) -> Steps:
    """Add the time between each step and the one before it.

    Only consecutive step numbers have a gap, so the time of a restart does not count.
    """
    if not len(steps):
        return steps
    gaps = np.zeros(len(steps))
    between = np.diff(steps.times) / MICROSECONDS - steps.columns["step_seconds"][1:]
    follows = np.diff(steps.numbers) == 1
    gaps[1:] = np.where(follows, np.maximum(between, 0.0), 0.0)
    return replace(steps, columns={**steps.columns, "gap_before_step_seconds": gaps})


def _clean_phases(steps: Steps) -> Steps:
    """Set the time of phases that a step did not enter to 0, in the script and on the GPU.

    The GPU time of an entered phase may be unknown (NaN).
    """
    phases = {
        signal: {
            name: np.where(_is_time(column), column, 0.0)
            for name, column in named.items()
        }
        for signal, named in steps.phases.items()
    }
    script = phases.get(IN_SCRIPT, {})
    for name, column in steps.phases.get(ON_DEVICE, {}).items():
        is_unknown = ~_is_time(column)
        if name in script:
            is_unknown &= script[name] > 0
        phases[ON_DEVICE][name] = np.where(is_unknown, np.nan, phases[ON_DEVICE][name])
    return replace(steps, phases=phases)


def _is_time(column: Array) -> NDArray[np.bool_]:
    return _is_measurement(column) & (column >= 0)


def _clean_ranks(ranks: Ranks) -> Ranks:
    good = _is_date(ranks.times)
    for name, column in ranks.columns.items():
        least = SHORTEST_STEP_SECONDS if name == "step_seconds" else 0.0
        good &= np.all(_is_measurement(column) & (column >= least), axis=1)
    ranks = _select_ranks(ranks, good)
    if np.any(np.diff(ranks.times) < 0):
        ranks = _select_ranks(ranks, np.argsort(ranks.times, kind="stable"))
    return ranks


def _clean_samples(samples: Samples) -> Samples:
    good = _is_measurement(samples.values) & _is_date(samples.times)
    times, values = samples.times[good], samples.values[good]
    if np.any(np.diff(times) < 0):
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    return replace(samples, times=times, values=values)


def _clean_facts(facts: Mapping[str, T]) -> dict[str, T]:
    return {
        name: value
        for name, value in facts.items()
        if not isinstance(value, int | float)
        or value == 0
        or SMALLEST_FACT <= abs(value) <= LARGEST
    }


def _is_measurement(values: Array) -> NDArray[np.bool_]:
    # False for NaN, too.
    return np.abs(values) <= LARGEST


def _is_date(times: Times) -> NDArray[np.bool_]:
    return (times > 0) & (times <= LATEST)


def _without_spinning(signals: Mapping[str, Samples | Fact]) -> Samples | None:
    """Return a GPU's utilization, replaced by SM activity while it only spins."""
    busy = signals.get("gpu_utilization_percent")
    working = signals.get("gpu_sm_active_percent")
    if not isinstance(busy, Samples):
        return None
    if not isinstance(working, Samples) or not len(working.times):
        return busy
    near = np.searchsorted(working.times, busy.times, side="right") - 1
    active = working.values[np.maximum(near, 0)]
    is_spinning = (
        (near >= 0) & (busy.values >= SPINNING_PERCENT) & (active < SPINNING_SM_PERCENT)
    )
    return replace(busy, values=np.where(is_spinning, active, busy.values))


def _busiest(gpus: Mapping[int, Mapping[str, Samples | Fact]]) -> Samples:
    found = (
        # A single GPU has no other GPU to wait for.
        _without_spinning(signals)
        if len(gpus) > 1
        else signals.get("gpu_utilization_percent")
        for signals in gpus.values()
    )
    readings = [value for value in found if isinstance(value, Samples)]
    if not readings:
        return Samples(np.empty(0, np.int64), np.empty(0))

    first, *others = readings
    if all(np.array_equal(first.times, other.times) for other in others):
        # Samples of a trace have equal times and come far more often than once a second.
        values = np.maximum.reduce([samples.values for samples in readings])
        return Samples(first.times, values)

    # The agent samples all GPUs within one tick, at most a second apart.
    times = np.concatenate([samples.times for samples in readings])
    values = np.concatenate([samples.values for samples in readings])
    order = np.argsort(times, kind="stable")
    ticks, starts = np.unique(times[order] // MICROSECONDS, return_index=True)
    if not len(ticks):
        return Samples(times, values)
    return Samples(times[order][starts], np.maximum.reduceat(values[order], starts))


def _cut(samples: Samples, window: Window) -> Samples:
    rows = _rows(samples.times, window)
    return replace(samples, times=samples.times[rows], values=samples.values[rows])


def _cut_all(tracked: Mapping[str, Tracked], window: Window) -> dict[str, Tracked]:
    return {path: _cut_tracked(series, window) for path, series in tracked.items()}


def _cut_tracked(series: Tracked, window: Window) -> Tracked:
    # A mask, because logged series may be unordered.
    rows = (series.times > window.start) & (series.times <= window.end)
    return Tracked(series.steps[rows], series.times[rows], series.values[rows])


def _cut_ranks(ranks: Ranks, window: Window) -> Ranks:
    return _select_ranks(ranks, _rows(ranks.times, window))


def _select_ranks(
    ranks: Ranks, rows: slice | NDArray[np.bool_] | NDArray[np.int64]
) -> Ranks:
    columns = {name: column[rows] for name, column in ranks.columns.items()}
    return Ranks(ranks.ranks, ranks.numbers[rows], ranks.times[rows], columns)


def _rows(times: Times, window: Window) -> slice:
    start, end = np.searchsorted(times, (window.start, window.end), side="right")
    return slice(int(start), int(end))
