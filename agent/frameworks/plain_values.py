"""Turns hyperparameters of any type into values that a run stores."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

_LONGEST_TEXT = 300


# Any: arguments have any type.
def plain_value(value: Any) -> object:
    """Return a number, text or None; of functions, classes and estimators the name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        # A named tuple.
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): plain_value(each) for name, each in value.items()}
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        # A number of NumPy, or a tensor of one element.
        return plain_value(value.item())
    return _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, type) and hasattr(value, "get_params"):
        # An estimator, whose text has all of its parameters.
        return type(value).__name__
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
