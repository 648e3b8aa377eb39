"""CF-28: a spool is delivered by several at once, also from a copy on another host."""

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
from benchmarks.faults.repeats import installed, run_ids, unused
from benchmarks.faults.scripts import read

WORDS = "a live run's spool is copied to another host and delivered from there"
LIVE = """
import sys, time, agent
run = agent.init(monitor=False)
print(run._session.folder, flush=True)
for step in range(2000):
    run["a"].append(step, step=step)
    time.sleep(0.002)
"""
SYNC = "import sys; from agent.commands import main; sys.exit(main(sys.argv[1:]))"
# Another name, another start of the machine, and other memory.
ANOTHER_HOST = (
    "hostname elsewhere && mount -t tmpfs none /dev/shm"
    ' && mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"'
)


def from_elsewhere(size: Size) -> list[Found]:
    """Deliver live spools from copies, against a real tracker."""
    of_store = StoreSize(folder=size.folder / "tracker", rounds=size.amount)
    with ExitStack() as stack:
        return [delivered_twice(installed(stack, of_store, SQLITE), size)]


def delivered_twice(installation: Installation, size: Size) -> Found:
    """The same on a tracker that runs already."""
    boot_id = size.folder / "boot_id"
    boot_id.write_text(f"{uuid.uuid4()}\n")
    before = ("unshare", "--uts", "--mount", "sh", "-c", ANOTHER_HOST, "sh")
    before = (*before, str(boot_id))
    if not _can_be_another_host(before):
        return not_shown(WORDS, "it takes an administrator of a Linux machine")
    address = installation.addresses[0]
    lost = doubled = runs = left = 0
    for number in range(size.amount):
        name = unused("elsewhere")
        place = Place(
            size.folder / f"{name}{number}",
            f"http://127.0.0.1:{address.port}",
            SEAMARK_TOKEN=address.token,
            SEAMARK_PROJECT=PROJECT,
            SEAMARK_RUN=name,
        )
        process = place.start(LIVE)
        assert process.stdout
        folder = Path(process.stdout.readline().strip())
        eventually(lambda folder=folder: any(folder.glob("*.frames")))
        for copy in range(3):
            time.sleep(0.5)
            there = place.folder / f"there{copy}"
            _copy(folder, there / folder.name)
            syncs = [
                place.start(SYNC, "sync", "--spool", str(there), before=before)
                for _ in range(2)
            ]
            # And where the process lives, whose lock they see.
            syncs.append(place.start(SYNC, "sync"))
            for sync in syncs:
                sync.communicate()
        process.communicate()
        left += place.sync().returncode
        steps = read(installation, name, "a")
        doubled += len(steps) - len(set(steps))
        lost += len(set(range(2_000)) - set(steps))
        runs += len(run_ids(installation, name)) != 1
    return Found(
        f"{WORDS}, three times by two at once, and where it lives; {size.amount} runs",
        [],
        [
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("left behind", left),
            none_of("other than one run", runs),
        ],
    )


def _copy(folder: Path, to: Path) -> None:
    """Copy what is there just now; what is delivered meanwhile is gone."""
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
