"""Calls into a hanging file system time out."""

from __future__ import annotations

import threading

import pytest

from seamark.lifecycle.bounded_io import within
from tests.agent.conftest import wait_until


def test_what_is_made_in_time_is_returned():
    assert within(60, lambda: 3) == 3


def test_what_goes_wrong_is_raised_where_it_is_waited_for():
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 / 0)


def test_what_is_made_too_late_is_unmade():
    goes_on, unmade = threading.Event(), []

    with pytest.raises(TimeoutError, match=r"no answer within 0.01 s"):
        within(0.01, lambda: goes_on.wait() and "late", unmade.append)

    assert not unmade
    goes_on.set()
    wait_until(lambda: unmade == ["late"])
