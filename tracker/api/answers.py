"""JSON as the API speaks it: quickly made, and with NaN and infinities as texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from django.http import HttpResponse
from numpy.typing import NDArray

Number = float | int | str | None


# Any: whatever JSON can hold.
def json_response(content: Any) -> HttpResponse:
    return HttpResponse(orjson.dumps(content), content_type="application/json")


def number(value: float | int | None) -> Number:
    """Return the number, or its name where JSON has none."""
    if value is None or math.isfinite(value):
        # Larger integers would be read as floats, and no longer be the same.
        is_large = isinstance(value, int) and abs(value) > 2**53
        return str(value) if is_large else value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def numbers(values: NDArray[np.float64]) -> Sequence[Number]:
    if np.isfinite(values).all():
        plain: list[Number] = values.tolist()
        return plain
    return [number(value) for value in values.tolist()]


# Any: an attribute's value, which may be of every kind.
def value(content: Any) -> Any:
    if isinstance(content, (float, int)) and not isinstance(content, bool):
        return number(content)
    return content
