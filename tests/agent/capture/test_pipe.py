"""Output of programs without the SDK, into a pipe or socket."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.agent.conftest import REPOSITORY, wait_until

OUT, ERR = "monitoring/train/stdout", "monitoring/train/stderr"
PIPE_SIZE = 65_536
# Bytes in transit: in two pipes and in the relay's buffer.
MAX_UNDER_WAY = 3 * PIPE_SIZE


class Outlet:
    """A pipe or socket pair, read by the test."""

    def __init__(self, kind: str = "pipe") -> None:
        if kind == "pipe":
            self.ours, self.theirs = os.pipe()
        else:
            ours, theirs = socket.socketpair()
            self.ours, self.theirs = ours.detach(), theirs.detach()

    @property
    def identity(self) -> int:
        return os.fstat(self.theirs).st_ino

    def read_until(self, words: bytes) -> bytes:
        read = b""
        while words not in read:
            data = os.read(self.ours, 65_536)
            assert data, read
            read += data
        return read

    def read(self) -> bytes:
        """Return all data until the writing end is closed."""
        self.let_go()
        return b"".join(iter(lambda: os.read(self.ours, 65_536), b""))

    def let_go(self) -> None:
        """Close the writing end here; child processes keep theirs."""
        theirs, self.theirs = self.theirs, -1
        if theirs >= 0:
            os.close(theirs)

    def go_away(self) -> None:
        """Read no more."""
        ours, self.ours = self.ours, -1
        if ours >= 0:
            os.close(ours)


@pytest.fixture
def make_outlet():
    made = []

    def make(kind="pipe"):
        made.append(Outlet(kind))
        return made[-1]

    yield make
    for outlet in made:
        outlet.let_go()
        outlet.go_away()


@pytest.fixture
def outlet(make_outlet):
    return make_outlet()


@pytest.fixture
def run_program(tmp_path):
    """Start a Python program with `seamark run`, with the given streams."""
    started = []

    def run(script, *options, stdout, stderr=None, **more):
        command = (sys.executable, "-m", "seamark", "run", "--stage", "train", *options)
        process = subprocess.Popen(
            [*command, "--", sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=getattr(stdout, "theirs", stdout),
            stderr=getattr(stderr, "theirs", stderr),
            start_new_session=True,
            **more,
        )
        started.append(process)
        for one in (stdout, stderr):
            if isinstance(one, Outlet):
                one.let_go()
        return process

    yield run
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ended(process):
    return process.wait(timeout=60)


def states(tracker):
    return [(m["state"], m["failure"]) for m in tracker.of_kind("close")]


def number_in(path):
    """Return the number that a program wrote to a file, once it has."""
    written = ""

    def is_written():
        nonlocal written
        written = path.read_text() if path.exists() else ""
        return written.endswith("\n")

    wait_until(is_written)
    return int(written)


def relay_beside(process, folder):
    """Return the relay process of a program that wrote its PID to the folder."""
    program = number_in(folder / "program")
    children = psutil.Process(process.pid).children()
    [relay] = [one for one in children if one.pid != program]
    return relay


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_program_writes_to_a_pipe_and_its_lines_are_stored(
    tracker, make_outlet, run_program, kind
):
    out, err = make_outlet(kind), make_outlet(kind)
    script = """
