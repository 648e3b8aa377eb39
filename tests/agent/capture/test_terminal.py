"""Output of programs without the SDK, on a terminal."""

from __future__ import annotations

import signal
import sys
import termios

import psutil
import pytest

from tests.agent.capture.terminal import CTRL_C, CTRL_Z, Terminal
from tests.agent.conftest import wait_until

OUT, ERR = "monitoring/train/stdout", "monitoring/train/stderr"


@pytest.fixture
def terminal():
    one = Terminal()
    yield one
    one.close()


@pytest.fixture
def run_program(terminal, tmp_path):
    """Start a Python program in the terminal's foreground, with `seamark run`."""

    def run(script, *options, **streams):
        command = (sys.executable, "-m", "seamark", "run", "--stage", "train", *options)
        program = ("--", sys.executable, "-c", script)
        terminal.start(*command, *program, folder=tmp_path, **streams)

    return run


def states(tracker):
    return [(m["state"], m["failure"]) for m in tracker.of_kind("close")]


def relays_of(process):
    """Return the relay processes of a program: other children of its parent."""
    siblings = psutil.Process(process).parent().children()
    return [one for one in siblings if one.pid != process]


def test_a_program_sees_a_terminal_and_its_lines_are_stored(
    tracker, terminal, run_program
):
    run_program("""
import os, sys
print([os.isatty(n) for n in range(3)], *os.get_terminal_size(1), open("/dev/tty").isatty())
print("\\x1b[31mred\\x1b[0m")
for n in range(5): sys.stderr.write(f"\\r{n}/4 ▉"); sys.stderr.flush()
sys.stderr.write("\\n")
os.system("echo child; echo bad >&2")
print(input("name? "))
raise SystemExit(3)
""")
    terminal.wait_for(b"name? ")
    terminal.type(b"ada\r")

    shown = terminal.wait_for(b"<ended 3>").decode()
    assert shown == (
        "[True, True, True] 80 24 True\r\n\x1b[31mred\x1b[0m\r\n"
        + "".join(f"\r{n}/4 ▉" for n in range(5))
        + "\r\nchild\r\nbad\r\nname? ada\r\nada\r\n<ended 3>"
    )
    assert tracker.texts(OUT) == [
        *("[True, True, True] 80 24 True", "red", "4/4 ▉", "child", "bad", "name? ada")
    ]
    # On a terminal both streams are one, which keeps their order.
    assert tracker.texts(ERR) == []
    assert states(tracker) == [("failed", "The program ended with exit code 3.")]
    assert termios.tcgetattr(terminal.other) == terminal.modes


def test_a_stream_that_goes_to_a_file_is_told_apart(
    tracker, terminal, run_program, tmp_path
):
    script = "import os, sys; print(os.isatty(1), os.isatty(2)); sys.exit('bad')"
    with (tmp_path / "err.txt").open("ab") as file:
        run_program(script, stderr=file)
        terminal.wait_for(b"<ended 1>")

    assert terminal.shown == b"True False\r\n<ended 1>"
    assert (tmp_path / "err.txt").read_text() == "bad\n"
    assert tracker.texts(OUT) == ["True False"]
    assert tracker.texts(ERR) == ["bad"]


def test_a_new_size_reaches_the_program_and_its_children(
    tracker, terminal, run_program
):
    run_program("""
import os, signal, sys, time
who = "child" if os.fork() == 0 else "parent"
def tell(*_):
    size = os.get_terminal_size(1)
    if size.columns == 100: os.write(1, f"{who} {size.lines};".encode()); os._exit(0)
signal.signal(signal.SIGWINCH, tell)
os.write(1, f"{who} ready;".encode())
for _ in range(6000): time.sleep(0.01)
""")
    terminal.wait_for(b"child ready;")
    terminal.wait_for(b"parent ready;")
    terminal.resize(50, 100)

    terminal.wait_for(b"child 50;")
    terminal.wait_for(b"parent 50;")
    terminal.wait_for(b"<ended 0>")


def test_ctrl_c_reaches_the_program_once(tracker, terminal, run_program):
    run_program("""
import os, signal, sys, time
def interrupted(*_):
    global count; count += 1
    os.write(1, b"interrupted;")
count = 0
signal.signal(signal.SIGINT, interrupted)
os.write(1, b"ready;")
while not count: time.sleep(0.01)
time.sleep(0.3)
sys.exit(40 + count)
""")
    terminal.wait_for(b"ready;")
    terminal.type(CTRL_C)

    shown = terminal.wait_for(b"<ended 41>")
    assert b"interrupted;" in shown
    assert tracker.texts(OUT) == ["ready;interrupted;"]


