"""Several processes deliver one live queue, also from another host.

From a copy on that host; from a copy next to it; and from a folder shared by both
hosts, where each host has its own locks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from benchmarks.kills.bodies import PROJECT
from benchmarks.kills.stored import ask, read, run_ids, unused
from tests.slow.faults.place import Place, eventually

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

LIVE = """
import sys, time, agent
run = agent.init(monitor=False)
print(run._session.folder, flush=True)
for step in range(int(sys.argv[1])):
    run["a"].append(step, step=step)
    time.sleep(0.002)
"""
# Steps of at least two milliseconds.
STEPS, SHARED_STEPS = 2_000, 4_900
# Prints each safe step; the output is buffered until it is read.
SAYING = LIVE.replace("    time.sleep", "    print(step, flush=True)\n    time.sleep")
SYNC = "import sys; from seamark.commands import main; sys.exit(main(sys.argv[1:]))"
# Another name, another start of the machine, and other memory.
ANOTHER_HOST = (
    "hostname elsewhere && mount -t tmpfs none /dev/shm"
    ' && mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"'
)
# The lock is a different file there, like on file systems with node-local locks.
ANOTHER_LOCK = ("sh", "-c", 'mount --bind "$1" "$2/lock" && shift 2 && exec "$@"', "sh")


@pytest.fixture
def another_host(tmp_path):
    """Return the command prefix that runs a command on another host."""
    boot_id = tmp_path / "boot_id"
    boot_id.write_text(f"{uuid.uuid4()}\n")
    unshared = ("unshare", "--uts", "--mount")
    before = (*unshared, "sh", "-c", ANOTHER_HOST, "sh", str(boot_id))
    if not _can_be_another_host(before):
        pytest.skip("needs root on Linux")
    return before


@pytest.fixture
def place(tmp_path, installation):
    address = installation.addresses[0]
    return Place(
        tmp_path / "place",
        f"http://127.0.0.1:{address.port}",
        SEAMARK_TOKEN=address.token,
        SEAMARK_PROJECT=PROJECT,
        SEAMARK_RUN=unused("copied"),
    )


def test_copies_delivered_from_another_host_are_stored_once(
    installation, place, another_host
):
    process, folder = _live(place)
    for number in range(3):
        time.sleep(0.5)
        there = place.folder / f"there{number}"
        _copy(folder, there / folder.name)
        arguments = ("sync", "--spool", str(there), "--any-host")
        syncs = [place.start(SYNC, *arguments, before=another_host) for _ in range(2)]
        # And one on the process's host, which sees its lock.
        syncs.append(place.start(SYNC, "sync"))
        for sync in syncs:
            sync.communicate()
    process.communicate()

    assert place.sync().returncode == 0
    assert _steps(installation, place) == list(range(STEPS))
    assert _states(installation, place) == ["finished"]


def test_copies_delivered_on_the_same_host_are_stored_once(installation, place):
    process, folder = _live(place, 10 * STEPS, script=SAYING)
    for number in range(3):
        time.sleep(0.5)
        there = place.folder / f"there{number}"
        _copy(folder, there / folder.name)
        place.start(SYNC, "sync", "--spool", str(there)).communicate()
        assert not any(there.glob("*-*")), "the copy was not delivered"
    process.kill()
    output, _ = process.communicate()

    assert place.sync().returncode == 0
    steps = _steps(installation, place)
    # The last line may be cut off.
    assert {int(line) for line in output.split("\n")[:-1]} <= set(steps)
    assert len(steps) == len(set(steps))
    assert _states(installation, place) == ["crashed"]


def test_a_host_without_the_lock_does_not_take_a_live_queue(
    installation, place, another_host
):
    process, folder = _live(place, SHARED_STEPS)
    lock = place.folder / "lock-elsewhere"
    lock.touch()
    there = (*another_host, *ANOTHER_LOCK, str(lock), str(folder))
    for _ in range(3):
        output, _ = place.start(SYNC, "sync", before=there).communicate()
        assert "--any-host" in output
    assert _states(installation, place) == ["running"]
    assert process.poll() is None
    process.communicate()

    assert place.sync().returncode == 0
    assert _steps(installation, place) == list(range(SHARED_STEPS))


def _steps(installation, place) -> list[float]:
    return read(installation, place.environment["SEAMARK_RUN"], "a")


def _states(installation, place) -> list[str]:
    """Return the state of each run of that name."""
    runs = run_ids(installation, place.environment["SEAMARK_RUN"])
    return [ask(installation, f"/runs/{run_id}")["state"] for run_id in runs]


def _live(
    place: Place, steps: int = STEPS, *, script: str = LIVE
) -> tuple[subprocess.Popen[str], Path]:
    """Start a script that logs at this rate; return it and its spool folder."""
    process = place.start(script, str(steps))
    assert process.stdout
    folder = Path(process.stdout.readline().strip())
    eventually(lambda: any(folder.glob("*.frames")))
    return process, folder


def _copy(folder: Path, to: Path) -> None:
    """Copy the current files; files delivered meanwhile no longer exist."""
    to.mkdir(parents=True)
    for file in folder.iterdir():
        if file.is_file():
            try:
                shutil.copy2(file, to)
            except FileNotFoundError:
                continue


def _can_be_another_host(before: tuple[str, ...]) -> bool:
    if os.geteuid() or shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        [*before, "true"], check=False, capture_output=True, timeout=60
    )
    return tried.returncode == 0
