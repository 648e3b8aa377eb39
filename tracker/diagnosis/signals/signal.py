"""Signals: measurements that rules request by name.

A rule gets a per-step signal as an array, aligned with the other such arrays; a sampled
signal as `Samples`, with their times; a fact as its value; phases, spans and tracked series
by name. All numbers are finite, except in tracked series and in device phases of steps
without GPU times; the engine ensures this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Times = NDArray[np.int64]  # microseconds since 1970, UTC
Fact = float | str

WORD = "word"
FLAG = "0 or 1"

# Quality of samples from runs that do not report it.
USUAL_QUALITY = 0.8

# Lines of code that provide signals.
LOADER = "for batch in run.loader(loader):"
PHASE = 'with run.phase("forward"):'
INIT = 'run = agent.init("my run", stage="train")'
DESCRIBE = "agent.frameworks.torch.describe(run, model=model, optimizer=optimizer)"
REQUEST = 'with run.phase("request"):'
PART = 'with run.phase("request"), run.phase("load_model"):'
LADDER = "seamark: select both runs in the runs table and press Create ladder"
FLOPS = "agent.frameworks.torch.describe(run, model=model, flops_per_example=6e12)"
DATASET = "SEAMARK_DATASET=/path/to/data python train.py"
LOSS = 'run.log({"train/loss": loss})'
VALIDATION = 'run.log({"val/loss": loss})'
LEARNING_RATE = 'run.log({"train/lr": scheduler.get_last_lr()[0]})'


class Kind(StrEnum):
    PER_STEP = "per step"
    TIMES = "per step, when it ended"
    PHASES = "per step and phase"
    SPANS = "outside of steps"
    PARTS = "outside of steps, within others"
    SAMPLED = "sampled"
    FACT = "fact"
    TRACKED = "tracked"
    RANKS = "per rank"
    EARLIER = "of an earlier run"
    GPUS = "per GPU"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of one probe in order of time; `quality` as reported by the agent.

    `interval_seconds` is the original sampling interval if some samples are left out.
    """

    times: Times
    values: Array
    quality: float = USUAL_QUALITY
    interval_seconds: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tracked:
    """A series that the user logged, in order of steps; values may be NaN or infinite."""

    steps: Array
    times: Times
    values: Array


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Steps that all ranks of a stage have, aligned by number.

    `columns` holds `step_seconds` and, if every rank has them, `data_wait_seconds`,
    `phase/<name>` and `device/<name>`: arrays of shape (steps, ranks). `times` are the
    ends of the steps on the first rank.
    """

    ranks: tuple[int, ...] = ()
    numbers: Array = field(default_factory=lambda: np.empty(0))
    times: Times = field(default_factory=lambda: np.empty(0, np.int64))
    columns: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class EarlierRun:
    """The same stage of another run of the project, as far as it is known.

    `parts` are mean seconds per step by name, `step_seconds` is the mean step time.
    `examples_per_second` is per rank. `step_times`, with the examples of each step, and
    `losses` are set for rules that compare learning.
    """

    name: str
    ranks: float = 1.0
    step_seconds: float = 0.0
    examples_per_second: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    step_times: Times = field(default_factory=lambda: np.empty(0, np.int64))
    step_examples: Array = field(default_factory=lambda: np.empty(0))
    losses: Mapping[str, Tracked] = field(default_factory=dict)
    medians: tuple[
        float, ...
    ] = ()  # step times of several runs, if this object represents them


@dataclass(frozen=True, slots=True)
class Signal:
    """`path` is relative to `monitoring/<stage>/`; empty if computed from other data.

    `code` is the line of code that provides the signal.
    """

    name: str
    path: str
    unit: str
    kind: Kind
    description: str
    code: str

    @property
    def is_text(self) -> bool:
        """Return whether the fact is a word and not a number; words have no unit."""
        return self.unit == WORD

    @property
    def is_flag(self) -> bool:
        """Return whether the fact is yes (1) or no (0)."""
        return self.unit == FLAG

    @property
    def is_per_gpu(self) -> bool:
        return "<i>" in self.path


def per_step(name: str, path: str, unit: str, description: str) -> Signal:
    return Signal(name, path, unit, Kind.PER_STEP, description, LOADER)


def sampled(name: str, path: str, unit: str, description: str) -> Signal:
    return Signal(name, path, unit, Kind.SAMPLED, description, INIT)


def fact(name: str, path: str, unit: str, description: str, code: str = INIT) -> Signal:
    return Signal(name, path, unit, Kind.FACT, description, code)
