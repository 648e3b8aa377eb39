"""Values from training code: stand-ins for tensors, and misbehaving objects."""

from __future__ import annotations

import decimal
import math
import time
from collections.abc import Callable
from typing import NoReturn

import numpy as np

LONG_TEXT_CHARACTERS = 10_000_000
SLEEP_SECONDS = 0.2


class Tensor:
    """The interface of PyTorch's scalar tensors, on any device."""

    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(self, number: float, *, refusal: str = "") -> None:
        self._number, self._refusal = number, refusal

    def item(self) -> float:
        return self._number

    def __float__(self) -> float:
        return self._number

    def numpy(self) -> NoReturn:
        raise TypeError(self._refusal)

    def __array__(self, *arguments: object, **named: object) -> NoReturn:
        raise RuntimeError(self._refusal)

    def __len__(self) -> int:
        raise TypeError("len() of a 0-d tensor")

    def __iter__(self) -> NoReturn:
        raise TypeError("iteration over a 0-d tensor")


class Slow:
    """A number that is computed on access."""

    def __float__(self) -> float:
        time.sleep(SLEEP_SECONDS)
        return 1.0


class Raising:
    def __float__(self) -> float:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no text either")


def cyclic() -> dict[str, object]:
    cycle: dict[str, object] = {}
    cycle["again"] = cycle
    return cycle


# Each is one number.
NUMBERS: dict[str, Callable[[], object]] = {
    "a scalar of bfloat16": lambda: Tensor(
        1.0, refusal="Got unsupported ScalarType BFloat16"
    ),
    "a scalar with a gradient": lambda: Tensor(
        1.0, refusal="Can't call numpy() on Tensor that requires grad"
    ),
    "a scalar on a GPU": lambda: Tensor(
        1.0, refusal="can't convert cuda:0 device type tensor to numpy"
    ),
    "an array without dimensions": lambda: np.array(1.0),
    "a Decimal": lambda: decimal.Decimal(1),
    "a __float__ that sleeps": Slow,
    "NaN": lambda: math.nan,
    "Infinity": lambda: math.inf,
    "-Infinity": lambda: -math.inf,
}
# None is a number; those with a text may still be stored as values.
OTHERS: dict[str, Callable[[], object]] = {
    "a complex number": lambda: 3 + 4j,
    "many numbers": lambda: np.zeros(3),
    "a __float__ that raises": Raising,
    "a dictionary that holds itself": cyclic,
    "bytes": lambda: b"1",
    "nothing": lambda: None,
}


def long_text() -> str:
    return "x" * LONG_TEXT_CHARACTERS


def of_torch() -> tuple[
    dict[str, Callable[[], object]], dict[str, Callable[[], object]]
]:
    """Return real tensors of PyTorch: those that are one number, and others."""
    import torch

    kinds = (
        *(torch.bfloat16, torch.float16, torch.float32, torch.float64),
        *(torch.int8, torch.int64, torch.bool),
    )
    numbers: dict[str, Callable[[], object]] = {
        f"a scalar of {kind}": lambda kind=kind: torch.ones((), dtype=kind)
        for kind in kinds
    }
    numbers |= {
        f"a scalar of {kind} with a gradient": lambda kind=kind: torch.ones(
            (), dtype=kind, requires_grad=True
        )
        for kind in kinds[:4]
    }
    numbers |= {
        "a parameter": lambda: torch.nn.Parameter(torch.ones(())),
        "what a loss makes of a gradient": lambda: (
            torch.ones((), requires_grad=True, dtype=torch.bfloat16) * 1
        ),
        "what was made in inference mode": lambda: torch.inference_mode()(torch.ones)(
            ()
        ),
    }
    others: dict[str, Callable[[], object]] = {
        "many numbers with a gradient": lambda: torch.ones(3, requires_grad=True),
        "a complex scalar": lambda: torch.ones((), dtype=torch.complex64),
        "a scalar without data": lambda: torch.ones((), device="meta"),
    }
    return numbers, others
