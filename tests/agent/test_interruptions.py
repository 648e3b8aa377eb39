"""An exception of a signal handler inside a call propagates to the caller.

For example the script's own deadline. Unlike errors of values, it is not suppressed.
"""

import sys

import pytest

from seamark.recording.attributes import Recorder
from seamark.user_warnings import Notices


class Stop(Exception):
    pass


CALLS = {
    "append": lambda recorder: recorder.append("a", 1.0, None, None),
    "append a step": lambda recorder: recorder.append("a", 1.0, 3.0, None),
    "log": lambda recorder: recorder.log({"b": 1.0, "c": {"d": 1.0}}, None, None),
}


def interrupted(call, number):
    """Raise at that line of the agent; return whether it propagated, and the line."""
    lines = []

    def trace(frame, event, _):
        if "/seamark/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            if len(lines) == number:
                raise Stop
        return trace

    recorder = Recorder(Notices(), wake=lambda: False, strict=False)
    recorder.begin(None)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(recorder)
    except Stop:
        return True, lines[-1]
    finally:
        sys.settrace(before)
    return False, lines[number - 1] if len(lines) >= number else ""


@pytest.mark.parametrize("name", CALLS)
def test_wherever_a_call_is_interrupted_the_script_hears_of_it(name):
    number, line = 0, "the first"
    while line:
        number += 1
        is_heard, line = interrupted(CALLS[name], number)
        assert is_heard or not line, line

    assert number > 50
