"""Automatic capture of a process's source, environment and output."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone

import msgspec
import pytest

import agent
from seamark.capture.choice import NAMES
from seamark.capture.signals import Signals
from seamark.errors import InvalidSetting
from tests.agent.conftest import REPOSITORY, wait_until

INIT = "import agent, os, sys, time\nrun = agent.init('r')\n"


def start(script, **variables):
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def captured(tracker, prefix="monitoring/main/"):
    return {
        path.removeprefix(prefix): value
        for path, value in tracker.attributes().items()
        if path.startswith(prefix)
    }


def test_a_script_says_what_it_is(tracker, tmp_path):
    script = tmp_path / "train.py"
    text = f"{INIT}print('hello')\n"
    script.write_text(text)
    subprocess.run(
        [sys.executable, script, "--lr", "0.1", "two words"],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "OMP_NUM_THREADS": "3",
            "HF_TOKEN": "not-on-the-list",
            "EDITOR": "not-on-the-list",
        },
        cwd=tmp_path,
        check=True,
        timeout=60,
    )

    facts = captured(tracker)
    assert facts["source/script"] == str(script)
    assert facts["source/text"] == text
    assert facts["source/arguments"].endswith("train.py --lr 0.1 'two words'")
    assert facts["source/folder"] == str(tmp_path)
    assert facts["source/executable"] == sys.executable
    assert facts["source/python"] == sys.version.split()[0]
    assert facts["environment/OMP_NUM_THREADS"] == "3"
    assert "not-on-the-list" not in str(tracker.messages())
    assert f"msgspec=={msgspec.__version__}" in facts["packages/list"].splitlines()
    assert facts["packages/count"] == len(facts["packages/list"].splitlines())
    assert facts["git/absent"].endswith("is not in a git repository.")
    assert facts["facts/kernel"].startswith("Linux ")
    assert facts["facts/host_memory_bytes"] > 0


def test_what_cannot_be_captured_says_why(tracker, run_script):
    run_script(INIT, PATH="/nonexistent")

    facts = captured(tracker)
    assert facts["git/absent"] == "git is not installed."
    assert facts["source/absent"].startswith("There is no script")
    assert "source/script" not in facts


def test_long_texts_are_cut_with_a_mark(tracker, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(f"{INIT}{'# a comment' * 10_000}\n")
    subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        check=True,
        timeout=60,
    )

    text = captured(tracker)["source/text"]
    assert len(text) <= 65_536
    assert text.endswith("more characters are not stored")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("yes", {"source", "facts", "environment", "git", "packages"}),
        ("no", set()),
        ("git", {"git"}),
        ("git, source", {"git", "source"}),
        ("-git,-packages", {"source", "facts", "environment"}),
    ],
)
def test_each_source_can_be_turned_off(tracker, run_script, wanted, found):
    run_script(INIT, SEAMARK_CAPTURE=wanted, OMP_X="1")

    assert {path.partition("/")[0] for path in captured(tracker)} == found


@pytest.mark.parametrize("capture", ["git", {"gti"}, 3, {"git", "-source"}])
def test_settings_that_cannot_be_meant_are_refused(capture):
    with pytest.raises(InvalidSetting, match="capture"):
        agent.init("r", capture=capture, mode="disabled")


def test_an_argument_comes_before_the_variable(monkeypatch):
    monkeypatch.setenv("SEAMARK_CAPTURE", "git")

    assert agent.init("a", mode="disabled").settings.capture == {"git"}
    assert agent.init("b", mode="disabled", capture=True).settings.capture == NAMES
    assert not agent.init("c", mode="disabled", capture=False).settings.capture


def test_other_ranks_leave_what_is_the_same_to_the_first(tracker, run_script):
    run_script(f"{INIT}print('hi')", RANK="3", OMP_X="1")

    found = captured(tracker, "monitoring/main/rank-3/")
    assert {path.partition("/")[0] for path in found} == {"facts", "environment"}
    assert tracker.texts("monitoring/main/rank-3/stdout") == ["hi"]


def test_an_uncaught_exception_is_stored_without_anybodys_variables(
    tracker, run_script
):
    script = f"""
{INIT}
def f(batch):
    inside = "a local's content"
    raise KeyError("no such column")
try:
    f([1, 2])
except KeyError as error:
    raise RuntimeError("while loading") from error
