from __future__ import annotations

from collections import namedtuple
from enum import Enum

import numpy as np
import pytest

from seamark.frameworks.plain_values import plain_value

Frequency = namedtuple("Frequency", ["count", "unit"])


class Unit(Enum):
    STEP = "step"


class Estimator:
    def get_params(self):
        return {}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (0.5, 0.5),
        (np.int64(3), 3),
        (np.array(0.5), 0.5),
        ("adam", "adam"),
        ([1, 2], "[1, 2]"),
        (Unit.STEP, "step"),
        (Frequency(4, Unit.STEP), {"count": 4, "unit": "step"}),
        ({"layers": {1: np.float32(0.5)}}, {"layers": {"1": 0.5}}),
        (Estimator(), "Estimator"),
        (Estimator, "Estimator"),
        (len, "len"),
    ],
)
def test_hyperparameters_become_plain(value, plain):
    assert plain_value(value) == plain
    assert type(plain_value(value)) is type(plain)


def test_long_texts_are_cut():
    assert len(str(plain_value(["x" * 1_000]))) == 300
