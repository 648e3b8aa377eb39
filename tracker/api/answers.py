"""Fast JSON responses; NaN and infinities are encoded as strings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from django.http import HttpResponse
from numpy.typing import NDArray

Number = float | int | str | None


# Any: every JSON value.
def json_response(content: Any) -> HttpResponse:
    return HttpResponse(orjson.dumps(content), content_type="application/json")


def number(value: float | int | None) -> Number:
    """Return the number, or its name if JSON cannot represent it."""
    if value is None or math.isfinite(value):
        # Clients read larger integers as floats, which would change them.
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


# Any: an attribute's value of any kind.
def value(content: Any) -> Any:
    if isinstance(content, (float, int)) and not isinstance(content, bool):
        return number(content)
    return content
