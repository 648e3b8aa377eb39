from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seamark.lifecycle import process_hooks
from tests.agent.commands.site import Authority
from tests.agent.tracker_double import TOKEN, TrackerDouble

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("SEAMARK_", "SLURM_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK", "NODE_RANK"):
        monkeypatch.delenv(name, raising=False)
    # Tests of capture enable it; the others count the points that they logged.
    monkeypatch.setenv("SEAMARK_CAPTURE", "no")
    monkeypatch.setenv("SEAMARK_QUIET", "yes")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def finished_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    monkeypatch.setenv("SEAMARK_EXIT_SECONDS", "0")
    for run in process_hooks.open_runs():
        run.finish(timeout=0)


@pytest.fixture
def spool_root(tmp_path: Path) -> Path:
    return tmp_path / "state" / "seamark" / "spool"


@pytest.fixture
def tracker(monkeypatch: pytest.MonkeyPatch) -> Iterator[TrackerDouble]:
    double = TrackerDouble()
    monkeypatch.setenv("SEAMARK_URL", double.url)
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
    yield double
    double.stop()


@pytest.fixture
def absent_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A port without a server, where a test may start a double later."""
    # Bound meanwhile, so that no double of another test receives the requests.
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("SEAMARK_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
        yield port


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of files in the order of their fsync calls."""
    names: list[str] = []

    def note(file: int) -> None:
        names.append(str(Path(f"/proc/self/fd/{file}").readlink()))

    monkeypatch.setattr(os, "fsync", note)
    return names


def _environment() -> dict[str, str]:
    """Return a script's environment, with this agent and the installed packages."""
    paths = (str(REPOSITORY), os.environ.get("PYTHONPATH"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.fixture
def run_script(
    tmp_path: Path,
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a training script in a separate process."""

    def run(
        script: str, *, seconds: float = 90, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script],
            env={**_environment(), **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    return run


@pytest.fixture
def start(tmp_path):
    """Start the command in a separate process."""
    started = []

    def run(*arguments, **options):
        process = subprocess.Popen(
            [sys.executable, "-m", "seamark", *arguments],
            cwd=tmp_path,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def perform(start):
    """Run the command to its end."""

    def run(*arguments, said=None):
        process = start(*arguments, stdin=subprocess.PIPE)
        output, errors = process.communicate(said, timeout=90)
        return process.returncode, output, errors

    return run


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates with")
    return Authority(tmp_path_factory.mktemp("authority"))


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until a condition holds; the timeout is a watchdog, not a specification."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
