"""Rows that an exception interrupts anywhere: a step may be left out, never come twice."""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import seamark
from seamark.queue.buffer import Buffer
from seamark.queue.rows import read_row
from seamark.recording.row_writer import RowWriter

AGENT = str(Path(seamark.__file__).parent)


class Stop(Exception):
    """Raised by a signal handler of the user."""


class Interrupting:
    """Raises Stop before the n-th instruction of the agent, if it gets there."""

    def __init__(self, instruction: int) -> None:
        self._left = instruction

    def __enter__(self) -> Interrupting:
        # Coverage is measured by a trace function, too.
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, kind: object, *_: object) -> bool:
        sys.settrace(self._before)
        return kind is Stop

    @property
    def has_raised(self) -> bool:
        return self._left < 0

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(AGENT):
            return None
        frame.f_trace_opcodes = True
        return self._reached

    def _reached(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode":
            self._left -= 1
            if self._left < 0:
                sys.settrace(None)
                raise Stop
        return self._reached


class Case:
    """A writer without a ring, with its caller and its output."""

    def __init__(self) -> None:
        self._buffer = Buffer()
        self._writer = RowWriter(self._buffer, None, wake=lambda: True)
        self._writer.begin(None)

    def log(self, *paths: str) -> None:
        """Log like a user's call: through the fast path, if known."""
        layout = self._writer.layouts.by_key.get(paths)
        if layout is not None:
            self._writer.put_together(layout, None, 0, [1.0] * len(paths))
        else:
            found = self._writer.put_points(dict.fromkeys(paths, 1.0), None, 0)
            if found is not None:
                self._writer.layouts.remember(paths, found)

    def steps(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for data in self._buffer.take_rows(1 << 30):
            row = read_row(data, 0, self._writer.layouts.by_number)
            for path in row.paths:
                found.setdefault(path, []).append(row.step)
        return found


def alone(case: Case) -> None:
    case.log("a")


def together(case: Case) -> None:
    case.log("a", "b")


def shared(case: Case) -> None:
    case.log("a")
    case.log("a", "b")
    case.log("b")


def interrupted(work: Callable[[Case], None], before: int) -> Iterator[Case]:
    """Yield a case for each instruction of the work, interrupted there."""
    instruction = 0
    while True:
        case = Case()
        for _ in range(before):
            work(case)
        with Interrupting(instruction) as interruption:
            work(case)
        if not interruption.has_raised:
            return
        yield case
        instruction += 1


@pytest.mark.parametrize("before", [0, 1, 2])
@pytest.mark.parametrize("work", [alone, together, shared])
def test_no_step_comes_twice_wherever_a_call_is_interrupted(work, before):
    cases = 0
    for case in interrupted(work, before):
        for _ in range(3):
            work(case)
        for path, steps in case.steps().items():
            assert max(Counter(steps).values()) == 1, (cases, path, steps)
            assert steps == sorted(steps)
        cases += 1

    assert cases > 50


@pytest.mark.parametrize("work", [alone, together])
def test_one_interruption_costs_one_step_at_most(work):
    for case in interrupted(work, before=1):
        work(case)
        assert case.steps()["a"][-1] in {1.0, 2.0}


def test_a_step_whose_value_is_refused_is_given_to_the_next():
    writer = RowWriter(Buffer(), None, wake=lambda: True)
    writer.begin(None)
    layout = writer.put_points({"a": 1.0}, None, 0)
    assert layout is not None
    with pytest.raises(struct.error):
        writer.put(layout, None, 0, ["text"])

    assert writer.layouts.next_step(layout) == 1.0


def test_no_step_comes_twice_while_another_thread_starts_the_writer():
    buffer = Buffer()
    writer = RowWriter(buffer, None, wake=lambda: True)
    for _ in range(3):
        writer.put_points({"a": 1.0}, None, 0)
        writer.put_points({"a": 1.0, "b": 1.0}, None, 0)

    rows = [
        read_row(data, 0, writer.layouts.by_number)
        for data in buffer.take_rows(1 << 30)
    ]
    assert [row.step for row in rows if "a" in row.paths] == [0, 1, 2, 3, 4, 5]