import os, stat, sys
print([(os.isatty(n), stat.S_ISFIFO(os.fstat(n).st_mode)) for n in (1, 2)], flush=True)
os.write(1, b"\\xff\\x00\\r\\x1b[31m\\n")
os.system("echo child; echo bad >&2")
raise SystemExit(3)
"""
    process = run_program(script, stdout=out, stderr=err)

    seen = b"[(False, True), (False, True)]"
    assert out.read() == seen + b"\n\xff\x00\r\x1b[31m\nchild\n"
    assert err.read().startswith(b"bad\n")
    assert ended(process) == 3
    assert tracker.texts(OUT)[0] == seen.decode()
    assert tracker.texts(OUT)[-1] == "child"
    assert tracker.texts(ERR) == ["bad"]
    assert states(tracker) == [("failed", "The program ended with exit code 3.")]


def test_both_streams_in_one_pipe_keep_their_order(tracker, outlet, run_program):
    script = "import os\nfor n in range(500): os.write(1 + n % 2, b'%d\\n' % n)"
    process = run_program(script, stdout=outlet, stderr=subprocess.STDOUT)

    numbers = [str(n) for n in range(500)]
    assert outlet.read().decode().split()[:500] == numbers
    assert ended(process) == 0
    assert tracker.texts(OUT) == numbers
    assert tracker.texts(ERR) == []


def test_the_programs_pipe_holds_as_much_as_the_true_one(tracker, outlet, run_program):
    fcntl.fcntl(outlet.theirs, fcntl.F_SETPIPE_SZ, 4 * PIPE_SIZE)
    process = run_program(
        "import fcntl; print(fcntl.fcntl(1, fcntl.F_GETPIPE_SZ))", stdout=outlet
    )

    assert outlet.read() == b"%d\n" % (4 * PIPE_SIZE)
    assert ended(process) == 0


def test_bytes_are_unchanged_where_the_true_pipe_does_not_wait(
    tracker, outlet, run_program
):
    os.set_blocking(outlet.theirs, False)
    script = "import os, sys; sys.stdout.buffer.write(bytes(range(256)) * 8192)"
    process = run_program(script, stdout=outlet)
    time.sleep(0.5)

    assert outlet.read() == bytes(range(256)) * 8192
    assert ended(process) == 0


FLOOD = "import os\nwhile True: os.write(1, b'y\\n' * 100)"


@pytest.mark.parametrize("kind", ["pipe", "socket"])
@pytest.mark.parametrize("is_told", [False, True], ids=["SIGPIPE", "EPIPE"])
def test_a_program_hears_that_its_reader_has_gone(
    tracker, make_outlet, run_program, kind, is_told
):
    outlet = make_outlet(kind)
    # Python ignores the signal, and raises; most other programs are ended by it.
    heeding = "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
    script = FLOOD if is_told else heeding + FLOOD
    process = run_program(script, stdout=outlet, stderr=subprocess.DEVNULL)
    outlet.read_until(b"y\n")
    outlet.go_away()

    if is_told:
        failure = "The program ended with exit code 1."
        assert ended(process) == 1
    else:
        failure = "The program was terminated by signal SIGPIPE."
        assert ended(process) == 128 + signal.SIGPIPE
    assert tracker.texts(OUT)[0] == "y"
    assert states(tracker) == [("failed", failure)]


# Its last write does not fit if another process holds the reading end of its pipe.
HALVES = f"""
import os, time
open("program", "w").write(f"{{os.getpid()}}\\n")
print("first", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
try:
    for n in range(2000): print("line", n, "." * 100)
    print("last", flush=True)
    for n in range(2000): print("x" * {2 * MAX_UNDER_WAY // 2000})
    ended = 0
except BrokenPipeError:
    ended = 9
open("ended", "w").write(f"{{ended}}\\n")
os._exit(ended)
"""
LINES = [f"line {n} {'.' * 100}" for n in range(2000)]


@pytest.mark.parametrize("is_killed", [False, True], ids=["carried", "taken over"])
def test_a_program_that_was_silent_hears_it_at_its_next_line(
    tracker, outlet, run_program, tmp_path, is_killed
):
    script = """
import os, time
open("program", "w").write(f"{os.getpid()}\\n")
os.write(1, b"first\\n")
while not os.path.exists("go"): time.sleep(0.01)
os.write(1, b"second\\n")
"""
    process = run_program(script, stdout=outlet, stderr=subprocess.DEVNULL)
    outlet.read_until(b"first\n")
    relay = relay_beside(process, tmp_path)
    if is_killed:
        relay.kill()
        time.sleep(1)
    outlet.go_away()
    time.sleep(2)
    (tmp_path / "go").touch()

    assert ended(process) == 1
    assert tracker.texts(OUT) == ["first"]


def test_a_reader_that_was_never_there_is_missed(tracker, outlet, run_program):
    outlet.go_away()
    process = run_program(FLOOD, stdout=outlet, stderr=subprocess.DEVNULL)

    assert ended(process) == 1


def test_a_program_hears_it_when_what_carries_was_killed(
    tracker, outlet, run_program, tmp_path
):
    process = run_program(HALVES, stdout=outlet)
    outlet.read_until(b"first\n")
    relay_beside(process, tmp_path).kill()
    outlet.go_away()
    (tmp_path / "go").touch()

    assert number_in(tmp_path / "ended") == 9


def test_a_program_hears_it_when_what_measures_it_was_killed(
    tracker, outlet, run_program, tmp_path
):
    process = run_program(HALVES, stdout=outlet)
    outlet.read_until(b"first\n")
    process.kill()
    outlet.go_away()
    (tmp_path / "go").touch()

    assert number_in(tmp_path / "ended") == 9


def test_a_program_waits_for_a_slow_reader_and_loses_nothing(
    tracker, outlet, run_program, tmp_path
):
    script = """
import os
for n in range(100):
    os.write(1, b"x" * 9_999 + b"\\n")
    open("written", "w").write(f"{n + 1}\\n")
"""
    process = run_program(script, stdout=outlet)
    written = tmp_path / "written"
    wait_until(lambda: number_in(written) * 10_000 > PIPE_SIZE)
    time.sleep(1)

    assert number_in(written) * 10_000 <= MAX_UNDER_WAY
    assert outlet.read() == (b"x" * 9_999 + b"\n") * 100
    assert ended(process) == 0


def test_the_end_waits_until_all_is_where_it_led_to(
    tracker, outlet, run_program, tmp_path
):
    script = "import os; os.write(1, b'x' * 100_000); open('ended', 'w').write('0\\n')"
    process = run_program(script, stdout=outlet)
    number_in(tmp_path / "ended")
    time.sleep(2.5)

    # As PID 1 of a container, its exit would kill the relay.
    assert process.poll() is None
    assert outlet.read() == b"x" * 100_000
    assert ended(process) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_can_be_told_to_wait_no_longer(
    tracker, outlet, run_program, tmp_path, number
):
    script = "import os; os.write(1, b'x' * 100_000); open('ended', 'w').write('0\\n')"
    process = run_program(script, stdout=outlet)
    number_in(tmp_path / "ended")
    time.sleep(0.5)
    process.send_signal(number)

    assert ended(process) == 0
    assert outlet.read() == b"x" * 100_000


def test_a_program_does_not_wait_for_what_stores_its_lines(
    tracker, outlet, run_program, tmp_path
):
    process = run_program(HALVES, stdout=outlet)
    outlet.read_until(b"first\n")
    process.send_signal(signal.SIGSTOP)
    (tmp_path / "go").touch()

    outlet.read_until(b"last\n")
    while not (tmp_path / "ended").exists():
        # No further data before or after.
        if select.select([outlet.ours], [], [], 0.1)[0]:
            os.read(outlet.ours, 65_536)
    process.send_signal(signal.SIGCONT)
    outlet.read()
    assert ended(process) == 0


def test_nothing_is_lost_when_what_carries_it_is_killed(
    tracker, outlet, run_program, tmp_path
):
    process = run_program(HALVES, stdout=outlet)
    outlet.read_until(b"first\n")
    relay = relay_beside(process, tmp_path)
    relay.kill()
    wait_until(lambda: relay.status() == psutil.STATUS_ZOMBIE)
    (tmp_path / "go").touch()

    shown = outlet.read().decode().splitlines()
    assert shown[:2001] == [*LINES, "last"]
    assert ended(process) == 0
    assert tracker.texts(OUT)[:2002] == ["first", *LINES, "last"]


def test_a_program_goes_on_when_what_measures_it_is_killed(
    tracker, outlet, run_program, tmp_path
):
    process = run_program(HALVES, stdout=outlet)
    outlet.read_until(b"first\n")
    process.kill()
    ended(process)
    (tmp_path / "go").touch()

    assert outlet.read().decode().splitlines()[:2001] == [*LINES, "last"]
    assert number_in(tmp_path / "ended") == 0


def test_what_the_program_leaves_behind_still_has_its_reader(
    tracker, outlet, run_program, tmp_path
):
    script = """
import os, time
if os.fork() == 0:
    while not os.path.exists("go"): time.sleep(0.01)
    print("of the one left behind", flush=True)
else:
    print("of the program", flush=True)
    os._exit(0)
"""
    process = run_program(script, stdout=outlet)

    assert ended(process) == 0
    (tmp_path / "go").touch()
    assert outlet.read() == b"of the program\nof the one left behind\n"
    assert tracker.texts(OUT) == ["of the program"]


def test_the_end_does_not_wait_for_one_left_behind_that_never_is_silent(
    tracker, outlet, run_program
):
    process = run_program(
        f"import os\nif os.fork(): os._exit(0)\n{FLOOD}", stdout=outlet
    )
    # So slow that there is always something left to read.
    slow = "import os, time\nwhile os.read(0, 65_536): time.sleep(0.02)"
    reader = subprocess.Popen([sys.executable, "-c", slow], stdin=outlet.ours)
    outlet.go_away()

    assert ended(process) == 0
    reader.kill()
    reader.wait()


def test_another_program_behind_it_ends_when_it_would_have_ended(tracker, tmp_path):
    run = f"{sys.executable} -m seamark run --stage train --"
    ended = subprocess.run(
        ["bash", "-c", f"{run} sh -c 'echo one; exit 4' | tee log; exit $PIPESTATUS"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (4, b"one\n")
    assert (tmp_path / "log").read_text() == "one\n"
    assert tracker.texts(OUT) == ["one"]


STATUS = """
import os
print([os.fstat(n).st_ino for n in (1, 2)], file=open("seen", "w"))
os.write(1, b"one\\n"); os.write(2, b"two\\n")
"""


def test_a_stream_to_a_device_is_left_alone_and_the_other_one_kept(
    tracker, outlet, run_program, tmp_path
):
    with Path(os.devnull).open("wb") as devnull:
        process = run_program(STATUS, stdout=devnull, stderr=outlet)
        assert ended(process) == 0
        seen = (tmp_path / "seen").read_text()
        assert seen.startswith(f"[{os.fstat(devnull.fileno()).st_ino}, ")

    assert outlet.read().startswith(b"two\n")
    assert tracker.texts(OUT) == []
    assert tracker.texts(ERR) == ["two"]


def test_messages_are_left_in_one_piece(tracker, outlet, run_program, tmp_path):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        process = run_program(STATUS, stdout=theirs.fileno(), stderr=outlet)
        assert ended(process) == 0
        assert ours.recv(100) == b"one\n"
        identity = os.fstat(theirs.fileno()).st_ino

    assert (tmp_path / "seen").read_text().startswith(f"[{identity}, ")
    assert tracker.texts(OUT) == []
    assert tracker.texts(ERR) == ["two"]


@pytest.mark.parametrize(("closed", "other"), [(1, "stderr"), (2, "stdout")])
def test_where_a_stream_is_closed_nothing_is_kept(
    tracker, outlet, run_program, closed, other
):
    script = f"""
import os
try: os.fstat({closed})
except OSError: os.write({3 - closed}, b"closed\\n")
"""
    streams = {"stdout": None, other: outlet}
    process = run_program(script, **streams, preexec_fn=lambda: os.close(closed))

    assert outlet.read().startswith(b"closed\n")
    assert ended(process) == 0
    assert tracker.texts(OUT) + tracker.texts(ERR) == []


@pytest.mark.parametrize("is_there", [True, False], ids=["agent", "no agent"])
def test_a_pipe_can_be_left_as_it_is(tracker, outlet, run_program, tmp_path, is_there):
    own = "import agent; run = agent.init()" if is_there else ""
    identity = outlet.identity
    process = run_program(own + STATUS, "--no-logs", stdout=outlet)

    assert outlet.read() == b"one\n"
    assert ended(process) == 0
    assert (tmp_path / "seen").read_text().startswith(f"[{identity}, ")
    assert tracker.texts(OUT) == []


def test_a_script_with_the_agent_is_not_stored_twice(tracker, outlet, run_program):
    script = "import agent; run = agent.init(); print('once')"
    process = run_program(script, stdout=outlet)

    assert outlet.read() == b"once\n"
    assert ended(process) == 0
    assert tracker.texts(OUT) == ["once"]
