"""A real Jupyter kernel: cells continue, and the agent leaves no threads or files."""

from __future__ import annotations

import pytest

from tests.agent.conftest import REPOSITORY
from tests.agent.kernel import NEEDED, STATE, kernel_in

for name in NEEDED:
    pytest.importorskip(name)

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]


@pytest.fixture
def kernel(tracker, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setenv("SEAMARK_CAPTURE", "console,signals")
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with kernel_in(tmp_path) as started:
        yield started


def test_fifty_runs_leave_neither_threads_nor_files_nor_hooks(kernel, tracker):
    kernel.run(STATE)
    kernel.run("import agent; agent.init('first', monitor=False).finish()")
    kernel.run("before = state()")
    kernel.run("""
for number in range(50):
    run = agent.init(f"r{number}", monitor=False)
    run["a"].append(number)
    run.finish()
""")
    output = kernel.run("""
import time
time.sleep(0.5)
after = state()
print(after[0], after[1] - before[1] <= 4, after[2:] == before[2:], "ok")
""")

    assert output == "[] True True ok\n"
    assert [m["run"] for m in tracker.of_kind("open")][-1] == "r49"
    assert sorted(tracker.values("a")) == [float(number) for number in range(50)]


def test_a_cell_that_is_interrupted_or_run_again_goes_on_with_its_run(kernel, tracker):
    cell = "import agent; run = agent.init('r', monitor=False); run['a'].append(1.0)"
    kernel.run(cell)
    kernel.run(cell)
    interrupted = kernel.run(
        """
import os, signal, threading, time
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
for step in range(1000):
    run["loop"].append(step)
    time.sleep(0.01)
""",
        may_fail=True,
    )
    assert interrupted == "KeyboardInterrupt"
    assert kernel.run("run['a'].append(2.0); print('still here')") == "still here\n"
    kernel.run("run.finish()")

    assert tracker.values("a") == [1.0, 1.0, 2.0]
    assert len(tracker.of_kind("open")) == 1
    assert tracker.states() == ["finished"]


def test_autoreload_and_a_restart_leave_a_kernel_that_works(kernel, tracker):
    kernel.run("%load_ext autoreload\n%autoreload 2")
    kernel.run("import agent; run = agent.init('r', monitor=False)")
    kernel.run("run['a'].append(1.0)")
    # As `Restart`: the process ends and another one begins.
    kernel.restart()
    kernel.run("import agent; run = agent.init('r', monitor=False)")
    kernel.run("run['a'].append(2.0); run.finish(); print(6 * 7)")

    assert sorted(tracker.values("a")) == [1.0, 2.0]
    assert len(tracker.of_kind("open")) == 2
