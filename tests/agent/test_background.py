"""A thread takes its turns when they are due or it is called, and ends when told to."""

import threading
import time

from agent.background import Background
from tests.agent.conftest import wait_until

FOR_EVER = 86_400.0


def started(turn):
    background = Background("seamark-test", turn)
    background.ensure()
    return background


def test_calls_that_come_together_are_answered_by_one_turn():
    turns = []
    may_go_on = threading.Event()

    def turn():
        turns.append(time.monotonic())
        may_go_on.wait(10)
        return FOR_EVER

    background = started(turn)
    wait_until(lambda: turns)
    for _ in range(1_000):
        background.wake()
    may_go_on.set()
    wait_until(lambda: len(turns) == 2)

    time.sleep(0.05)
    assert len(turns) == 2
    assert background.stop(5.0)
    assert len(turns) == 3  # the last one


def test_a_turn_that_is_overdue_comes_at_once():
    turns = []

    def turn():
        turns.append(1)
        return -1.0 if len(turns) < 5 else FOR_EVER

    background = started(turn)

    wait_until(lambda: len(turns) == 5)
    assert background.stop(5.0)


def test_one_that_is_told_to_end_before_its_first_turn_takes_it_as_its_last():
    turns = []
    background = started(lambda: turns.append(1) or FOR_EVER)

    assert background.stop(5.0)
    assert turns == [1]
