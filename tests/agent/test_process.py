"""Ends of a training process and delivery of its data, with real processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import agent
from seamark.commands import main
from seamark.hints import command_line
from tests.agent.conftest import REPOSITORY, wait_until
from tests.agent.tracker_double import TOKEN, TrackerDouble

SYNC = "import sys; from seamark.commands import main; sys.exit(main(['sync']))"
LOG_THREE = """
import agent
run = agent.init("r", monitor=False)
run["a"].extend([1.0, 2.0, 3.0])
"""


# Close all descriptors like a daemon, then open files like a training.
CLOSE_ALL = """
import os
from pathlib import Path
run.wait_until_written(5)
os.closerange(3, 200)
files = [Path(f"file-{n}").open("wb", buffering=0) for n in range(20)]
for file in files: file.write(b"theirs")
run["a"].extend([4.0, 5.0])
run.wait_until_written(5)
run.finish()
for file in files: file.write(b"!")
"""


def test_a_program_that_closes_all_descriptors_keeps_its_own_files(
    tracker, run_script, tmp_path
):
    offline = {"SEAMARK_MODE": "offline", "SEAMARK_CAPTURE": "no"}
    ended = run_script(LOG_THREE + CLOSE_ALL, **offline)
    run_script(SYNC)

    assert ended.returncode == 0
    assert {path.read_bytes() for path in tmp_path.glob("file-*")} == {b"theirs!"}
    assert tracker.values("a") == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert tracker.states() == ["finished"]


@pytest.mark.parametrize(
    ("ending", "code", "state"),
    [
        ("", 0, "finished"),
        ("import sys; sys.exit(3)", 3, "failed"),
        ("import sys; sys.exit(0)", 0, "finished"),
        ("import sys; sys.exit()", 0, "finished"),
        ("import sys; sys.exit('no data')", 1, "failed"),
        ("raise ValueError('no data')", 1, "failed"),
        ("run.finish()", 0, "finished"),
    ],
    ids=["end", "code", "zero", "nothing", "text", "exception", "finish"],
)
def test_the_exit_code_is_kept_and_the_state_is_right(
    tracker, run_script, ending, code, state
):
    ended = run_script(f"{LOG_THREE}\n{ending}")

    assert ended.returncode == code
    assert tracker.values("a") == [1.0, 2.0, 3.0]
    assert tracker.states() == [state]


SAID = "The program ended with exit code"
EXITS = {
    "by its own code": ("sys.exit(3)", 3, f"{SAID} 3."),
    "by exit": ("exit(3)", 3, f"{SAID} 3."),
    "by quit": ("quit('no data')", 1, f"{SAID} 1: no data"),
    "by exit, and all is well": ("exit()", 0, ""),
    "by exit, caught": ("try: exit(3)\nexcept SystemExit: pass", 0, ""),
    "by a text": ("sys.exit('no data')", 1, f"{SAID} 1: no data"),
    "with what main returns": (
        "def main():\n    agent.init('r', monitor=False); return 4\nsys.exit(main())",
        4,
        f"{SAID} 4.",
    ),
    "by its parser": (
        "import argparse; argparse.ArgumentParser().error('no such option')",
        2,
        f"{SAID} 2.",
    ),
    "out of a context": (
        "from contextlib import ExitStack\n"
        "with ExitStack() as stack:\n    stack.callback(print); sys.exit(5)",
        5,
        f"{SAID} 5.",
    ),
    "raised again": (
        "try: sys.exit(6)\nexcept SystemExit as error:\n    str(error); raise",
        6,
        f"{SAID} 6.",
    ),
    "caught, and goes on": ("try: sys.exit(3)\nexcept SystemExit: pass", 0, ""),
    "caught and kept": (
        "try: sys.exit(3)\nexcept SystemExit as error: kept = error",
        0,
        "",
    ),
    "caught, and another": (
        "try: sys.exit(3)\nexcept SystemExit: sys.exit(0)",
        0,
        "",
    ),
    "in another thread": (
        "import threading, _thread, time\n"
        "thread = threading.Thread(target=sys.exit, args=(3,))\n"
        "thread.start(); thread.join()\n"
        "_thread.start_new_thread(sys.exit, (3,)); time.sleep(0.2)",
        0,
        "",
    ),
    "in a call at its end": (
        "import atexit; atexit.register(lambda: sys.exit(3))",
        0,
        "",
    ),
    "by what systems take for 0": ("sys.exit(256)", 0, ""),
    "after the run": ("run.finish(); sys.exit(3)", 3, ""),
}


@pytest.mark.parametrize(("ending", "code", "failure"), EXITS.values(), ids=EXITS)
def test_a_script_that_exits_says_what_its_run_says(
    tracker, run_script, ending, code, failure
):
    ended = run_script(f"import sys\n{LOG_THREE}\n{ending}")

    assert ended.returncode == code, ended.stderr
    assert {m["failure"] for m in tracker.of_kind("close")} == {failure}


def test_sys_exit_is_as_it_was_when_the_last_run_has_ended(tracker, run_script):
    script = """
