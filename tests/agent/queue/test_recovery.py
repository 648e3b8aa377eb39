"""The buffer of a killed process is delivered, each row once."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import struct
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamark.queue import own_files, recovery, segments
from seamark.queue import ring as ring_module
from seamark.queue.folders import Place
from seamark.queue.grouping import encoded, payloads
from seamark.queue.layouts import Layout
from seamark.queue.recovery import points_left, recover, recover_all, remove_ring
from seamark.queue.ring import (
    DEFINITIONS,
    MAGICS,
    MARKS,
    MAX_ROW_BYTES,
    MIN_ROW_BYTES,
    RING_FILE,
    ROWS,
    Ring,
    create_ring,
    ring_bytes_with,
)
from seamark.queue.rows import Row
from seamark.queue.spool import ACKNOWLEDGED_FILE, Spool, create_spool
from seamark.queue.spool_reader import SpoolReader
from seamark.queue.writer import RING_BYTES_AT_ONCE
from seamark.user_warnings import Notices
from tests.agent.failing_disk import FailingDisk
from tests.agent.queue.test_spool import ORIGIN

WIDTHS = (1, 3, 20)


@pytest.fixture(scope="module", autouse=True)
def _small_rings():
    """Have rows go round and round as often as they can."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ring_module, "MAX_ROW_BYTES", MIN_ROW_BYTES)
        yield


class Killed(BaseException):
    """Simulates kill -9: no later code runs."""


class Process:
    """A process that logs rows and moves them to its spool, until it is killed."""

    def __init__(self, root: Path) -> None:
        self.spool: Spool = create_spool(root, ORIGIN, url=None)
        ring = create_ring(self.spool.folder)
        assert ring is not None
        self.ring: Ring = ring
        self.layouts = {
            number: Layout(number, tuple(f"{width}/{i}" for i in range(width)))
            for number, width in enumerate(WIDTHS, 1)
        }
        for layout in self.layouts.values():
            layout.is_defined = self.ring.define(layout)
        self.logged: Counter[tuple[str, float]] = Counter()
        self.step = 0.0

    def log(self, number: int) -> None:
        layout = self.layouts[number]
        values = [self.step] * len(layout.paths)
        if self.ring.write(layout, 1_767_225_600 * 10**6, self.step, values):
            self.logged.update((path, self.step) for path in layout.paths)
        self.step += 1

    def move(self, *, most_bytes: int, killed_after: str = "") -> None:
        rows, high = self.ring.read(self.layouts, most_bytes=most_bytes)
        if not rows:
            return
        (payload,) = payloads(encoded(rows, notices=Notices()))
        for name, do in {
            "reading": lambda: None,
            "announcing": lambda: self.ring.announce(self.spool.written + 1, high),
            "writing": lambda: self.spool.write(payload),
            "releasing": lambda: self.ring.release(high),
        }.items():
            do()
            if name == killed_after:
                raise Killed

    def end(self) -> None:
        self.ring.close()
        self.spool.close()


def stored(folder: Path) -> Counter[tuple[str, float]]:
    """Return the path and step of each point in the frames of a spool."""
    found: Counter[tuple[str, float]] = Counter()
    for frame in SpoolReader(folder).frames_from(2, most_bytes=2**40):
        for message in msgspec.msgpack.decode(frame.payload):
            steps = struct.unpack(f"<{len(message['steps']) // 8}d", message["steps"])
            values = struct.unpack(
                f"<{len(message['values']) // 8}d", message["values"]
            )
            assert values == steps * len(message["paths"])
            found.update((path, step) for path in message["paths"] for step in steps)
    return found


@pytest.fixture
def process(tmp_path: Path):
    made = Process(tmp_path / "spools")
    yield made
    made.ring.remove()


def recovered(process: Process) -> Counter[tuple[str, float]]:
    process.end()
    recover(process.spool.folder, Notices())
    assert not process.ring.path.exists()
    return stored(process.spool.folder)


