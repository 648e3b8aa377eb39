"""Holds our figures against Plotly's own schema, and reads their numbers back."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import plotly.graph_objects as go


def check_schema(figure: dict[str, Any]) -> None:
    """Check a figure against Plotly's schema; theme variables are valid colours."""
    sent = orjson.loads(orjson.dumps(figure))
    go.Figure(
        {"data": _any_colour(sent["data"]), "layout": _any_colour(sent["layout"])}
    )


def numbers(encoded: dict[str, str]) -> np.ndarray:
    array = np.frombuffer(
        base64.b64decode(encoded["bdata"]), np.dtype(encoded["dtype"]).newbyteorder("<")
    )
    if "shape" in encoded:
        array = array.reshape([int(length) for length in encoded["shape"].split(",")])
    return array.astype(float)


@dataclass(frozen=True)
class DrawnLine:
    """A line as queries return it, made of lists; exact unless it has a band."""

    values: list[float]
    path: str = "train/loss"
    steps: list[float] | None = None
    band: tuple[list[float], list[float]] | None = None

    @property
    def x(self) -> np.ndarray:
        return np.array(
            self.steps if self.steps is not None else range(len(self.values)), float
        )

    @property
    def mean(self) -> np.ndarray:
        return np.array(self.values, float)

    @property
    def minimum(self) -> np.ndarray:
        return np.array(self.band[0], float) if self.band else self.mean

    @property
    def maximum(self) -> np.ndarray:
        return np.array(self.band[1], float) if self.band else self.mean

    @property
    def exact(self) -> bool:
        return self.band is None


def _any_colour(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(("var(", "color-mix(")):
        return "#123456"
    if isinstance(value, list):
        return [_any_colour(item) for item in value]
    if isinstance(value, dict):
        return {key: _any_colour(item) for key, item in value.items()}
    return value
