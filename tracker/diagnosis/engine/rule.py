"""Reads a rule from its module, which has a docstring and a `check` function.

The parameters of `check` are signals; those with a default are optional. Two are not
signals: `already_open` is true while the rule's finding is open, and release limits apply;
`limits` is a frozen dataclass whose fields are the limits that a project may change.
A module may set `SPAN`. It may also have a function `check_profile`, which judges the whole
stage by the profile of the code if `check` lacks signals.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

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

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
LIMITS = "limits"
# The last line of a rule's docstring: its number in the catalog, such as D3.
CATALOGUE = re.compile(r"^Catalogue: ([A-Z])(\d+),.*$", re.MULTILINE)

# Subject of a rule, by the letter of its number, in the order in which findings of equal
# weight are shown.
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


class Span(Enum):
    """The part of a stage that a rule judges."""

    STEADY = auto()  # the steady part, without warm-up
    STAGE = auto()  # the whole stage, because a single event counts


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    group: str  # one of GROUPS, by its letter
    number: int  # within the group
    title: str  # the fault as a sentence without the final period
    check: Check = field(repr=False)
    needs: tuple[str, ...]
    may_use: tuple[str, ...]
    hears_state: bool  # whether check takes already_open
    span: Span
    explanation: str = field(repr=False)  # Markdown
    # An instance of the module's dataclass of limits.
    limit_values: DataclassInstance | None = field(repr=False)
    # The same rule with `check_profile`.
    of_profile: Rule | None = field(default=None, repr=False)

    @classmethod
    def from_module(cls, module: ModuleType) -> Rule:
        span = getattr(module, "SPAN", Span.STEADY)
        found = cls._from_function(module, module.check, span)
        if not hasattr(module, "check_profile"):
            return found
        other = cls._from_function(module, module.check_profile, Span.STAGE)
        return replace(found, of_profile=other)

    @classmethod
    def _from_function(cls, module: ModuleType, check: Check, span: Span) -> Rule:
        parameters = inspect.signature(check).parameters
        signals = {
            name: parameter
            for name, parameter in parameters.items()
            if name not in (ALREADY_OPEN, LIMITS)
        }
        if unknown := signals.keys() - SIGNALS.keys():
            raise TypeError(f"{module.__name__} uses unknown signals: {unknown}")

        title, _, text = (inspect.getdoc(module) or "").partition("\n")
        catalogue = CATALOGUE.search(text)
        if catalogue is None or catalogue[1] not in GROUPS:
            raise TypeError(f"{module.__name__} has no catalogue number")
        explanation = CATALOGUE.sub("", text)
        return cls(
            name=module.__name__.rpartition(".")[2].replace("_", "-"),
            group=catalogue[1],
            number=int(catalogue[2]),
            title=title.removesuffix("."),
            check=check,
            needs=tuple(n for n, p in signals.items() if p.default is p.empty),
            may_use=tuple(n for n, p in signals.items() if p.default is not p.empty),
            hears_state=ALREADY_OPEN in parameters,
            span=span,
            explanation=explanation.strip(),
            limit_values=parameters[LIMITS].default if LIMITS in parameters else None,
        )

    @property
    def limits(self) -> dict[str, float]:
        """Return the limits by their names for people and in the database."""
        values = self.limit_values
        if values is None:
            return {}
        return {_limit_of(f.name): getattr(values, f.name) for f in fields(values)}

    def with_limits(self, changed: Mapping[str, float]) -> Rule:
        """Return the rule with other values for some of its limits."""
        values = self.limit_values
        assert values is not None
        by_field = {_field_of(limit): value for limit, value in changed.items()}
        limit_values = replace(values, **by_field)
        other = self.of_profile
        if other is not None:
            other = replace(other, limit_values=limit_values)
        return replace(self, limit_values=limit_values, of_profile=other)

    @property
    def order(self) -> tuple[int, int, str]:
        return [*GROUPS].index(self.group), self.number, self.name

    @property
    def is_per_gpu(self) -> bool:
        return any(SIGNALS[name].is_per_gpu for name in self.needs)

    @property
    def is_about_gpus(self) -> bool:
        """Return whether the rule does not apply to a stage without a GPU."""
        return self.is_per_gpu or "gpus" in self.needs

    @property
    def is_about_ranks(self) -> bool:
        """Return whether the rule does not apply to a stage with one process."""
        return not {"ranks", "world_size"}.isdisjoint(self.needs)

    @property
    def compares_with(self) -> set[str]:
        """Return the signals of earlier runs that the rule requires."""
        return {name for name in self.needs if SIGNALS[name].kind is Kind.EARLIER}

    @property
    def is_about_requests(self) -> bool:
        """Return whether the rule does not apply to a stage that is a loop."""
        return "requests" in self.needs

    def ask(
        self, values: Mapping[str, SignalValue], *, already_open: bool = False
    ) -> Answer:
        """Evaluate one window; `values` has all of `needs` and some of `may_use`."""
        arguments: dict[str, object] = {
            name: values[name]
            for name in (*self.needs, *self.may_use)
            if name in values
        }
        if self.hears_state:
            arguments[ALREADY_OPEN] = already_open
        if self.limit_values is not None:
            arguments[LIMITS] = self.limit_values
        # A division by a total of 0 gives NaN, which crosses no limit.
        with np.errstate(all="ignore"):
            return self.check(**arguments)


def _limit_of(field_name: str) -> str:
    return field_name.replace("_", " ")


def _field_of(limit: str) -> str:
    return limit.replace(" ", "_")
