"""How the reader wants charts drawn: part of the page's address, and of each figure's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.series import Axis

MOST_SMOOTHING = 0.99


@dataclass(frozen=True, slots=True)
class ChartOptions:
    axis: Axis = Axis.STEP
    log: bool = False
    smoothing: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def query(self) -> str:
        """Return the options that are not the usual ones, as part of an address."""
        options: dict[str, str] = {}
        if self.axis != Axis.STEP:
            options["axis"] = self.axis
        if self.log:
            options["log"] = "1"
        if self.smoothing:
            options["smoothing"] = f"{self.smoothing:g}"
        if self.low is not None and self.high is not None:
            options |= {"low": repr(self.low), "high": repr(self.high)}
        return urlencode(options)


def read_options(parameters: QueryDict) -> ChartOptions:
    axis = parameters.get("axis", Axis.STEP)
    if axis not in list(Axis):
        raise InvalidInput("axis", f"must be one of {', '.join(Axis)}")

    smoothing = read_number(parameters, "smoothing") or 0.0
    if not 0 <= smoothing <= MOST_SMOOTHING:
        raise InvalidInput("smoothing", f"must be from 0 to {MOST_SMOOTHING}")
    return ChartOptions(
        axis=Axis(axis),
        log=parameters.get("log") == "1",
        smoothing=smoothing,
        low=read_number(parameters, "low"),
        high=read_number(parameters, "high"),
    )


def read_number(parameters: QueryDict, name: str) -> float | None:
    text = parameters.get(name, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(name, "must be a finite number")
    return number
