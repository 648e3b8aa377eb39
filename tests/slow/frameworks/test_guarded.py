from __future__ import annotations

import logging

import pytest

from seamark.errors import UnsupportedValue
from seamark.frameworks.guarded import guarded


@guarded
def fail(error):
    raise error


def test_what_goes_wrong_in_a_callback_is_told_once_and_stays_there(caplog):
    with caplog.at_level(logging.WARNING):
        fail(KeyError("loss"))
        fail(KeyError("loss"))

    (record,) = caplog.records
    assert "test_guarded.fail failed: KeyError('loss')" in record.message


def test_a_strict_run_raises_through_it():
    with pytest.raises(UnsupportedValue):
        fail(UnsupportedValue(object(), "is not one number"))
