"""CF-18: the kernel kills a script that takes more memory than its control group may."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, none_of, not_shown
from benchmarks.agent_faults.scripts import Place, lost_and_doubled
from tests.agent.tracker_double import TrackerDouble

LIMIT_BYTES = 192 * 2**20
WORDS = "a script takes more memory than its control group may have"
_ROOT = Path("/sys/fs/cgroup")
# The second version has one hierarchy, the first one for each resource.
_SECOND, _FIRST = _ROOT, _ROOT / "memory"
GREEDY = """
import os, sys
import agent
open(sys.argv[1], "w").write(str(os.getpid()))
run = agent.init("r", monitor=False)
for step in range(1000):
    run["a"].append(step, step=step)
taken = []
while True:
    taken.append(bytearray(os.urandom(1)) * 2**20)
"""


def killed_for_memory(size: Size) -> list[Found]:
    """Let the kernel's OOM killer kill a script, and deliver its data."""
    lost = doubled = others = unsaid = 0
    for number in range(size.amount):
        with limited_group() as group:
            if group is None:
                why = "no control group for memory can be made here"
                return [not_shown(WORDS, why)]
            tracker = TrackerDouble()
            place = Place(size.folder / f"memory{number}", tracker.url)
            done = place.perform(GREEDY, str(group / "cgroup.procs"))
        others += done.returncode != -signal.SIGKILL
        place.sync()
        unsaid += tracker.states() != ["crashed"]
        of_this = lost_and_doubled(tracker, {"a": 1_000})
        lost, doubled = lost + of_this[0], doubled + of_this[1]
        tracker.stop()
    return [
        Found(
            f"{WORDS}: {LIMIT_BYTES // 2**20} MiB, {size.amount} times",
            ["the run has crashed"],
            [
                none_of("other exit codes", others),
                none_of("other states", unsaid),
                none_of("lost", lost),
                none_of("doubled", doubled),
            ],
        )
    ]


@contextlib.contextmanager
def limited_group() -> Iterator[Path | None]:
    """Make a control group with little memory; None where that is not possible."""
    group = _made()
    try:
        yield group
    finally:
        if group is not None:
            _remove(group)


def _made() -> Path | None:
    name = f"seamark-{uuid.uuid4().hex[:12]}"
    for root, file in ((_SECOND, "memory.max"), (_FIRST, "memory.limit_in_bytes")):
        group = root / name
        with contextlib.suppress(OSError):
            group.mkdir()
            # A tmpfs, or a group without the controller, has no such file.
            with contextlib.suppress(OSError):
                limit = os.open(group / file, os.O_WRONLY)
                try:
                    os.write(limit, str(LIMIT_BYTES).encode())
                finally:
                    os.close(limit)
                return group
            _remove(group)
    return None


def _remove(group: Path) -> None:
    # The kernel needs some time to remove the killed process.
    for _ in range(50):
        with contextlib.suppress(OSError):
            group.rmdir()
        if not group.exists():
            return
        time.sleep(0.1)