import sys
original, call = sys.exit, type(exit).__call__
import agent
first, second = agent.init("a", monitor=False), agent.init("b", monitor=False)
first.finish()
assert sys.exit is not original and sys.exit.__name__ == "exit"
assert type(exit).__call__ is not call
second.finish()
assert sys.exit is original and type(exit).__call__ is call
third = agent.init("c", monitor=False)
ours = sys.exit
def theirs(*arguments): ours(*arguments)
sys.exit = theirs
third.finish()
assert sys.exit is theirs
agent.init("d", monitor=False)
assert sys.exit is theirs
sys.exit(3)
"""
    ended = run_script(script)

    assert ended.returncode == 3, ended.stderr
    states = tracker.states()
    assert sorted(states) == ["failed", "finished", "finished", "finished"]


def test_a_script_without_site_runs_as_ever(tracker, run_script):
    script = f"import builtins, sys\ndel builtins.exit, builtins.quit\n{LOG_THREE}\nsys.exit(3)"

    assert run_script(script).returncode == 3
    assert tracker.states() == ["failed"]


def test_what_exits_may_travel_to_another_process(tracker, run_script):
    script = f"""
import copy, pickle, sys
{LOG_THREE}
try:
    sys.exit(3)
except SystemExit as error:
    assert pickle.loads(pickle.dumps(error)).code == 3
    assert copy.copy(error).code == 3
"""
    ended = run_script(script)

    assert ended.returncode == 0, ended.stderr
    assert tracker.states() == ["finished"]


HANDLED = """
import os, signal, sys, time
import agent

def leave(number, frame):
    os.write(1, b"handled")
    ENDING

signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGUSR1, leave)
run = agent.init("r", monitor=False)
run["a"].append(1.0)
os.kill(os.getpid(), signal.SIGNAL)
time.sleep(0.5)
"""


@pytest.mark.parametrize(
    ("number", "ending", "said"),
    [
        ("SIGTERM", "sys.exit(7)", (7, "finished", True)),
        ("SIGTERM", "raise RuntimeError('told to end')", (1, "failed", True)),
        ("SIGTERM", "pass", (0, "finished", True)),
        # Its meaning is the script's choice, for example: write a checkpoint and
        # continue.
        ("SIGUSR1", "sys.exit(7)", (7, "failed", False)),
        ("SIGUSR1", "run.preempt(); sys.exit(7)", (7, "finished", True)),
    ],
)
def test_a_script_that_was_told_to_end_handles_it_and_was_preempted(
    tracker, run_script, number, ending, said
):
    script = HANDLED.replace("ENDING", ending).replace("SIGNAL", number)
    ended = run_script(script, SEAMARK_CAPTURE="signals")

    (close,) = tracker.of_kind("close")
    is_preempted = close.get("preempted", False)
    assert (ended.returncode, close["state"], is_preempted) == said
    assert ended.stdout == "handled"
    assert tracker.values("a") == [1.0]


def test_an_uncaught_exception_is_shown_as_ever_and_kept_with_the_run(
    tracker, run_script
):
    ended = run_script(f"{LOG_THREE}\nraise ValueError('no data')")

    assert ended.stderr.rstrip().endswith("ValueError: no data")
    assert "no data" in tracker.of_kind("close")[0]["failure"]


def typed(lines, *arguments):
    """Type the lines at a prompt of Python's, on a terminal."""
    terminal, other = os.openpty()
    with os.fdopen(terminal, "wb", buffering=0) as keys:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TERM": "dumb"},
            stdin=other,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        os.close(other)
        keys.write("".join(f"{line}\n" for line in lines).encode())
        return process.communicate(timeout=60)[0]