def recover_until(call: str, folder: Path) -> None:
    """Recover, and get killed at a certain call."""

    def killed(*arguments: object, **options: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(call, killed)
        with pytest.raises(Killed):
            recover(folder, Notices())


def test_what_was_never_moved_is_delivered(process: Process):
    for number in (1, 2, 3, 1, 1):
        process.log(number)

    assert recovered(process) == process.logged


def test_a_full_ring_is_taken_out_in_pieces(
    process: Process, monkeypatch: pytest.MonkeyPatch
):
    """A row takes many times its bytes while it is out of the ring."""
    sizes = []

    def measured(rows: list[Row], notices: Notices) -> list[bytes]:
        sizes.append(sum(len(row.values) for row in rows))
        return encoded(rows, notices=notices)

    monkeypatch.setattr(recovery, "encoded", measured)
    before = -1
    while len(process.logged) > before:
        before = len(process.logged)
        process.log(1)
        process.log(3)

    assert recovered(process) == process.logged
    assert len(sizes) > 4
    assert max(sizes) <= RING_BYTES_AT_ONCE


def test_what_is_left_is_counted_and_stays(process: Process):
    process.log(2)
    process.move(most_bytes=10**6)
    process.log(1)
    process.log(3)
    process.end()

    assert points_left(process.spool.folder) == 21
    assert points_left(process.spool.folder) == 21
    recover(process.spool.folder, Notices())
    assert points_left(process.spool.folder) == 0


@pytest.mark.parametrize(
    "killed_after", ["reading", "announcing", "writing", "releasing"]
)
def test_it_does_not_matter_when_the_writer_is_killed(
    process: Process, killed_after: str
):
    for _ in range(3):
        for number in (1, 2, 3):
            process.log(number)
        process.move(most_bytes=10**6)
    for number in (1, 2, 3):
        process.log(number)

    with pytest.raises(Killed):
        process.move(most_bytes=200, killed_after=killed_after)

    assert recovered(process) == process.logged


@pytest.mark.parametrize("torn", [1, 8, 20])
def test_a_torn_frame_is_written_again(process: Process, torn: int):
    process.log(3)
    with pytest.raises(Killed):
        process.move(most_bytes=10**6, killed_after="writing")
    (segment,) = process.spool.folder.glob("*.frames")
    os.truncate(segment, segment.stat().st_size - torn)

    assert recovered(process) == process.logged


@pytest.mark.parametrize(
    "call", ["os.write", "pathlib.Path.rename", "pathlib.Path.unlink"]
)
@pytest.mark.parametrize("moved", [False, True])
def test_the_recovery_may_be_killed_too(process: Process, call: str, moved: bool):
    for number in (1, 2, 3):
        process.log(number)
    if moved:
        process.move(most_bytes=100)
    process.end()

    recover_until(call, process.spool.folder)
    recover(process.spool.folder, Notices())

    assert stored(process.spool.folder) == process.logged
    assert not process.ring.path.exists()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_each_row_is_delivered_once_whatever_happens(tmp_path_factory, data):
    process = Process(tmp_path_factory.mktemp("spools"))
    actions = st.one_of(
        st.integers(1, len(WIDTHS)),
        st.sampled_from([100, 5_000, 300_000]).map(lambda most: ("move", most)),
    )
    for action in data.draw(st.lists(actions, max_size=40)):
        if isinstance(action, int):
            # Enough of them to go round now and then.
            for _ in range(data.draw(st.sampled_from([1, 50, 4_000]))):
                process.log(action)
        else:
            process.move(most_bytes=action[1])
    stages = ["reading", "announcing", "writing", "releasing", ""]
    with contextlib.suppress(Killed):
        process.move(most_bytes=10_000, killed_after=data.draw(st.sampled_from(stages)))

    assert recovered(process) == process.logged


@pytest.mark.parametrize("moved", [0, 1])
def test_a_mark_that_was_made_twice_is_told_from_a_new_one(
    process: Process, moved: int
):
    """A queue whose writer could not write at first, because the disk was full."""
    process.log(1)
    if moved:
        process.move(most_bytes=10**6)
    process.log(2)
    _, high = process.ring.read(process.layouts, most_bytes=10**6)
    process.ring.announce(process.spool.written + 1, high)
    process.move(most_bytes=10**6)
    process.log(3)
    process.end()

    recover_until("pathlib.Path.unlink", process.spool.folder)
    recover(process.spool.folder, Notices())

    assert stored(process.spool.folder) == process.logged


@pytest.mark.parametrize(
    ("logged_at", "expected"), [(1_700_000_000, 1_700_000_000), (0, 1_600_000_000)]
)
def test_a_run_that_crashed_did_so_when_it_was_last_heard_of(
    process: Process, logged_at: int, expected: int
):
    process.ring.write(process.layouts[1], logged_at * 10**6, 0.0, (0.0,))
    (segment,) = process.spool.folder.glob("*.frames")
    os.utime(segment, (1_600_000_000, 1_600_000_000))

    recovered(process)

    assert max(process.spool.folder.glob("*.frames")).stat().st_mtime == expected


def test_a_copy_leaves_the_ring_to_the_spool_that_it_was_copied_from(
    tmp_path: Path, process: Process
):
    process.log(1)
    process.move(most_bytes=2**20)
    copy = tmp_path / "copy" / process.spool.folder.name
    shutil.copytree(process.spool.folder, copy)
    process.log(1)

    recover(copy, Notices())
    assert points_left(copy) == 0
    process.log(1)
    process.end()
    # Recovering the copy after the process's end must not take the ring either.
    recover(copy, Notices())
    recover(process.spool.folder, Notices())

    assert stored(process.spool.folder) == process.logged
    assert sum(stored(copy).values()) == 1


def test_a_spool_that_was_moved_takes_its_ring_along(tmp_path: Path, process: Process):
    process.log(1)
    process.end()
    moved = tmp_path / "moved" / process.spool.folder.name
    shutil.move(process.spool.folder, moved)

    recover(moved, Notices())

    assert stored(moved) == process.logged


def test_a_spool_is_known_by_another_name(tmp_path: Path, process: Process):
    process.log(1)
    process.end()
    (tmp_path / "link").symlink_to(process.spool.folder.parent)

    recover(tmp_path / "link" / process.spool.folder.name, Notices())

    assert stored(process.spool.folder) == process.logged


@pytest.mark.parametrize("what_is_left", ["nothing", "a folder", "a damaged disk"])
def test_what_was_moved_or_saved_takes_its_ring_along_once_its_process_is_gone(
    tmp_path: Path,
    process: Process,
    monkeypatch: pytest.MonkeyPatch,
    what_is_left: str,
):
    process.log(1)
    folder = process.spool.folder
    saved = tmp_path / "saved" / folder.name
    shutil.copytree(folder, saved)
    if what_is_left == "a damaged disk":
        disk = FailingDisk(folder, errno.EIO, fails_reading=True)
        disk.is_broken = True
        monkeypatch.setattr(own_files, "os", disk)
    else:
        shutil.rmtree(folder)
    if what_is_left == "a folder":
        folder.mkdir()

    with pytest.raises(BlockingIOError):
        recover(saved, Notices())
    process.ring.close()
    recover(saved, Notices())

    assert stored(saved) == process.logged


def test_of_another_container_a_ring_is_taken_once_its_process_is_gone(
    tmp_path: Path, process: Process, monkeypatch: pytest.MonkeyPatch
):
    process.log(1)
    copy = tmp_path / "elsewhere" / process.spool.folder.name
    shutil.copytree(process.spool.folder, copy)
    monkeypatch.setattr(ring_module, "_namespace", lambda: "another container's")

    with pytest.raises(BlockingIOError):
        recover(copy, Notices())
    process.end()
    recover(copy, Notices())

    assert sum(stored(copy).values()) == 1


def test_an_older_copy_takes_no_ring_of_another_container(
    tmp_path: Path, process: Process, monkeypatch: pytest.MonkeyPatch
):
    copy = tmp_path / "elsewhere" / process.spool.folder.name
    shutil.copytree(process.spool.folder, copy)
    for _ in range(2):
        process.log(1)
        process.move(most_bytes=2**20)
    process.log(1)
    process.end()
    monkeypatch.setattr(ring_module, "_namespace", lambda: "another container's")

    recover(copy, Notices())
    recover(process.spool.folder, Notices())

    assert not stored(copy)
    assert stored(process.spool.folder) == process.logged


def test_the_folder_that_was_left_keeps_a_ring_that_did_not_follow(
    tmp_path: Path, process: Process
):
    process.log(1)
    refuge = tmp_path / "refuge" / process.spool.folder.name
    refuge.mkdir(parents=True)
    # As if it had been killed before the ring got its new name.
    renamed = process.ring.path
    process.ring.path = tmp_path / "nowhere"
    process.ring.go_on_with(refuge, 1)
    process.ring.path = renamed
    process.end()

    recover(process.spool.folder, Notices())

    assert stored(process.spool.folder) == process.logged


def test_the_ring_of_a_copy_that_is_deleted_is_not_its_own(
    tmp_path: Path, process: Process
):
    process.log(1)
    copy = tmp_path / "copy" / process.spool.folder.name
    shutil.copytree(process.spool.folder, copy)

    remove_ring(copy)
    process.end()
    assert process.ring.path.exists()
    remove_ring(process.spool.folder)

    assert not process.ring.path.exists()


def test_a_time_in_the_future_is_not_when_a_run_crashed(process: Process):
    process.ring.write(process.layouts[1], 4_000_000_000 * 10**6, 0.0, (0.0,))

    recovered(process)

    latest = max(process.spool.folder.glob("*.frames"))
    assert latest.stat().st_mtime <= time.time()


def test_what_dead_processes_left_is_written_to_disk_without_a_server(
    tmp_path: Path, process: Process
):
    living = Process(tmp_path / "spools")
    for one in (process, living):
        one.log(2)
    process.end()

    recover_all(tmp_path / "spools", Notices())

    assert stored(process.spool.folder) == process.logged
    assert not process.ring.path.exists()
    assert living.ring.path.exists()
    living.end()
    living.ring.remove()


@pytest.mark.parametrize("said", ["", "another", "\0", "é" * 9])
def test_what_is_not_of_this_boot_is_left_alone(process: Process, said: str):
    process.log(1)
    process.end()
    (process.spool.folder / RING_FILE).write_text(said, "utf-8")

    recover(process.spool.folder, Notices())

    assert process.ring.path.exists()
    assert stored(process.spool.folder) == Counter()


@pytest.mark.parametrize(
    "content", [b"", b"not a ring", bytes(ring_bytes_with(MIN_ROW_BYTES))]
)
def test_what_is_no_ring_is_left_alone(process: Process, content: bytes):
    process.end()
    process.ring.path.write_bytes(content)

    recover(process.spool.folder, Notices())

    assert process.ring.path.read_bytes() == content


def test_a_ring_of_the_first_kind_is_recovered(process: Process):
    for number in (1, 2, 3):
        process.log(number)
    process.move(most_bytes=100)
    process.log(2)
    process.ring._memory[: len(MAGICS[0])] = MAGICS[0]

    assert recovered(process) == process.logged


def test_rows_behind_a_frame_that_is_lost_are_delivered(process: Process):
    """They were written over those of the frame, which was there when they were."""
    process.log(3)
    process.move(most_bytes=10**6)
    process.log(2)
    process.log(1)
    process.end()
    (segment,) = process.spool.folder.glob("*.frames")
    os.truncate(segment, segment.stat().st_size - 1)

    assert points_left(process.spool.folder) == 4
    assert recovered(process) == Counter(
        {point: count for point, count in process.logged.items() if point[1] > 0}
    )


def test_a_recovery_of_them_may_be_killed_too(
    process: Process,
):
    process.log(3)
    process.move(most_bytes=10**6)
    process.log(2)
    process.end()
    (segment,) = process.spool.folder.glob("*.frames")
    os.truncate(segment, segment.stat().st_size - 1)

    recover_until("pathlib.Path.rename", process.spool.folder)

    assert recovered(process) == Counter({(f"3/{i}", 1.0): 1 for i in range(3)})


def test_a_start_that_was_being_written_hides_no_row(process: Process):
    process.log(1)
    process.log(2)
    process.move(most_bytes=40)
    ring = process.ring._memory
    # As if the number of a later row had come that far.
    ring[ROWS : ROWS + 8] = struct.pack("<Q", 2)

    assert recovered(process) == process.logged


def test_a_link_is_not_followed(process: Process, tmp_path: Path):
    process.log(1)
    process.end()
    elsewhere = Path(shutil.move(process.ring.path, tmp_path / "elsewhere"))
    process.ring.path.symlink_to(elsewhere)

    recover(process.spool.folder, Notices())

    assert elsewhere.exists()
    assert stored(process.spool.folder) == Counter()


def test_whatever_bytes_are_in_a_ring_nothing_is_raised(process: Process):
    for number in (1, 2, 3) * 10:
        process.log(number)
    process.move(most_bytes=500)
    process.log(2)
    process.end()
    intact = process.ring.path.read_bytes()
    chance = random.Random(1)

    for _ in range(60):
        data = bytearray(intact)
        low, high = chance.choice(
            [
                (0, DEFINITIONS),
                (MARKS[0], 200),
                (DEFINITIONS, 5_000),
                (ROWS, ROWS + 5_000),
            ]
        )
        for _ in range(chance.choice([1, 30])):
            data[chance.randrange(low, high)] = chance.choice([0, 1, 255])
        process.ring.path.write_bytes(data)
        # A child that this process just started can hold the lock for a moment.
        with contextlib.suppress(BlockingIOError):
            recover(process.spool.folder, Notices())
        for segment in sorted(process.spool.folder.glob("*.frames"))[1:]:
            segment.unlink()


@pytest.mark.parametrize("began_anew", [False, True])
def test_of_a_spool_whose_frames_are_out_of_sight_the_ring_stays(
    process: Process, began_anew: bool
):
    process.log(1)
    if began_anew:
        process.move(most_bytes=10**6)
        process.log(2)
    process.end()
    (segment,) = process.spool.folder.glob("*.frames")
    aside = segment.rename(segment.with_suffix(".aside"))

    recover(process.spool.folder, Notices())
    assert process.ring.path.exists()
    aside.rename(segment)
    recover(process.spool.folder, Notices())

    assert stored(process.spool.folder) == process.logged


@pytest.mark.parametrize("killed_after", ["", "announcing", "writing"])
def test_a_spool_that_goes_on_elsewhere_takes_its_ring_along(
    process: Process, tmp_path: Path, killed_after: str
):
    for number in (1, 2, 3):
        process.log(number)
    process.move(most_bytes=MAX_ROW_BYTES)
    before = process.spool.folder
    process.log(2)
    refuge = process.spool.make_refuge(Place(lambda: tmp_path / "others"))
    process.spool.go_on_in(refuge)
    process.ring.go_on_with(process.spool.folder, process.spool.moves)
    process.log(3)
    with contextlib.suppress(Killed):
        process.move(most_bytes=MAX_ROW_BYTES, killed_after=killed_after)
    process.log(1)
    process.end()

    # Recovering the earlier folder must not take the ring.
    recover(before, Notices())
    assert process.ring.path.exists()
    recover(process.spool.folder, Notices())

    assert not process.ring.path.exists()
    # It holds all that was in memory when it was made.
    assert stored(process.spool.folder) == process.logged


@pytest.mark.parametrize(
    "what", ["its mark", "the boot", "the ring", "the frames", "the folder", "the rest"]
)
def test_a_ring_that_cannot_be_looked_at_now_is_not_taken_for_none(
    process: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
):
    """Or the spool would be delivered without its rows, or have them under old numbers."""
    for number in (1, 2, 3):
        process.log(number)
    process.move(most_bytes=100)
    process.end()
    folder = process.spool.folder
    module, path = {
        "its mark": (own_files, folder / RING_FILE),
        "the boot": (own_files, tmp_path / "nothing"),
        "the ring": (recovery, process.ring.path),
        "the frames": (own_files, min(folder.glob("*.frames"))),
        "the folder": (segments, folder),
        "the rest": (own_files, folder / ACKNOWLEDGED_FILE),
    }[what]
    disk = FailingDisk(path, errno.EMFILE, fails_reading=True)
    disk.is_broken = True
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "os", disk)
        if what == "the boot":
            # It is there, and cannot be read.
            patched.setattr(ring_module, "_BOOT_ID", tmp_path)
        with pytest.raises(OSError, match=r"Too many open files|Is a directory"):
            recover(folder, Notices())
        assert process.ring.path.exists()

    assert recovered(process) == process.logged
