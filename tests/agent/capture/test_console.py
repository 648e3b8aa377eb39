"""A program's output, on its terminal and in the tracker."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import time

import pytest

from seamark.capture import console
from tests.agent.conftest import REPOSITORY

OUT, ERR = "monitoring/main/stdout", "monitoring/main/stderr"
INIT = "import agent, os, sys, time\nrun = agent.init('r')\n"


@pytest.fixture(autouse=True)
def only_the_console(monkeypatch, everything_is_captured):
    monkeypatch.setenv("SEAMARK_CAPTURE", "console")


class Watched:
    """A console with its own streams, whose thread the test steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", type("Stream", (io.StringIO,), {})())
        monkeypatch.setattr(sys, "stderr", type("Stream", (io.StringIO,), {})())
        monkeypatch.setattr(console.time, "monotonic", lambda: self.now)
        self.now = 1_000.0
        self.stored: list[str] = []
        self.calls = 0
        self.console = console.Console(
            lambda _name, text, _moment: self.stored.append(text), str
        )
        monkeypatch.setattr(self.console.background, "wake", self._called)
        assert self.console.attach() == []

    def turn(self, *, after: float) -> float:
        self.now += after
        return self.console.turn()

    def _called(self) -> None:
        self.calls += 1


def test_a_thread_that_has_nothing_to_do_sleeps_until_something_is_written(
    monkeypatch,
):
    watched = Watched(monkeypatch)
    sys.stdout.write("one\n")
    assert watched.turn(after=0.25) < 1
    assert watched.turn(after=0.25) < 1
    assert watched.turn(after=20.0) > 10
    assert watched.calls == 0

    sys.stderr.write("two\n")
    sys.stderr.write("three\n")
    assert watched.calls == 1
    assert watched.turn(after=5.0) < 1
    assert watched.turn(after=0.25) < 1

    watched.console.detach()
    assert watched.stored == ["one", "two", "three"]


def test_what_is_written_while_the_thread_goes_to_sleep_is_looked_at_soon(
    monkeypatch,
):
    watched = Watched(monkeypatch)
    sys.stdout.write("one\n")
    with monkeypatch.context() as patched:
        # Replaced after the check for new output.
        patched.setattr(watched.console, "_read", lambda *, is_end: is_end)
        assert watched.turn(after=20.0) < 1

    watched.turn(after=0.25)
    watched.turn(after=0.25)
    watched.console.detach()
    assert watched.stored == ["one"]


def test_a_line_that_is_overwritten_is_stored_before_the_thread_sleeps(monkeypatch):
    watched = Watched(monkeypatch)
    sys.stdout.write("\r10 %")
    watched.turn(after=0.25)
    while watched.turn(after=0.4) < 1:
        pass

    watched.console.detach()
    assert watched.stored == ["10 %"]


def test_what_is_printed_is_shown_and_stored(tracker, run_script):
    ended = run_script(
        f"{INIT}print('one'); print('two', file=sys.stderr)\n"
        "sys.stdout.writelines(['three\\n', 'four'])"
    )

    assert ended.stdout == "one\nthree\nfour"
    assert ended.stderr == "two\n"
    assert tracker.texts(OUT) == ["one", "three", "four"]
    assert tracker.texts(ERR) == ["two"]


def test_logging_handlers_and_tracebacks_are_stored(tracker, run_script):
    ended = run_script(
        "import logging; logging.basicConfig(level='INFO')\n"
        f"{INIT}logging.info('hello')\nraise ValueError('the end')"
    )

    assert ended.returncode == 1
    stored = tracker.texts(ERR)
    assert stored[0] == "INFO:root:hello"
    assert stored[-1] == "ValueError: the end"
    assert "\n".join(stored) + "\n" == ended.stderr


def test_streams_stay_what_they_are(tracker, run_script):
    look = (
        "[(type(s).__name__, s.fileno(), s.isatty(), s.encoding, s.errors,"
        " s.line_buffering, s.write_through, s.newlines, s.name, s.mode,"
        " s is getattr(sys, '__' + n + '__'))"
        " for n, s in (('stdout', sys.stdout), ('stderr', sys.stderr))]"
    )
    script = (
        f"import agent, sys, json, os\nbefore = {look}\nids = id(sys.stdout)\n"
        "run = agent.init('r')\n"
        f"assert before == {look} and ids == id(sys.stdout)\n"
        "print('x')\nrun.finish()\n"
        "assert 'write' not in vars(sys.stdout) and 'write' not in vars(sys.stderr)"
    )

    assert run_script(script).returncode == 0


