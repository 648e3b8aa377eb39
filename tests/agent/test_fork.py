"""Child processes and the run of their parent."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import agent
from seamark.commands import main
from seamark.lifecycle.background import Background
from tests.agent.conftest import REPOSITORY

FORK_EIGHT = """
import os, time, agent
run = agent.init("r", monitor=False)
run["parent"].extend(range(1000))
children = []
for number in range(8):
    pid = os.fork()
    if pid == 0:
        if number % 2:
            run[f"child/{number}"].append(1.0)
            run.finish()
        os._exit(0)
    children.append(pid)
codes = [os.waitpid(pid, 0)[1] for pid in children]
assert codes == [0] * 8, codes
run["parent"].append(1.0)
run.finish()
"""


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_sends_its_own_points_and_never_its_parents(tracker, run_script):
    ended = run_script(FORK_EIGHT)

    assert ended.returncode == 0, ended.stderr
    assert tracker.values("parent") == [*map(float, range(1000)), 1.0]
    assert [tracker.values(f"child/{n}") for n in range(8)] == [[], [1.0]] * 4
    assert len(tracker.frames) == 5


FORK_AT_THE_START = """
import os, time, agent
run = agent.init("r", mode="offline")
for _ in range(50):
    if not os.fork():
        os._exit(0)
    assert os.wait()[1] == 0
    time.sleep(0.01)
run.finish()
"""


def test_forks_while_monitoring_starts_print_nothing(run_script):
    ended = run_script(FORK_AT_THE_START, SEAMARK_MONITOR="yes")

    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


FORK_WITHIN_A_LOOP = """
import os, agent
run = agent.init("r", stage="train", monitor=False)
for _ in run.loader([0]):
    with run.phase("forward"):
        pass
    pid = os.fork()
    if pid == 0:
        with run.phase("decode"):
            pass
        for _ in run.loader([1, 2]):
            pass
        run.finish()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_loop_is_in_none(tracker, run_script):
    ended = run_script(FORK_WITHIN_A_LOOP)

    step = "monitoring/train/step"
    assert ended.returncode == 0, ended.stderr
    assert len(tracker.values(f"{step}/phase/decode_seconds")) == 1
    assert len(tracker.values(f"{step}/phase/forward_seconds")) == 1
    assert len(tracker.values(f"{step}/seconds")) == 3


def test_a_child_of_a_trial_stays_apart_from_the_steps(tracker):
    run = agent.init("r", stage="train", monitor=False)
    with run.steps.paused():
        run.start_anew_in_child()
        with run.phase("decode"):
            pass
        run["other"].append(1.0)
    run.finish()

    assert tracker.paths() == {"other"}


SILENT_CHILD = """
import os, sys, time, agent
run = agent.init("r", monitor=False)
pid = os.fork()
if pid == 0:
    began = time.perf_counter()
    import atexit
    atexit._run_exitfuncs()
    os._exit(0 if time.perf_counter() - began < 0.1 else 1)
print(pid)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_child_that_logs_nothing_ends_at_once(tracker, run_script):
    done = run_script(SILENT_CHILD)
    assert done.returncode == 0
    opened = {message["pid"] for message in tracker.of_kind("open")}
    assert opened
    assert int(done.stdout.split()[-1]) not in opened


WORKERS = """
import multiprocessing, sys, agent