"""
    ended = run_script(script)

    facts = captured(tracker)
    assert ended.returncode == 1
    assert facts["failure/type"] == "RuntimeError"
    assert facts["failure/message"] == "while loading"
    assert "KeyError: 'no such column'" in facts["failure/traceback"]
    assert "in f" in facts["failure/traceback"]
    assert "local's content" not in facts["failure/traceback"]


def test_an_endless_recursion_is_short(tracker, run_script):
    run_script(f"{INIT}def f(n): return f(n + 1) + g(n)\ndef g(n): return 1\nf(0)")

    facts = captured(tracker)
    assert facts["failure/type"] == "RecursionError"
    assert len(facts["failure/traceback"]) < 60_100


def test_an_exception_without_a_text_is_stored(tracker, run_script):
    script = (
        f"{INIT}class Odd(Exception):\n"
        "    def __str__(self): raise ValueError\n"
        "raise Odd"
    )
    assert run_script(script).returncode == 1

    assert captured(tracker)["failure/type"] == "Odd"
    assert "is unavailable" in captured(tracker)["failure/message"]


HANDLED = f"""
import signal
{INIT}
{{before}}
def handler(number, frame):
    print("handler ran", flush=True)
    {{ending}}
signal.signal(signal.SIGTERM, handler)
print("ready", flush=True)
for _ in range(3000): time.sleep(0.01)
"""


@pytest.mark.parametrize(
    ("ending", "code"), [("sys.exit(143)", 143), ("sys.exit(0)", 0), ("os._exit(5)", 5)]
)
def test_a_handler_of_the_users_runs_and_the_signal_is_known(tracker, ending, code):
    process = start(HANDLED.format(before="", ending=ending))
    assert process.stdout.readline() == "ready\n"
    # Python lets no handler print while the line before is still being printed.
    time.sleep(0.5)
    began = time.monotonic()

    process.send_signal(signal.SIGTERM)

    assert process.communicate(timeout=60)[0] == "handler ran\n"
    assert process.returncode == code
    assert time.monotonic() - began < 10
    if code != 5:
        moment = captured(tracker)["signals/SIGTERM"]
        assert abs((datetime.now(timezone.utc) - moment).total_seconds()) < 60
        # os._exit (code 5) skips the last look at the output. The handler may print in
        # the middle of the line before.
        assert "handler ran" in "".join(tracker.texts("monitoring/main/stdout"))


def test_a_handler_that_goes_on_is_seen_at_once(tracker):
    process = start(HANDLED.format(before="", ending="pass"))
    process.stdout.readline()

    process.send_signal(signal.SIGTERM)

    wait_until(lambda: "signals/SIGTERM" in captured(tracker))
    process.kill()
    process.communicate()


def test_without_a_handler_a_signal_ends_the_process_as_ever(tracker):
    process = start(f"{INIT}print('ready', flush=True)\ntime.sleep(60)")
    process.stdout.readline()

    process.send_signal(signal.SIGTERM)

    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM


def test_handlers_are_not_touched(tracker, run_script):
    script = f"""
import signal
before = {{n: signal.getsignal(n) for n in signal.valid_signals()}}
{INIT}
assert before == {{n: signal.getsignal(n) for n in signal.valid_signals()}}
run.finish()
assert signal.set_wakeup_fd(-1) == -1
"""
    assert run_script(script).returncode == 0


def test_event_loops_keep_their_signals(tracker, run_script):
    script = f"""
import asyncio, signal
{INIT}
async def work():
    done = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, done.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(done.wait(), 10)
asyncio.run(work())
run.finish()
"""
    ended = run_script(script)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_childs_signals_are_not_the_parents(tracker, run_script):
    script = f"""
import signal
{INIT}
signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)
os.waitpid(pid, 0)
time.sleep(0.5)
"""
    assert run_script(script).returncode == 0
    assert "signals/SIGTERM" not in captured(tracker)


def test_a_crash_of_the_interpreter_keeps_its_signal(tracker, run_script):
    ended = run_script(f"{INIT}print('x', flush=True)\nos.abort()")

    assert ended.returncode == -signal.SIGABRT


def test_a_forked_worker_captures_nothing_again(tracker, run_script):
    script = f"""
import multiprocessing
{INIT}
def work():
    run["w"].append(1.0)
    raise ValueError("in the worker")