def test_an_error_at_pythons_prompt_fails_no_run(tracker):
    lines = [*LOG_THREE.split("\n"), "1 / 0", "1 +", "run['b'].append(4.0)", "exit()"]
    output = typed(lines)

    assert "ZeroDivisionError" in output
    assert "SyntaxError" in output
    assert tracker.values("b") == [4.0], output
    assert tracker.states() == ["finished"]


def test_a_script_that_fails_and_leaves_a_prompt_has_not_ended(tracker, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(f"{LOG_THREE}\n1 / 0")
    output = typed(["run['b'].append(4.0)", "exit()"], "-i", str(script))

    assert "ZeroDivisionError" in output
    assert tracker.values("b") == [4.0], output
    assert tracker.states() == ["finished"]


@pytest.mark.parametrize(
    ("ending", "code", "state"),
    [("", 0, "finished"), ("raise ValueError", 1, "failed")],
)
def test_an_error_in_a_console_of_the_scripts_is_not_its_end(
    tracker, tmp_path, ending, code, state
):
    script = tmp_path / "train.py"
    script.write_text(f"import code\n{LOG_THREE}\ncode.interact()\n{ending}")
    ended = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        input="1 / 0\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, "ZeroDivisionError" in ended.stderr) == (code, True)
    assert tracker.states() == [state]


def test_without_a_server_the_script_ends_soon_and_sync_delivers_once(
    run_script, absent_server, spool_root, monkeypatch
):
    began = time.monotonic()
    ended = run_script(f"{LOG_THREE}\nimport sys; sys.exit(7)")
    seconds = time.monotonic() - began

    assert ended.returncode == 7
    assert seconds < 60  # 5 s of waiting, and Python itself on a busy machine
    assert f"`{command_line('sync')}`" in ended.stderr
    monkeypatch.setattr("seamark.commands.sync._PATIENCE_SECONDS", 0.1)
    assert main(["sync"]) == 1

    double = TrackerDouble(absent_server)
    try:
        assert run_script(SYNC).returncode == 0
        assert run_script(SYNC).returncode == 0
        assert double.values("a") == [1.0, 2.0, 3.0]
        assert len(double.frames) == 1
    finally:
        double.stop()
    assert list(spool_root.iterdir()) == []


def test_sync_can_wait_for_what_others_will_leave(tracker, run_script):
    follow = subprocess.Popen(
        [sys.executable, "-m", "seamark", "sync", "--follow"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )

    run_script(LOG_THREE, SEAMARK_MODE="offline")

    try:
        wait_until(lambda: tracker.values("a") == [1.0, 2.0, 3.0])
    finally:
        follow.send_signal(signal.SIGINT)
    assert follow.wait(60) == 130


def test_status_lists_what_is_left(run_script, absent_server):
    run_script(LOG_THREE, SEAMARK_EXIT_SECONDS="0")

    shown = run_script(SYNC.replace("sync", "status")).stdout

    assert "orphaned" in shown
    assert "run 'r'" in shown


COUNT_UNTIL_KILLED = """
import sys, time, agent
run = agent.init("r", monitor=False, mode="offline")
count = 0
while True:
    run["a"].append(float(count))
    count += 1
    sys.stdout.write(f"{time.time()} {count}\\n")
    sys.stdout.flush()
    time.sleep(0.001)
"""


@pytest.mark.parametrize("seconds", [0.3, 1.1, 1.6])
def test_a_killed_process_loses_nothing_it_has_logged(
    run_script, tracker, tmp_path, seconds
):
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with (tmp_path / "out").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", COUNT_UNTIL_KILLED], stdout=output, env=environment
        )
        wait_until(lambda: (tmp_path / "out").stat().st_size)
        # The duration of logging varies, so there is no event to wait for.
        time.sleep(seconds)
        process.kill()
        process.wait()
    lines = [line.split() for line in (tmp_path / "out").read_text().splitlines()]
    wrote_at, said = float(lines[-1][0]), int(lines[-1][1])

    assert run_script(SYNC).returncode == 0

    values = tracker.values("a")
    assert values == [float(n) for n in range(len(values))]
    # It may have been killed between a call and its report.
    assert len(values) - said in (0, 1)
    # The process could not report its end; the deliverer reports its last write.
    assert tracker.states() == ["crashed"]
    (written,) = tracker.gone.values()
    assert written / 1e6 == pytest.approx(wrote_at, abs=2)


def test_ctrl_c_twice_leaves_at_once(run_script, absent_server, tmp_path):
    # CPython ignores Ctrl-C at exit while a thread still imports modules.
    waiting = "import time; time.sleep(1); print('ready', flush=True); time.sleep(60)"
    script = f"{LOG_THREE}\n{waiting}"
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "SEAMARK_EXIT_SECONDS": "30"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()

    process.send_signal(signal.SIGINT)
    # The traceback: the end has begun.
    assert any("KeyboardInterrupt" in line for line in process.stderr)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGINT)

    process.wait(20)  # of the thirty seconds of sleep
    assert f"`{command_line('sync')}`" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


