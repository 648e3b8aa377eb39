"""CF-28: several processes deliver one spool, also from another host.

From a copy on that host; from a copy next to it; and from a folder shared by both
hosts, where each host has its own locks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, none_of, not_shown
from benchmarks.agent_faults.proxy import eventually
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.bodies import PROJECT
from benchmarks.faults.case import SQLITE
from benchmarks.faults.case import Size as StoreSize
from benchmarks.faults.installation import Installation
from benchmarks.faults.repeats import ask, installed, run_ids, unused
from benchmarks.faults.scripts import read

WORDS = "a live run's spool is copied to another host and delivered from there"
SHARED = "another host shares the folder of a live run's spool, and not its locks"
BESIDE = "a live run's spool is copied on its host and delivered from there"
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


def from_elsewhere(size: Size) -> list[Found]:
    """Deliver live spools from copies, against a real tracker."""
    of_store = StoreSize(folder=size.folder / "tracker", rounds=size.amount)
    with ExitStack() as stack:
        installation = installed(stack, of_store, SQLITE)
        return [
            delivered_twice(installation, size),
            delivered_beside(installation, size),
            shared(installation, size),
        ]


def delivered_twice(installation: Installation, size: Size) -> Found:
    """The first on a tracker that runs already."""
    before = _another_host(size)
    if not _can_be_another_host(before):
        return not_shown(WORDS, "it takes an administrator of a Linux machine")
    lost = doubled = runs = left = unfinished = 0
    for number in range(size.amount):
        name = unused("elsewhere")
        place = _place(installation, size, name, number)
        process, folder = _live(place)
        for copy in range(3):
            time.sleep(0.5)
            there = place.folder / f"there{copy}"
            _copy(folder, there / folder.name)
            syncs = [
                place.start(
                    SYNC, "sync", "--spool", str(there), "--any-host", before=before
                )
                for _ in range(2)
            ]
            # And one on the process's host, which sees its lock.
            syncs.append(place.start(SYNC, "sync"))
            for sync in syncs:
                sync.communicate()
        process.communicate()
        left += place.sync().returncode
        steps = read(installation, name, "a")
        doubled += len(steps) - len(set(steps))
        lost += len(set(range(STEPS)) - set(steps))
        states = _states(installation, name)
        runs += len(states) != 1
        unfinished += states != ["finished"]
    return Found(
        f"{WORDS}, three times by two at once, and where it lives; {size.amount} runs",
        [],
        [
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("left behind", left),
            none_of("other than one run", runs),
            none_of("said not to have finished", unfinished),
        ],
    )


def delivered_beside(installation: Installation, size: Size) -> Found:
    """The second on a tracker that runs already."""
    lost = doubled = left = undelivered = uncrashed = 0
    for number in range(size.amount):
        name = unused("beside")
        place = _place(installation, size, name, number)
        process, folder = _live(place, 10 * STEPS, script=SAYING)
        for copy in range(3):
            time.sleep(0.5)
            there = place.folder / f"there{copy}"
            _copy(folder, there / folder.name)
            place.start(SYNC, "sync", "--spool", str(there)).communicate()
            undelivered += any(there.glob("*-*"))
        process.kill()
        said, _ = process.communicate()
        left += place.sync().returncode
        steps = read(installation, name, "a")
        doubled += len(steps) - len(set(steps))
        # The last line may be cut off.
        lost += len({int(line) for line in said.split("\n")[:-1]} - set(steps))
        uncrashed += _states(installation, name) != ["crashed"]
    return Found(
        f"{BESIDE}, three times, before the run is killed; {size.amount} runs",
        [],
        [
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("left behind", left),
            none_of("copies not delivered", undelivered),
            none_of("not one run that crashed", uncrashed),
        ],
    )


def shared(installation: Installation, size: Size) -> Found:
    """The third on a tracker that runs already."""
    before = _another_host(size)
    if not _can_be_another_host(before):
        return not_shown(SHARED, "it takes an administrator of a Linux machine")
    taken = lost = doubled = left = crashed = 0
    for number in range(size.amount):
        name = unused("shared")
        place = _place(installation, size, name, number)
        process, folder = _live(place, SHARED_STEPS)
        lock = place.folder / "lock-elsewhere"
        lock.touch()
        there = (*before, *ANOTHER_LOCK, str(lock), str(folder))
        for _ in range(3):
            sync = place.start(SYNC, "sync", before=there)
            said, _ = sync.communicate()
            taken += "--any-host" not in said
        crashed += _states(installation, name) != ["running"]
        assert process.poll() is None
        process.communicate()
        left += place.sync().returncode
        steps = read(installation, name, "a")
        doubled += len(steps) - len(set(steps))
        lost += len(set(range(SHARED_STEPS)) - set(steps))
    return Found(
        f"{SHARED}; it delivers three times; {size.amount} runs",
        [],
        [
            none_of("taken from a living process", taken),
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("left behind", left),
            none_of("said to have crashed", crashed),
        ],
    )


def _states(installation: Installation, name: str) -> list[str]:
    """Return the state of each run of that name."""
    runs = run_ids(installation, name)
    return [ask(installation, f"/runs/{run_id}")["state"] for run_id in runs]


def _another_host(size: Size) -> tuple[str, ...]:
    """Return the command prefix that runs a command on another host."""
    boot_id = size.folder / "boot_id"
    boot_id.write_text(f"{uuid.uuid4()}\n")
    unshared = ("unshare", "--uts", "--mount")
    return (*unshared, "sh", "-c", ANOTHER_HOST, "sh", str(boot_id))


def _place(installation: Installation, size: Size, name: str, number: int) -> Place:
    address = installation.addresses[0]
    return Place(
        size.folder / f"{name}{number}",
        f"http://127.0.0.1:{address.port}",
        SEAMARK_TOKEN=address.token,
        SEAMARK_PROJECT=PROJECT,
        SEAMARK_RUN=name,
    )


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
    """Copy the current files; files delivered meanwhile are gone."""
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