def test_ctrl_z_stops_the_job_which_goes_on_later(tracker, terminal, run_program):
    run_program("import os; os.write(1, b'ready;'); print(input())")
    terminal.wait_for(b"ready;")
    terminal.type(CTRL_Z)
    terminal.wait_for(b"<stopped>")
    terminal.continue_job()
    terminal.type(b"typed\r")

    terminal.wait_for(b"<ended 0>")
    assert tracker.texts(OUT) == ["ready;typed"]
    assert states(tracker) == [("finished", "")]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_that_ends_it_is_told_as_ever(tracker, terminal, run_program, number):
    run_program(f"import os; print('last', flush=True); os.kill(os.getpid(), {number})")

    terminal.wait_for(b"<ended %d>" % (128 + number))
    assert tracker.texts(OUT) == ["last"]
    assert states(tracker)[0][0] == "failed"


HALVES = """
import os, time
print("first", os.getpid(), flush=True)
while not os.path.exists("go"): time.sleep(0.01)
for n in range(2000): print("line", n)
print("last", flush=True)
"""


def begun(terminal):
    """Return the program's process, once it has written its first line."""
    terminal.wait_for(b"\r\n")
    return int(terminal.shown.split()[1])


def test_a_program_goes_on_when_what_measures_it_is_killed(
    tracker, terminal, run_program, tmp_path
):
    run_program(HALVES)
    process = psutil.Process(begun(terminal))
    process.parent().kill()
    terminal.wait_for(b"<ended -9>")
    (tmp_path / "go").touch()

    assert terminal.wait_for(b"last\r\n").count(b"line") == 2000
    wait_until(lambda: not process.is_running(), 60)
    assert termios.tcgetattr(terminal.other) == terminal.modes


def test_nothing_is_lost_when_what_carries_it_is_killed(
    tracker, terminal, run_program, tmp_path
):
    run_program(HALVES)
    [relay] = relays_of(begun(terminal))
    relay.kill()
    wait_until(lambda: relay.status() == psutil.STATUS_ZOMBIE)
    (tmp_path / "go").touch()

    shown = terminal.wait_for(b"<ended 0>")
    assert shown.endswith(b"last\r\n<ended 0>")
    assert tracker.texts(OUT)[1:] == [*(f"line {n}" for n in range(2000)), "last"]


def test_a_program_does_not_wait_for_what_stores_its_lines(
    tracker, terminal, run_program, tmp_path
):
    run_program("""
import os, time
print("first", os.getpid(), flush=True)
while not os.path.exists("go"): time.sleep(0.01)
for n in range(40_000): print("x" * 99)
print("last", flush=True)
open("done", "w").close()
""")
    storing = psutil.Process(begun(terminal)).parent()
    storing.suspend()
    (tmp_path / "go").touch()
    terminal.wait_for(b"last\r\n")
    wait_until((tmp_path / "done").exists, 60)
    storing.resume()

    # The shell has noticed that its job was stopped.
    terminal.wait_for(b"<stopped>")
    terminal.continue_job()
    terminal.wait_for(b"<ended 0>")
    stored = tracker.texts(OUT)
    assert stored[0].startswith("first")
    assert stored[-1] == "last"
    assert any("not stored: too much output" in line for line in stored)


def test_a_program_that_outlives_its_terminal_is_stored_to_the_end(
    tracker, terminal, run_program, tmp_path
):
    run_program(
        f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{HALVES}"
    )
    begun(terminal)
    terminal.hang_up()
    (tmp_path / "go").touch()

    wait_until(lambda: states(tracker), 60)
    assert tracker.texts(OUT)[-1] == "last"
    assert states(tracker) == [("finished", "")]


def test_what_the_program_leaves_behind_still_has_its_terminal(
    tracker, terminal, run_program, tmp_path
):
    run_program("""
import os, time
if os.fork() == 0:
    while not os.path.exists("go"): time.sleep(0.01)
    print("of the one left behind", flush=True)
else:
    print("of the program", flush=True)
    os._exit(0)
""")
    terminal.wait_for(b"<ended 0>")
    (tmp_path / "go").touch()

    terminal.wait_for(b"of the one left behind")
    assert tracker.texts(OUT) == ["of the program"]


@pytest.mark.parametrize("is_there", [True, False], ids=["agent", "no agent"])
def test_a_terminal_can_be_left_as_it_is(tracker, terminal, run_program, is_there):
    own = "import agent; run = agent.init()" if is_there else ""
    run_program(f"{own}\nimport os; print(os.ttyname(0) == os.ttyname(1))", "--no-logs")

    terminal.wait_for(b"<ended 0>")
    assert b"True" in terminal.shown
    assert tracker.texts(OUT) == []


def test_a_script_with_the_agent_is_not_stored_twice(tracker, terminal, run_program):
    run_program("import agent; run = agent.init(); print('once')")

    terminal.wait_for(b"<ended 0>")
    assert tracker.texts(OUT) == ["once"]