def test_a_terminal_is_still_one_and_shows_each_byte(tracker, tmp_path):
    main, other = pty.openpty()
    script = (
        f"{INIT}print(sys.stdout.isatty(), end='', flush=True)\n"
        "sys.stdout.write('\\x1b[32mgreen\\x1b[0m\\r'); sys.stdout.flush()\n"
        "print(os.get_terminal_size() is not None)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=other,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert process.wait(60) == 0
    os.close(other)

    assert os.read(main, 1000) == b"True\x1b[32mgreen\x1b[0m\rTrue\r\n"
    os.close(main)
    assert tracker.texts(OUT) == ["Truegreen"]


def test_output_comes_as_soon_as_without(run_script, tracker):
    script = f"{INIT}print('first', flush=True)\nsys.stdin.readline()\nprint('last')"
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    assert process.stdout.readline() == "first\n"
    assert process.communicate("go\n", timeout=60)[0] == "last\n"


def test_a_reader_that_is_gone_ends_the_program_as_without(run_script, tmp_path):
    script = f"{INIT}[print('x' * 1000) for _ in range(10_000)]"
    codes = []
    for mode in ("console", "no"):
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "SEAMARK_CAPTURE": mode,
                "SEAMARK_MODE": "offline",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        codes.append((process.wait(60), b"BrokenPipeError" in errors))

    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    "line",
    [
        "sys.stdout = None; sys.stderr = None",
        "sys.stdout.close()",
        "os.close(1)",
        "sys.stdout = open(os.devnull, 'w')",
        "import io; sys.stdout = io.StringIO()",
        "sys.stdout.write = sys.stdout.write",
        "del sys.stdout",
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): print(1)",
    ],
)
@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
def test_odd_streams_change_nothing(tracker, run_script, line, is_before):
    parts = [line, "run = agent.init('r')"]
    body = "\n".join(parts if is_before else parts[::-1])
    script = f"import agent, os, sys\n{body}\nrun['a'].append(1.0)\nrun.finish()\n"
    end = "os._exit(7)"

    assert run_script(script + end).returncode == 7
    assert tracker.values("a") == [1.0]


def test_a_stream_that_is_text_of_another_kind_is_seen(tracker, run_script):
    script = """
import agent, sys
class Own:
    encoding = "utf-8"
    def __init__(self): self.said = []
    def write(self, string): self.said.append(string); return len(string)
    def flush(self): pass
sys.stdout = own = Own()
run = agent.init("r")
print("one")
sys.stdout.write(string="two")
try:
    sys.stdout.write(3, 4)
except TypeError as error:
    print("as ever")
run.finish()
sys.stdout = sys.__stdout__
print(own.said)
"""
    ended = run_script(script)

    assert ended.returncode == 0
    assert tracker.texts(OUT)[0] == "one"
    assert "as ever" in ended.stdout


@pytest.mark.parametrize(
    ("slots", "seen"), [("", ["one"]), ("__slots__ = ('inner',)", [])]
)
def test_a_wrapper_that_hands_its_attributes_on_writes_as_ever(
    tracker, run_script, slots, seen
):
    script = f"""
import agent, sys
class Wrapper:
    {slots or "pass"}
    def __init__(self, inner): object.__setattr__(self, "inner", inner)
    def __getattr__(self, name): return getattr(self.inner, name)
    def __setattr__(self, name, value): setattr(self.inner, name, value)
    def write(self, text): self.inner.write(text.upper())
plain, sys.stdout = sys.stdout, Wrapper(sys.stdout)
run = agent.init("r")
print("one")
assert "write" not in vars(plain)
run.finish()
assert "write" not in vars(sys.stdout)
print("two")
"""
    ended = run_script(script)

    assert (ended.returncode, ended.stdout) == (0, "ONE\nTWO\n"), ended.stderr
    assert tracker.texts(OUT) == seen


