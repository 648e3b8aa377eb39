from __future__ import annotations

import subprocess
import sys

import agent
from tests.agent.conftest import REPOSITORY

HEAVY = {
    *("numpy", "torch", "django", "celery"),
    *("msgspec", "zstandard", "psutil", "pynvml"),
    *("http", "ssl", "socket", "subprocess", "asyncio", "random", "email", "inspect"),
}


def modules_of(program):
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys; {program}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(REPOSITORY), "HOME": "/nonexistent"},
    )
    return {name.partition(".")[0] for name in ended.stdout.split()}


def test_importing_the_agent_loads_nothing_heavy():
    assert not HEAVY & (modules_of("import agent") - modules_of("pass"))


def test_init_waits_for_nothing_that_only_threads_need():
    program = (
        "import agent, tempfile, os, sys, seamark.lifecycle.opening; "
        "assert not {'seamark.redaction', 'seamark.capture.git', 'seamark.capture.host',"
        " 'seamark.capture.packages', 'shlex', 'seamark.upload.worker', 'http.client', 'ssl'}"
        " & set(sys.modules)"
    )

    modules_of(program)


def test_a_live_run_loads_no_framework(tmp_path):
    program = (
        "import agent, tempfile, os; "
        f"os.environ['SEAMARK_SPOOL'] = {str(tmp_path)!r}; "
        "run = agent.init('r', mode='offline'); run['a'].append(1.0); run.finish()"
    )

    assert not {"numpy", "torch", "django"} & modules_of(program)


def test_public_names_are_one_sorted_list():
    public = {name for name in vars(agent) if not name.startswith("_")}
    submodules = {name for name in public if f"agent.{name}" in sys.modules}

    assert agent.__all__ == sorted(agent.__all__)
    assert set(agent.__all__) == public - submodules