def test_what_a_call_has_logged_is_safe_when_it_returns(run_script, tracker):
    script = """
import os, signal, agent
run = agent.init("r", monitor=False)
for step in range(2_000):
    run.log({"a": step, "b": step}, step=step)
    run["c"].append(step)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run_script(script).returncode == -signal.SIGKILL
    assert run_script(SYNC).returncode == 0

    for path in "abc":
        assert tracker.steps(path) == list(range(2_000))
        assert tracker.values(path) == list(range(2_000))


def test_threads_that_log_at_once_lose_nothing(run_script, tracker):
    script = """
import sys, threading, agent
sys.setswitchinterval(1e-5)
run = agent.init("r", monitor=False)
def log(number):
    for step in range(3_000):
        run.log({f"own/{number}": step, f"too/{number}": step}, step=step)
        run["shared"].append(number)
threads = [threading.Thread(target=log, args=(number,)) for number in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    ended = run_script(script, seconds=60)

    assert ended.returncode == 0, ended.stderr
    for number in range(6):
        assert sorted(tracker.values(f"own/{number}")) == list(range(3_000))
        assert sorted(tracker.steps(f"too/{number}")) == list(range(3_000))
    assert sorted(tracker.steps("shared")) == list(range(6 * 3_000))


def test_exceptions_out_of_signal_handlers_leave_nothing_behind(run_script, tracker):
    script = """
import signal, threading, time, agent
class Stop(Exception): pass
def stop(number, frame): raise Stop
signal.signal(signal.SIGALRM, stop)
run = agent.init("r", monitor=False)
for round in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003)
        while True:
            run["a"].append(1.0)
            run.log({"b": 1.0, "c": 1.0})
    except Stop:
        pass
while not run._session.is_all_written:
    time.sleep(0.01)
recorder = run._recorder
free = []
def log():
    free.append(recorder._rows._turn.acquire(timeout=5))
    recorder._rows._turn.release()
    run["after"].append(1.0)
thread = threading.Thread(target=log)
thread.start()
thread.join()
print(free, recorder._rows._is_busy, len(recorder.buffer._rows))
"""
    ended = run_script(script, seconds=60)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "[True] False 0\n"
    assert tracker.values("after") == [1.0]
    steps = tracker.steps("a")
    assert len(set(steps)) == len(steps)


def test_a_full_disk_costs_points_but_is_counted(tracker, run_script):
    script = """
import errno, os, agent
from seamark.queue import spool
from tests.agent.conftest import wait_until
run = agent.init("r", monitor=False)
run["a"].append(1.0)
run._recorder._rows._ring = None
# A row of one point takes 96 bytes.
run._recorder.buffer._capacity = 96 * 100
write, full, refused = os.write, True, []
class Disk:
    def __getattr__(self, name): return getattr(os, name)
    def write(self, fd, data):
        if full:
            refused.append(fd)
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data)
spool.os = Disk()
run["b"].append(1.0)
wait_until(lambda: refused)
for number in range(1000):
    run["c"].append(float(number))
full = False
wait_until(lambda: run._session._writer._is_all_taken)
run["d"].append(1.0)
"""
    ended = run_script(script)

    assert ended.returncode == 0, ended.stderr
    dropped = sum(m["points"] for m in tracker.of_kind("drop"))
    assert tracker.values("b") == [1.0]
    assert tracker.values("d") == [1.0]
    assert len(tracker.values("c")) + dropped == 1000
    assert dropped >= 900
    assert ended.stderr.count("cannot be written") == 1


def test_a_spool_that_cannot_be_made_goes_to_another_folder(
    tracker, run_script, tmp_path
):
    (tmp_path / "file").write_text("")

    ended = run_script(LOG_THREE, SEAMARK_SPOOL=str(tmp_path / "file"))

    assert ended.returncode == 0
    assert tracker.values("a") == [1.0, 2.0, 3.0]
    assert ended.stderr.count("cannot be written") == 1


def test_all_that_is_slow_at_the_end_shares_its_time(run_script, tmp_path):
    program = tmp_path / "programs" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 20\n")
    program.chmod(0o700)
    script = """
import atexit, time
ended = []
# Registered before the agent's own, so it runs after it.
atexit.register(lambda: print(time.monotonic() - ended[0]))
import agent
for name in "ab":
    agent.init(name, monitor=False, capture=["git"])["loss"].append(1.0)
time.sleep(0.5)
ended.append(time.monotonic())
raise ValueError("its own")
"""
    # Accepts, and never answers.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = run_script(
            script,
            SEAMARK_URL=f"http://127.0.0.1:{listener.getsockname()[1]}",
            SEAMARK_TOKEN=TOKEN,
            SEAMARK_EXIT_SECONDS="4",
            PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        )

    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.count("is not completely delivered") == 2
    # Each waiting for itself, they would take twelve.
    assert float(ended.stdout) < 6