def test_print_from_finalizers_signal_handlers_and_threads_does_no_harm(
    tracker, run_script
):
    script = f"""
import gc, signal, threading
{INIT}
class Loud:
    def __del__(self): sys.stdout.write("finalizer\\n")
def rang(*_):
    sys.stderr.write("alarm\\n")
    # Not again within itself, which Python's own files refuse.
    signal.setitimer(signal.ITIMER_REAL, 0.001)
signal.signal(signal.SIGALRM, rang)
signal.setitimer(signal.ITIMER_REAL, 0.001)
def work():
    for n in range(50):
        one = Loud(); one.me = one; del one
        sys.stdout.write(f"thread {{n}}\\n")
        time.sleep(0.001)
        if n % 10 == 0: gc.collect()
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
signal.signal(signal.SIGALRM, signal.SIG_IGN)
gc.collect()
"""
    ended = run_script(script)

    assert ended.returncode == 0, ended.stderr
    printed, stored = ended.stdout.splitlines(), tracker.texts(OUT)
    assert len(printed) == 4 * 50 * 2
    # A finalizer that a thread of the agent happens to run is shown, and not stored.
    assert set(stored) == set(printed)
    assert sum(line.startswith("thread") for line in stored) == 4 * 50


def test_forked_children_print_and_end_as_ever(tracker, run_script):
    script = f"""
import multiprocessing, threading
{INIT}
stop = False
def noise():
    while not stop: print("noise", flush=True)
thread = threading.Thread(target=noise); thread.start()
def child(n):
    sys.stderr.write(f"child {{n}}\\n")
    run["c"].append(1.0)
fork = multiprocessing.get_context("fork")
for n in range(10):
    process = fork.Process(target=child, args=(n,)); process.start(); process.join(20)
    assert process.exitcode == 0, process.exitcode
stop = True; thread.join()
sys.stderr.write("parent\\n")
"""
    # In plain Python, a child can also deadlock if a thread held the lock of the stdout
    # buffer; without a buffer, only our locks remain.
    ended = run_script(script, seconds=100, PYTHONUNBUFFERED="1")

    assert ended.returncode == 0, ended.stderr
    assert [f"child {n}" for n in range(10)] == ended.stderr.splitlines()[:10]
    # Only its own streams; children capture theirs.
    assert tracker.texts(ERR) == ["parent"]


def test_a_flood_is_bounded_and_says_so(tracker, run_script):
    script = f"""
{INIT}
line = "x" * 99 + "\\n"
piece = line * 1000
for n in range(1000):
    sys.stdout.write(piece)
print("the very end")
"""
    ended = run_script(script, seconds=60)

    assert len(ended.stdout) == 100_000_013
    stored = tracker.texts(OUT)
    assert stored[-1] == "the very end"
    assert len(stored) < 12_000
    assert any("not stored: too much output" in line for line in stored)


def test_a_printed_model_is_stored_whole(tracker, run_script):
    script = f"{INIT}print('\\n'.join(f'(layer{{n}}): Linear(768, 768)' for n in range(3000)))"
    run_script(script)

    assert len(tracker.texts(OUT)) == 3000


def test_a_flood_keeps_memory(tracker, run_script):
    script = f"""
import resource
{INIT}
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("x"); before = peak()
for n in range(200): sys.stdout.write("y" * 1_000_000)
assert peak() - before < 60_000, peak() - before
"""
    assert run_script(script, seconds=60).returncode == 0


def test_what_the_agents_threads_say_is_not_sent(tracker, run_script):
    # Otherwise the log message would be captured and logged again, endlessly.
    script = f"""
import http.client
http.client.HTTPConnection.debuglevel = 1
{INIT}
print("hello")
time.sleep(1.5)
"""
    ended = run_script(script)

    assert "send:" in ended.stdout
    assert tracker.texts(OUT) == ["hello"]


def test_two_runs_of_a_process_both_store(tracker, run_script):
    script = """
import agent, sys
one, two = agent.init("one", stage="a"), agent.init("two", stage="b")
print("both")
one.finish()
print("second")
two.finish()
print("none")
assert "write" not in vars(sys.stdout)
"""
    assert run_script(script).returncode == 0
    assert tracker.texts("monitoring/a/stdout") == ["both"]
    assert tracker.texts("monitoring/b/stdout") == ["both", "second"]


def test_who_wraps_a_stream_later_goes_on_working(tracker, run_script):
    script = f"""
{INIT}
inner, said = sys.stdout.write, []
def theirs(text):
    said.append(text)
    return inner(text)
sys.stdout.write = theirs
print("one")
run.finish()
print("two")
assert said == ["one", "\\n", "two", "\\n"]
"""
    ended = run_script(script)

    assert (ended.returncode, ended.stdout) == (0, "one\ntwo\n")
    assert tracker.texts(OUT) == ["one"]