def work(run, number):
    run[f"child/{number}"].append(float(number))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    run = agent.init("r", monitor=False)
    processes = [context.Process(target=work, args=(run, n)) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0, process.exitcode
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_run_given_to_another_process_goes_on_there(tracker, tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(WORKERS)

    subprocess.run(
        [sys.executable, str(script), method],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=60,
        check=True,
    )

    assert [tracker.values(f"child/{n}") for n in range(2)] == [[0.0], [1.0]]
    assert {m["run"] for m in tracker.of_kind("open")} == {"r"}
    assert len(tracker.of_kind("close")) == 3


FAILING_WORKER = """
import multiprocessing, sys, agent

def work(ending):
    agent.init("r", monitor=False)
    if ending == "raise":
        raise ValueError("no data")
    sys.exit(int(ending))

if __name__ == "__main__":
    try:
        raise KeyError("handled by the parent")
    except KeyError:
        context = multiprocessing.get_context("fork")
        process = context.Process(target=work, args=(sys.argv[1],))
        process.start()
    process.join()
"""


@pytest.mark.parametrize(
    ("ending", "state", "failure"),
    [
        ("raise", "failed", "no data"),
        ("3", "failed", "SystemExit: 3"),
        ("0", "finished", ""),
    ],
)
def test_a_process_of_multiprocessing_ends_as_its_target_does(
    tracker, tmp_path, ending, state, failure
):
    script = tmp_path / "script.py"
    script.write_text(FAILING_WORKER)

    subprocess.run(
        [sys.executable, str(script), ending],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=60,
        check=True,
    )

    (close,) = tracker.of_kind("close")
    assert close["state"] == state
    assert failure in close["failure"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_signal_handler_that_interrupts_an_import_may_fork_and_fail(
    tracker, run_script
):
    script = """
import os, signal, agent
from seamark.lifecycle.background import importing
from tests.agent.conftest import wait_until
run = agent.init("r", monitor=False)
run["a"].append(1.0)
# The sender imports what it needs with its first turn.
wait_until(lambda: run._session._sender.is_everything_sent)
def leave(*_):
    child = os.fork()
    if child == 0:
        run["child"].append(1.0)
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    run.fail("told to")
signal.signal(signal.SIGALRM, leave)
with importing():
    signal.raise_signal(signal.SIGALRM)
"""
    ended = run_script(script)

    assert (ended.returncode, ended.stdout) == (0, "0\n"), ended.stderr
    assert ("failed", "told to") in [
        (message["state"], message["failure"]) for message in tracker.of_kind("close")
    ]


def test_a_signal_handler_may_stop_the_thread_that_is_being_started():
    background = Background("interrupted", lambda: 60.0)
    # As if by a signal, within the lock and before the thread is known.
    start = background._start_thread

    def interrupted():
        background.ensure()
        assert background.stop(0)
        start()

    background._start_thread = interrupted
    background.ensure()

    assert background.stop(60)


POOL = """
import multiprocessing, sys, agent

def work(number):
    run["a"].append(float(number))

def begin(given):
    global run
    run = given

if __name__ == "__main__":
    run = agent.init("r", monitor=False)
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2, begin, (run,)) as pool:
        pool.map(work, range(8), chunksize=1)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_that_are_terminated_have_said_whose_they_are(
    tracker, tmp_path, method
):
    perform(tmp_path, POOL, method)
    main(["sync"])

    helpers = [m.get("helper", False) for m in tracker.of_kind("open")]
    assert sorted(helpers) == [False, *[True] * (len(helpers) - 1)]
    assert len(helpers) > 1
    assert sorted(tracker.values("a")) == [float(number) for number in range(8)]


IMPORTED_AGAIN = """
import multiprocessing, sys, agent

run = agent.init(NAME, params={"lr": 0.1})

def log():
    run["a"].append(1.0)

def rest():
    pass

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    for target in (log, rest):
        process = context.Process(target=target)
        process.start()
        process.join()
        assert process.exitcode == 0
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_script_that_is_imported_again_begins_nothing(tracker, tmp_path, method):
    perform(tmp_path, IMPORTED_AGAIN.replace("NAME", "'r'"), method)

    opens = tracker.of_kind("open")
    assert [m["run"] for m in opens] == ["r", "r"]
    assert sorted(m.get("helper", False) for m in opens) == [False, True]
    assert len({m["pid"] for m in opens}) == 2
    assert tracker.values("a") == [1.0]
    assert len([m for m in tracker.of_kind("set") if m["path"] == "params/lr"]) == 1


def test_where_its_run_has_no_name_it_says_so(tracker, tmp_path):
    output = perform(tmp_path, IMPORTED_AGAIN.replace("NAME", "None"), "spawn")

    assert output.count("has imported the script again") == 1
    assert tracker.values("a") == [1.0]


def perform(folder, script, *arguments):
    path = folder / "script.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, str(path), *arguments],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr
