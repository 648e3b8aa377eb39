from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest

from seamark.capture.git import Git
from seamark.probes.probe import Job, ProbeUnavailable
from seamark.probes.process import processes as processes_module
from seamark.probes.process.process import ProcessProbe
from seamark.probes.process.processes import is_worker, parse_state
from tests.agent.conftest import wait_until

BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
PARENT = f"""
import subprocess, sys, threading
child = []
def start(): child.append(subprocess.Popen([sys.executable, "-c", {BUSY!r}]))
thread = threading.Thread(target=start); thread.start(); thread.join()
sys.stdin.readline()
child[0].kill(); child[0].wait()
sys.stdin.readline()
"""
WORKED = "import time\nwhile time.process_time() < 0.6: pass\ntime.sleep(60)"

# Starts a child on request, kills it, and then waits for it.
AT_A_WORD = f"""
import subprocess, sys, threading
child, end = [], threading.Event()
def start():
    child.append(subprocess.Popen([sys.executable, "-c", {WORKED!r}], stdin=-3))
    end.wait()
print("ready", flush=True)
sys.stdin.readline()
thread = threading.Thread(target=start, daemon=True); thread.start()
sys.stdin.readline()
child[0].kill()
sys.stdin.readline()
child[0].wait()
sys.stdin.readline()
"""
# The children of a thread that has ended are those of the main thread.
IN_SIGHT = AT_A_WORD.replace("end.wait()", "return")
WITH_LOADERS = """
import multiprocessing, sys, time
context = multiprocessing.get_context(sys.argv[1])
loaders = [context.Process(target=time.sleep, args=(60,)) for _ in range(2)]
for loader in loaders: loader.start()
print("ready", flush=True)
sys.stdin.readline()
for loader in loaders: loader.kill()
"""
AT_A_FORK_SERVER = """
import multiprocessing, sys, time
from multiprocessing import forkserver
context = multiprocessing.get_context("forkserver")
forkserver.ensure_running()
print("ready", flush=True)
sys.stdin.readline()
loaders = [context.Process(target=time.sleep, args=(60,)) for _ in range(2)]
for loader in loaders: loader.start()
sys.stdin.readline()
for loader in loaders: loader.kill()
"""
COMPILER = """
import subprocess, sys
pool = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=-1, stdout=-1, text=True)
pool.stdout.readline()
print("ready", flush=True)
sys.stdin.readline()
pool.communicate("\\n")
"""


@contextlib.contextmanager
def run(script, *arguments):
    """Run a script that waits for lines, until the test has ended."""
    # When the test closes its standard input, the script ends its children.
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield process


def say(process):
    """Have a script read a line."""
    process.stdin.write(b"\n")
    process.stdin.flush()


def child_that_worked(process):
    """Have a script of those above start its child, and wait until that has worked."""
    say(process)
    children = psutil.Process(process.pid).children
    wait_until(lambda: any(sum(c.cpu_times()[:2]) > 0.57 for c in children()))
    (child,) = children()
    return child


@pytest.fixture
def parent():
    with run(PARENT) as process:
        yield process


@pytest.fixture
def parent_of_one_that_worked():
    with run(PARENT.replace(repr(BUSY), repr(WORKED))) as process:
        yield process


def test_workers_are_found_counted_and_their_time_added(parent):
    probe = ProcessProbe(parent.pid)
    now = 0.0

    def sample():
        nonlocal now
        now = time.monotonic()
        return probe.sample(now)

    wait_until(lambda: sample().get("job/workers") == 1)
    # Counters too young for a rate keep their older start: after the first wait,
    # all are read at once, and the second reading covers one span for all.
    for _ in range(2):
        wait_until(lambda: time.monotonic() > now + 0.6)
        reading = sample()

    assert reading["job/worker_cpu_cores"] > 0.1
    assert reading["job/cpu_cores"] >= reading["job/worker_cpu_cores"] * 0.9
    assert reading["job/main_cpu_cores"] < reading["job/cpu_cores"]
    assert reading["job/memory_bytes"] > 2**20

    say(parent)
    wait_until(lambda: sample().get("job/workers") == 0)
    assert "job/worker_cpu_cores" not in sample()


def count_workers(process, *, until):
    """Count a script's loader workers once all processes have started."""
    process.stdout.readline()
    parent = psutil.Process(process.pid)

    def has_begun():
        found = parent.children(recursive=True)
        return len(found) == until and all(child.cmdline() for child in found)

    wait_until(has_begun)
    workers = ProcessProbe(process.pid).sample(0.0)["job/workers"]
    say(process)
    process.wait()
    return workers


@pytest.mark.parametrize(
    ("method", "processes"), [("fork", 2), ("spawn", 3), ("forkserver", 4)]
)
def test_loader_workers_are_counted_however_they_start(method, processes):
    with run(WITH_LOADERS, method) as process:
        assert count_workers(process, until=processes) == 2


def test_workers_of_a_fork_server_are_found_at_the_next_look():
    with run(AT_A_FORK_SERVER) as process:
        process.stdout.readline()
        probe = ProcessProbe(process.pid)
        before = probe.sample(100.0)
        say(process)
        descendants = psutil.Process(process.pid).children
        wait_until(lambda: len(descendants(recursive=True)) == 4)

        after = probe.sample(101.0)

    assert (before["job/workers"], after["job/workers"]) == (0, 2)


@pytest.mark.parametrize(("method", "processes"), [("fork", 3), ("spawn", 4)])
def test_processes_of_the_compiler_are_no_loader_workers(tmp_path, method, processes):
    entry = tmp_path / "torch" / "_inductor" / "compile_worker" / "__main__.py"
    entry.parent.mkdir(parents=True)
    guarded = textwrap.indent(WITH_LOADERS, "    ")
    entry.write_text(f"if __name__ == '__main__':{guarded}")

    with run(COMPILER, str(entry), method) as process:
        assert count_workers(process, until=processes) == 0


def test_the_git_that_the_agent_asks_is_no_loader_worker(tmp_path):
    slow = tmp_path / "git"
    slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    slow.chmod(0o755)
    git = Git(tmp_path, {"PATH": str(tmp_path)})
    asking = threading.Thread(target=git.output, args=("status",))
    asking.start()

    def started():
        children = psutil.Process().children()
        return [child for child in children if str(slow) in child.cmdline()]

    wait_until(started)
    (child,) = started()
    works = is_worker(child.pid)
    child.kill()
    asking.join()

    assert not works


def test_what_a_process_runs_is_asked_again_while_it_begins(monkeypatch):
    lines = iter(["", "python -m torch/_inductor/compile_worker"])
    with run(PARENT) as process:
        parent = psutil.Process(process.pid)
        wait_until(lambda: [c for c in parent.children() if c.cmdline()])
        (child,) = parent.children()
        monkeypatch.setattr(
            processes_module,
            "_command_line",
            lambda pid: next(lines) if pid == child.pid else "python",
        )
        probe = ProcessProbe(process.pid)
        found = [probe.sample(float(now))["job/workers"] for now in range(2)]
        assert (found, next(lines, None)) == ([0, 0], None)

        monkeypatch.undo()
        assert probe.sample(2.0)["job/workers"] == 1
        say(process)


def test_what_a_worker_did_in_its_life_is_no_use_of_the_second_after_its_end(
    parent_of_one_that_worked, monkeypatch
):
    parent = parent_of_one_that_worked
    probe = ProcessProbe(parent.pid)
    wait_until(lambda: probe.sample(time.monotonic()).get("job/workers") == 1)
    (child,) = psutil.Process(parent.pid).children()
    wait_until(lambda: sum(child.cpu_times()[:2]) > 0.5)
    now = time.monotonic() + 10
    probe.sample(now)
    look = probe._main.lives

    def look_and_let_the_worker_end(now):
        lives = look(now)
        say(parent)
        wait_until(lambda: not psutil.pid_exists(child.pid))
        return lives

    with monkeypatch.context() as patch:
        patch.setattr(probe._main, "lives", look_and_let_the_worker_end)
        at_its_end = probe.sample(now + 1)
    later = probe.sample(now + 2)

    assert "job/cpu_cores" not in at_its_end
    assert later["job/cpu_cores"] < 0.2


def test_what_a_process_did_before_it_was_found_is_no_use_of_the_second_before():
    with run(AT_A_WORD) as process:
        process.stdout.readline()
        probe = ProcessProbe(process.pid)
        probe.sample(100.0)
        child = child_that_worked(process)
        probe.sample(104.5)

        found = probe.sample(105.0)
        say(process)
        say(process)
        wait_until(lambda: not psutil.pid_exists(child.pid))
        waited_for = probe.sample(106.0)

    assert found["job/workers"] == 1
    assert found["job/cpu_cores"] < 0.4
    assert waited_for["job/workers"] == 0
    assert waited_for["job/cpu_cores"] < 0.2


def test_what_a_process_did_since_it_began_a_moment_ago_counts():
    with run(IN_SIGHT) as process:
        process.stdout.readline()
        probe = ProcessProbe(process.pid)
        probe.sample(100.0)
        child_that_worked(process)

        assert probe.sample(101.0)["job/cpu_cores"] > 0.5


def test_a_worker_that_has_ended_and_is_not_waited_for_is_none():
    with run(IN_SIGHT) as process:
        process.stdout.readline()
        probe = ProcessProbe(process.pid)
        probe.sample(100.0)
        child = child_that_worked(process)
        working = probe.sample(111.0)
        say(process)
        wait_until(lambda: child.status() == psutil.STATUS_ZOMBIE)

        ended = probe.sample(122.0)
        found_as_such = ProcessProbe(process.pid).sample(122.0)
        say(process)
        wait_until(lambda: not psutil.pid_exists(child.pid))
        waited_for = probe.sample(123.0)

    assert working["job/workers"] == 1
    assert working["job/worker/0/memory_bytes"] > 0
    assert ended["job/workers"] == found_as_such["job/workers"] == 0
    assert not [path for path in ended if path.startswith("job/worker/")]
    # Its CPU time is kept, and its parent's count takes it over.
    assert 0 <= ended["job/cpu_cores"] < 0.2
    assert 0 <= waited_for["job/cpu_cores"] < 0.2


def test_a_process_without_children_has_no_worker_time():
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as alone:
        probe = ProcessProbe(alone.pid)
        probe.sample(0.0)

        assert "job/worker_cpu_cores" not in probe.sample(1.0)
        alone.communicate(b"\n")


def test_a_line_of_proc_is_read_whatever_the_name_of_the_process():
    fields = " ".join(str(number) for number in range(4, 53))
    state = parse_state(f"12 (a) b ) D {fields}".encode())

    assert state.state == "D"
    assert state.threads == 20
    assert state.major_faults == 12
    assert state.cpu_seconds == pytest.approx((14 + 15) / os.sysconf("SC_CLK_TCK"))


def test_the_main_thread_and_what_it_reads_are_told(tmp_path):
    (tmp_path / "data").write_bytes(b"x" * 1_000_000)
    probe = ProcessProbe()
    first = probe.sample(time.monotonic())
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        (tmp_path / "data").read_bytes()

    sample = probe.sample(time.monotonic())

    assert first["job/open_files"] > 2
    assert sample["job/requested_bytes_per_second"] > 1_000_000
    assert 0 < sample["job/main_thread_cpu_cores"] < 1.5
    assert sample["job/threads"] >= 1


def test_workers_are_summarized_by_the_least_and_the_most(parent):
    probe = ProcessProbe(parent.pid)
    wait_until(lambda: probe.sample(time.monotonic()).get("job/workers") == 1)
    time.sleep(0.6)

    sample = probe.sample(time.monotonic())

    cores = [sample[f"job/worker_cpu_cores{end}"] for end in ("_min", "", "_max")]
    assert cores == sorted(cores)
    assert sample["job/workers_blocked"] in (0, 1)
    assert 0 <= sample["job/worker_core_wait_share"] <= 1
    assert sample["job/worker_memory_bytes_max"] > 2**20


def test_each_worker_is_told_by_itself(parent):
    probe = ProcessProbe(parent.pid)
    wait_until(lambda: probe.sample(time.monotonic()).get("job/workers") == 1)
    began = time.monotonic()
    time.sleep(0.6)

    sample = probe.sample(began + 20)

    assert sample["job/worker/0/memory_bytes"] > 2**20
    assert sample["job/worker/0/proportional_bytes"] > 2**18
    assert sample["job/worker/0/cpu_cores"] > 0
    assert sample["job/worker/0/running_share"] <= 1


def test_a_process_that_has_ended_says_nothing():
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as p:
        probe = ProcessProbe(p.pid)
        p.communicate(b"\n")

    assert probe.sample(time.monotonic()) == {}


def test_a_process_that_ended_before_it_was_looked_at_is_no_failure():
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()

    with pytest.raises(ProbeUnavailable) as reason:
        ProcessProbe.of(Job(watched=ended.pid))

    assert str(reason.value) == ""