def test_secrets_of_many_lines_stay(tracker, run_script):
    script = f"""
{INIT}
os.environ["SOME_TOKEN"] = "Q29ycmVjdC1ob3JzZQ"
print("-----BEGIN PRIVATE KEY-----\\nMIIEvAIBADANBg\\n-----END PRIVATE KEY-----\\nafter")
print("it is Q29ycmVjdC1ob3JzZQ")
"""
    ended = run_script(script)
    stored = tracker.texts(OUT)

    assert "MIIEvAIBADANBg" in ended.stdout
    assert not any("MIIE" in line or "Q29y" in line for line in stored)
    assert stored[3] == "after"


def test_inside_pytest_its_capture_works_as_ever(tracker, tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text(
        """
import sys, agent

def test_capsys(capsys):
    with agent.init("r") as run:
        print("one")
    assert capsys.readouterr().out == "one\\n"

def test_capfd(capfd):
    run = agent.init("r2")
    print("two", flush=True)
    assert capfd.readouterr().out == "two\\n"

def test_left_open_by_the_one_before(capsys):
    print("three")
    assert capsys.readouterr().out == "three\\n"

def test_that_fails():
    agent.init("r3")
    print("shown by pytest")
    assert False
"""
    )
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(test)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "1 failed, 3 passed" in ended.stdout, ended.stdout
    assert "shown by pytest" in ended.stdout
    assert "I/O operation" not in ended.stdout + ended.stderr
    assert "one" in tracker.texts(OUT)


def test_a_notebooks_cells_are_seen(tracker, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook()
    cells = [
        "import agent; run = agent.init('r'); print('one')",
        *("print('two')", "print('three')", "run.finish(); print('four')", "print(5)"),
    ]
    book.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]

    nbclient.NotebookClient(
        book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()

    # The kernel may send a line in parts.
    texts = ["".join(o.text for o in cell.outputs) for cell in book.cells]
    assert texts == [*("one\n", "two\n", "three\n", "four\n", "5\n")]
    assert tracker.texts(OUT) == ["one", "two", "three"]


# Each cell is preceded by hooks, and ends with the methods that were there before it.
SHELL = """
import sys, types
class Events:
    def __init__(self): self.hooks = []
    def register(self, name, hook): self.hooks.append(hook)
    def unregister(self, name, hook): self.hooks.remove(hook)
class Shell:
    events = Events()
    def run(self, cell):
        before = sys.stdout.write
        sys.stdout.write = lambda text: before(text)
        [hook(None) for hook in list(self.events.hooks)]
        exec(cell, globals())
        sys.stdout.write = before
shell = Shell()
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
"""


def test_streams_that_are_put_back_after_each_cell_are_still_seen(tracker, run_script):
    cells = [
        "import agent; run = agent.init('r'); print('one')",
        *("print('two')", "print('three')", "run.finish(); print('four')", "print(5)"),
    ]
    ended = run_script(SHELL + "\n".join(f"shell.run({cell!r})" for cell in cells))

    assert ended.stdout == "one\ntwo\nthree\nfour\n5\n"
    assert tracker.texts(OUT) == ["one", "two", "three"]


def test_a_progress_bar_becomes_few_lines(tracker, run_script):
    script = f"""
{INIT}
for n in range(1001):
    sys.stderr.write(f"\\r{{n / 10:.1f}}% |{{'#' * (n // 50)}}|")
    sys.stderr.flush()
sys.stderr.write("\\n")
"""
    run_script(script)

    assert tracker.texts(ERR) == ["100.0% |" + "#" * 20 + "|"]


def test_nothing_is_touched_where_it_is_not_wanted(tracker, run_script):
    script = (
        "import agent, sys\nrun = agent.init('r', capture=False)\n"
        "assert 'write' not in vars(sys.stdout)\nprint('one')"
    )

    assert run_script(script, SEAMARK_CAPTURE="yes").returncode == 0
    assert [m["t"] for m in tracker.messages()] == ["open", "close"]


def test_exit_codes_and_seconds_stay(run_script, tracker):
    began = time.monotonic()
    ended = run_script(f"{INIT}print(json := 1)\nsys.exit(9)")

    assert ended.returncode == 9
    assert time.monotonic() - began < 10
    assert json.dumps(tracker.texts(OUT)) == '["1"]'
