"""Training continues if the queue's disk fails; the file systems are real.

Most cases need root on Linux, and are skipped elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.slow.faults.place import (
    AS_ROOT,
    Place,
    answer_of,
    dropped_points,
    stored_points,
)

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

# Logs, breaks the disk, logs more than memory holds, mends it, and logs on.
DISK = r"""
import contextlib, fcntl, json, logging, os, resource, shutil, signal, subprocess, sys, threading, time
import agent, seamark.queue.recovery, seamark.lifecycle.opening, seamark.queue.spool

cause, folder, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.makedirs(folder, exist_ok=True)
def mount(*options): subprocess.run(["mount", *options, folder], check=True)
if cause == "full":
    mount("-t", "tmpfs", "-o", "size=16m", "none")
elif cause == "inodes":
    mount("-t", "tmpfs", "-o", "nr_inodes=16", "none")
    seamark.queue.spool.SEGMENT_BYTES = 100_000
elif cause in ("gone", "frozen", "readonly"):
    mount("-o", "loop,errors=remount-ro", folder + ".img")
    os.environ["TMPDIR"] = os.path.dirname(folder)
elif cause == "quota":
    seamark.queue.spool.SEGMENT_BYTES = 100_000
elif cause == "denied":
    seamark.queue.spool.SEGMENT_BYTES = 1
    os.chmod(folder, 0o777)

warnings, raised, longest, logged = [], [], 0.0, 0
class Handler(logging.Handler):
    def emit(self, record):
        if "cannot be written" in record.getMessage(): warnings.append(record.getMessage())
logging.getLogger("seamark").addHandler(Handler())
if cause == "denied":
    # Whom nothing is denied may find what others may not import.
    agent.init("before", monitor=False).finish()
os.environ["SEAMARK_SPOOL"] = folder + "/spool"
names = [f"m/{number}" for number in range(20)]

def log(count):
    global longest, logged
    for _ in range(count):
        data = {name: logged + 0.1 for name in names}
        began = time.perf_counter()
        try:
            run.log(data, step=logged)
        except BaseException as error:
            raised.append(repr(error))
        longest = max(longest, time.perf_counter() - began)
        logged += 1
        if logged % 100 == 0: time.sleep(0.001)

def wait(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline: time.sleep(0.01)
    return condition()

before = seamark.queue.spool.LARGEST_SPOOL_BYTES
root = os.open(folder, os.O_RDONLY)
if cause == "denied":
    # No process of the administrator is denied anything.
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
run = agent.init("r", monitor=False)
session = run._session
# So that little is enough to fill it.
run._recorder.buffer._capacity = 500_000
log(100)
wait(lambda: session.is_all_written and session._sender.is_everything_sent)

def fill(name, size):
    number = 0
    try:
        while True:
            with open(f"{folder}/{name}{number}", "wb", buffering=0) as file:
                number += 1
                while size: file.write(bytes(size))
    except OSError:
        if size > 1: fill(name + "-", 1)
def remove(folder):
    # The agent may begin a file in it meanwhile.
    for _ in range(100):
        with contextlib.suppress(OSError): return shutil.rmtree(folder)
def freeze(number): fcntl.ioctl(root, number, 0)
spool = str(session.folder)
if cause == "full": fill("ballast", 65536)
elif cause == "inodes": fill("ballast", 0)
elif cause == "removed": remove(spool)
elif cause == "quota": seamark.queue.spool.LARGEST_SPOOL_BYTES = 0
elif cause == "size": resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, -1))
elif cause == "denied": os.chmod(spool, 0)
elif cause == "gone": fcntl.ioctl(root, 0x8004587D, b"\2\0\0\0")
elif cause == "readonly":
    # What the kernel does to a file system in which it has found an error.
    number = os.fstat(root).st_dev
    device = os.path.basename(os.readlink(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))
    with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w") as trigger: trigger.write("1")
elif cause == "frozen":
    threading.Timer(60, freeze, [0xC0045878]).start()
    freeze(0xC0045877)

log(rows)
# Longer than points wait to be written, and once more where they were refused.
time.sleep(2)
began = time.monotonic()
if cause in ("full", "inodes"):
    for name in os.listdir(folder):
        if name.startswith("ballast"): os.unlink(f"{folder}/{name}")