process = multiprocessing.get_context("fork").Process(target=work)
process.start(); process.join()
"""
    run_script(script)

    scripts = [m for m in tracker.of_kind("set") if m["path"].endswith("source/python")]
    assert len(scripts) == 1
    assert captured(tracker)["failure/message"] == "in the worker"


def test_a_source_that_fails_does_not_keep_others(tracker, run_script):
    script = (
        "import seamark.capture.host\n"
        "def broken(): raise OSError('no such thing')\n"
        "seamark.capture.host.facts = broken\n"
        f"{INIT}"
    )
    assert run_script(script).returncode == 0

    facts = captured(tracker)
    assert facts["facts/absent"] == "It cannot be captured: OSError."
    assert "packages/count" in facts


def test_a_signal_behind_thousands_of_others_is_seen():
    signals = Signals()
    assert signals.open()
    try:
        write_end = signal.set_wakeup_fd(-1)
        os.write(write_end, bytes([signal.SIGPROF]) * 20_000)
        os.write(write_end, bytes([signal.SIGTERM]))

        assert signals.take() == ["SIGTERM"]
        assert signals.was_preempted
    finally:
        signals.close()


@pytest.fixture
def usual_handler():
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_each_run_sees_the_signals_that_come_while_it_is_open(usual_handler):
    first, second, third = Signals(), Signals(), Signals()
    assert first.open()
    assert second.open()
    signal.raise_signal(signal.SIGUSR1)
    assert third.open()

    assert [s.take() for s in (third, second, first)] == [[], ["SIGUSR1"], ["SIGUSR1"]]

    first.close()
    second.close()
    signal.raise_signal(signal.SIGUSR1)
    assert third.take() == ["SIGUSR1"]
    third.close()
    assert signal.set_wakeup_fd(-1) == -1


def test_a_run_after_one_that_ended_in_another_thread_sees_signals(usual_handler):
    first, second = Signals(), Signals()
    assert first.open()
    thread = threading.Thread(target=first.close)
    thread.start()
    thread.join()

    signal.raise_signal(signal.SIGUSR1)
    assert second.open()
    assert second.take() == []
    signal.raise_signal(signal.SIGUSR1)
    assert second.take() == ["SIGUSR1"]
    second.close()


def test_an_event_loop_puts_back_what_it_found_after_the_run_has_ended(usual_handler):
    signals = Signals()
    assert signals.open()
    theirs, other = socket.socketpair()
    with theirs, other:
        theirs.setblocking(False)
        found = signal.set_wakeup_fd(theirs.fileno())
        signals.close()
        assert signal.set_wakeup_fd(found) == theirs.fileno()

    later = Signals()
    assert later.open()
    signal.raise_signal(signal.SIGUSR1)
    assert later.take() == ["SIGUSR1"]
    later.close()


def test_an_event_loop_that_goes_on_in_a_forked_child_ends_as_ever(run_script):
    script = """
import os, signal, socket
from seamark.capture.signals import Signals
signals = Signals()
assert signals.open()
theirs, other = socket.socketpair()
theirs.setblocking(False)
found = signal.set_wakeup_fd(theirs.fileno())
signal.signal(signal.SIGTERM, lambda *_: None)
signal.set_wakeup_fd(theirs.fileno())
pid = os.fork()
if pid == 0:
    assert signal.set_wakeup_fd(found) == theirs.fileno()
    signal.raise_signal(signal.SIGTERM)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
signal.set_wakeup_fd(found)
assert signals.take() == []
"""
    ended = run_script(script)

    assert (ended.returncode, ended.stderr) == (0, "")


NO_PIPE = """
import resource, signal
opened = [open(os.devnull)]
resource.setrlimit(resource.RLIMIT_NOFILE, (opened[0].fileno() + 1,) * 2)
"""
CLOSED_BY_ITS_OWNER = """
read_end, write_end = os.pipe()
os.set_blocking(write_end, False)
signal.set_wakeup_fd(write_end)
os.close(write_end)
"""


@pytest.mark.parametrize("before", [NO_PIPE, CLOSED_BY_ITS_OWNER])
def test_where_signals_cannot_be_seen_nothing_is_raised(run_script, before):
    script = f"""
import os, signal
from seamark.capture.signals import Signals
{before}
assert not Signals().open()
assert signal.set_wakeup_fd(-1) == -1
"""
    ended = run_script(script)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_each_of_two_open_runs_was_told_to_end(tracker, run_script):
    script = """
import os, signal, sys
import agent
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
first, second = agent.init("first"), agent.init("second")
os.kill(os.getpid(), signal.SIGTERM)
"""
    assert run_script(script, SEAMARK_CAPTURE="signals").returncode == 143

    closes = tracker.of_kind("close")
    assert [m["state"] for m in closes] == ["finished"] * 2
    assert [m["preempted"] for m in closes] == [True] * 2
