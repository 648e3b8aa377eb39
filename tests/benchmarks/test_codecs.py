"""What compressors are compared by: the same numbers, which have to come back."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import codecs
from benchmarks.codecs import CODERS, Coder, Column, figures, some_columns


@pytest.fixture(autouse=True)
def no_time(monkeypatch):
    monkeypatch.setattr(codecs, "SECONDS_OF_A_FIGURE", 0.001)


@pytest.mark.parametrize("coder", CODERS, ids=lambda coder: coder.name)
def test_every_column_comes_back_or_the_library_is_missing(coder):
    for column in some_columns(500):
        size, *_ = found = figures(coder, column)

        assert len(found) == 3
        assert size == "not installed" or float(size) > 0, column.name


def test_what_does_not_come_back_is_said():
    broken = Coder("broken", "", lambda some: (lambda _: b"x", lambda _: some + 1))
    column = Column("ones", np.ones(5), np.ones(5))

    assert figures(broken, column)[0] == "does not come back"