elif cause == "quota": seamark.queue.spool.LARGEST_SPOOL_BYTES = before
elif cause == "size": resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
elif cause == "denied": os.chmod(spool, 0o700)
elif cause == "frozen": freeze(0xC0045878)
resumed = wait(lambda: session.is_all_written)
seconds = time.monotonic() - began
log(100)
run.finish(timeout=60)
print(json.dumps({
    "logged": logged * 20, "raised": len(raised), "longest": longest,
    "warnings": len(warnings), "resumed": bool(resumed), "seconds": seconds,
    "errors": warnings + raised,
}))
# A disk that is gone keeps no process from ending.
sys.stdout.flush()
os._exit(0)
"""
# Errors of the disk, and how many warnings they cause.
CAUSES = {
    "full": 1,  # ENOSPC
    "inodes": 1,  # ENOSPC
    "removed": 0,  # ENOENT
    "quota": 1,  # the queue's own limit
    "size": 2,  # ENOSPC, then EFBIG
    "denied": 2,  # EACCES, in the configured folder and in the fallback folder
    "gone": 1,  # EIO, for good
    "readonly": 1,  # EROFS
    "frozen": 0,  # every write hangs, and continues later
}
# Calls with 20 metrics each, more than memory holds.
CALLS = 30_000
NEEDS_ROOT = {"full", "inodes", "denied", "gone", "readonly", "frozen"}
NEEDS_LOOP = {"gone", "readonly", "frozen"}
NO_FOLDER = """
import json, os, pwd, sys
import agent, seamark.lifecycle.opening, seamark.queue.recovery, msgspec
agent.init("before", monitor=False).finish()
os.environ.pop("HOME"); os.environ["TMPDIR"] = sys.argv[1]
os.chmod(sys.argv[1], 0o777)
os.setgroups([]); os.setgid(54321); os.setuid(54321)
run = agent.init("r", monitor=False)
for step in range(1000):
    run["a"].append(step, step=step)
run.finish(timeout=60)
print(json.dumps({"logged": 1000}))
"""


@pytest.mark.parametrize("cause", CAUSES)
def test_each_point_is_stored_or_counted_as_dropped(tmp_path, tracker, cause):
    if not can_show(cause):
        pytest.skip("needs root on Linux, and loop devices")
    place = Place(tmp_path / cause, tracker.url)
    folder = place.folder / "disk"
    if cause in NEEDS_LOOP:
        make_image(folder.with_suffix(".img"))
    before = AS_ROOT if cause in NEEDS_ROOT else ()

    answer = answer_of(
        place.perform(DISK, cause, str(folder), str(CALLS), before=before)
    )

    stored = stored_points(tracker) + dropped_points(tracker)
    assert (answer["raised"], answer["resumed"]) == (0, True), answer["errors"]
    assert answer["warnings"] == CAUSES[cause], answer["errors"]
    assert stored == answer["logged"]


def test_a_user_without_home_and_name_logs_to_another_folder(tmp_path, tracker):
    if not can_show("denied"):
        pytest.skip("needs root on Linux")
    place = Place(tmp_path / "homeless", tracker.url)
    temporary = place.folder / "temporary"
    temporary.mkdir()

    done = place.perform(NO_FOLDER, str(temporary))

    assert done.returncode == 0, done.stderr
    assert len(tracker.steps("a")) == 1_000
    assert done.stderr.count("cannot be written") == 1


def can_show(cause: str) -> bool:
    """Return whether this machine can create such a disk."""
    if cause not in NEEDS_ROOT:
        return True
    can_mount = os.geteuid() == 0 and _succeeds([*AS_ROOT, "true"])
    has_loop = Path("/dev/loop-control").exists() and bool(shutil.which("mkfs.ext4"))
    return can_mount and (cause not in NEEDS_LOOP or has_loop)


def make_image(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    subprocess.run(["mkfs.ext4", "-q", str(path)], check=True, timeout=60)


def _succeeds(command: Sequence[str]) -> bool:
    return subprocess.run(command, check=False, timeout=60).returncode == 0