def test_a_run_without_a_network_says_where_it_lies(run_script, tmp_path):
    script = "import agent; agent.init('away', monitor=False)['a'].append(1.0)"
    spools = tmp_path / "spools"

    ended = run_script(script, SEAMARK_MODE="offline", SEAMARK_SPOOL=str(spools))

    assert f"seamark: run 'away' is stored in {spools}/" in ended.stderr
    by_hand = command_line(f"sync --spool {spools}")
    assert ended.stderr.endswith(f"until `{by_hand}`\n")


def test_a_script_that_is_told_to_end_within_its_run_was_preempted(tracker, run_script):
    script = """
import os, signal, sys, time
import agent
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
with agent.init("r", monitor=False) as run:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(30)
"""
    ended = run_script(script, SEAMARK_CAPTURE="signals,failure")

    (close,) = tracker.of_kind("close")
    assert ended.returncode == 143, ended.stderr
    assert (close["state"], close["failure"]) == ("finished", "")
    assert close["preempted"]
    assert not [m for m in tracker.of_kind("set") if "/failure/" in m["path"]]


def test_a_generator_that_is_left_early_fails_no_run(tracker):
    def steps():
        with agent.init("r", monitor=False) as run:
            for number in range(3):
                run["a"].append(float(number))
                yield number

    generator = steps()
    next(generator)
    generator.close()

    assert tracker.states() == ["finished"]


@pytest.mark.parametrize(
    "part",
    [
        "seamark.capture.capture.Capture.finish",
        "seamark.recording.files.Files.finish",
        "seamark.upload.sender.Sender.drain",
    ],
)
def test_a_run_whose_end_is_interrupted_has_ended(tracker, monkeypatch, part):
    def interrupted(*_):
        raise KeyboardInterrupt

    before = agents_threads()
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    monkeypatch.setattr(part, interrupted)

    with pytest.raises(KeyboardInterrupt):
        run.finish()

    wait_until(lambda: agents_threads() <= before)
    main(["sync"])
    assert tracker.values("a") == [1.0]
    assert tracker.states() == ["finished"]


def agents_threads():
    return {thread for thread in threading.enumerate() if "seamark" in thread.name}


BEGIN_AT_ONCE = """
import agent, threading
from concurrent.futures import ThreadPoolExecutor

barrier = threading.Barrier(8)

def begin(number):
    barrier.wait()
    run = agent.init("r", monitor=False)
    run[f"a{number}"].append(1.0)
    return run

with ThreadPoolExecutor(8) as pool:
    assert len({id(run) for run in pool.map(begin, range(8))}) == 1
"""


def test_threads_that_begin_at_once_have_one_run(tracker, run_script):
    ended = run_script(BEGIN_AT_ONCE)

    assert ended.returncode == 0, ended.stderr
    assert len(tracker.of_kind("open")) == len(tracker.of_kind("close")) == 1
    assert [tracker.values(f"a{number}") for number in range(8)] == [[1.0]] * 8


@pytest.mark.parametrize(("rank", "is_said"), [(0, True), (1, False)])
def test_ranks_without_a_common_name_are_told_once(tracker, run_script, rank, is_said):
    script = "import agent; agent.init(monitor=False)['a'].append(1.0)"

    ended = run_script(script, WORLD_SIZE="8", RANK=str(rank))

    assert ("each of 8 processes" in ended.stderr) is is_said
    assert "each of 8" not in run_script(script, WORLD_SIZE="8", SEAMARK_RUN="r").stderr
