"""A rule is a module with a docstring and a `check` function; this reads one.

The parameters of `check` are the signals it needs; those with a default are
optional. `already_open` is no signal: it is true while the rule's finding is open,
when lower limits hold. A module may set `SPAN`, and `NEEDS_INTERVAL_SECONDS`: how far
apart the readings that it needs may be at most, which is one of its limits, too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from types import ModuleType

import numpy as np

from tracker.diagnosis.engine import finding
from tracker.diagnosis.engine.finding import Answer
from tracker.diagnosis.signals import (
    SIGNALS,
    Array,
    EarlierRun,
    Fact,
    Kind,
    Ranks,
    Samples,
    Times,
    Tracked,
)

Check = Callable[..., Answer]
SignalValue = (
    Array
    | Times
    | Samples
    | Fact
    | Ranks
    | EarlierRun
    | Mapping[str, Array]
    | Mapping[str, Samples]
    | Mapping[str, Tracked]
    | Mapping[int, Mapping[str, Samples | Fact]]
)

ALREADY_OPEN = "already_open"
# The last line of a rule's text: its number in the catalogue of faults, such as D3.
CATALOGUE = re.compile(r"^Catalogue: ([A-Z])(\d+),.*$", re.MULTILINE)

# Which part of the work a rule is about, by the letter of its number, in the order in
# which findings of equal weight are shown.
GROUPS = {
    "D": "Data path",
    "C": "Compute",
    "T": "Time",
    "M": "Memory",
    "H": "Hardware",
    "G": "Several GPUs",
    "I": "Inference",
    "P": "Pipeline",
}


# Constants that are no limits, wherever they come from.
UNITS = {"KIB", "MIB", "GIB", "TIB", "KIBI", "MEBI", "GIBI", "MICROSECONDS", "SECOND"}


class Span(Enum):
    """How much of a stage a rule looks at."""

    STEADY = auto()  # the steady part, without warm-up
    STAGE = auto()  # all of it: what happened once is enough


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    group: str  # one of GROUPS, by its letter
    number: int  # within the group
    title: str  # the fault as a sentence without its full stop
    check: Check = field(repr=False)
    needs: tuple[str, ...]
    may_use: tuple[str, ...]
    hears_state: bool  # whether check takes already_open
    span: Span
    explanation: str = field(repr=False)  # Markdown
    # Named constants of the module: the limits.
    limits: Mapping[str, float] = field(repr=False)
    # Readings that are farther apart say nothing to it: it looks at how they fluctuate.
    needs_interval_seconds: float | None = None

    @classmethod
    def from_module(cls, module: ModuleType) -> Rule:
        parameters = inspect.signature(module.check).parameters
        signals = {name: p for name, p in parameters.items() if name != ALREADY_OPEN}
        if unknown := signals.keys() - SIGNALS.keys():
            raise TypeError(
                f"{module.__name__}.check asks for unknown signals: {unknown}"
            )

        title, _, text = (inspect.getdoc(module) or "").partition("\n")
        catalogue = CATALOGUE.search(text)
        if catalogue is None or catalogue[1] not in GROUPS:
            raise TypeError(f"{module.__name__} has no number in the catalogue")
        explanation = CATALOGUE.sub("", text)
        return cls(
            name=module.__name__.rpartition(".")[2].replace("_", "-"),
            group=catalogue[1],
            number=int(catalogue[2]),
            title=title.removesuffix("."),
            check=module.check,
            needs=tuple(n for n, p in signals.items() if p.default is p.empty),
            may_use=tuple(n for n, p in signals.items() if p.default is not p.empty),
            hears_state=ALREADY_OPEN in parameters,
            span=getattr(module, "SPAN", Span.STEADY),
            explanation=explanation.strip(),
            needs_interval_seconds=getattr(module, "NEEDS_INTERVAL_SECONDS", None),
            limits=_limits(module),
        )

    @property
    def order(self) -> tuple[int, int, str]:
        return [*GROUPS].index(self.group), self.number, self.name

    @property
    def is_per_gpu(self) -> bool:
        return any(SIGNALS[name].is_per_gpu for name in self.needs)

    @property
    def is_about_gpus(self) -> bool:
        """Whether it says nothing of a stage that has no GPU."""
        return self.is_per_gpu or "gpus" in self.needs

    @property
    def is_about_ranks(self) -> bool:
        """Whether it says nothing of a stage that is one process."""
        return not {"ranks", "world_size"}.isdisjoint(self.needs)

    @property
    def compares_with(self) -> set[str]:
        """Return the earlier runs without which it has nothing to say."""
        return {name for name in self.needs if SIGNALS[name].kind is Kind.EARLIER}

    @property
    def is_about_requests(self) -> bool:
        """Whether it says nothing of a stage that is a loop."""
        return "requests" in self.needs

    def ask(
        self, values: Mapping[str, SignalValue], *, already_open: bool = False
    ) -> Answer:
        """Ask about one window; `values` holds all of `needs`, some of `may_use`."""
        wanted = {
            name: values[name]
            for name in (*self.needs, *self.may_use)
            if name in values
        }
        # Division by a total of 0 gives NaN, which crosses no limit.
        with np.errstate(all="ignore"):
            if self.hears_state:
                return self.check(**wanted, already_open=already_open)
            return self.check(**wanted)


def constant_of(limit: str) -> str:
    """Return the name of the constant that a limit is."""
    return limit.upper().replace(" ", "_")


def _limits(module: ModuleType) -> dict[str, float]:
    return {
        name.lower().replace("_", " "): value
        for name, value in vars(module).items()
        if name.isupper()
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and name not in UNITS
        # Words for how good a measurement is come from there, and are no limits.
        and not hasattr(finding, name)
    }
