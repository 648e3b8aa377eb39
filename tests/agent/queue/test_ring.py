"""A logged row is in mapped memory when the call returns."""

from __future__ import annotations

import errno
import math
import os
import shutil
import struct
from pathlib import Path

import pytest

from seamark.queue import ring as ring_module
from seamark.queue.layouts import Layout
from seamark.queue.ring import (
    MAX_ROW_BYTES,
    MIN_ROW_BYTES,
    Ring,
    create_ring,
    ring_bytes_with,
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a folder in place of shared memory, on any file system."""
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(ring_module, "SHARED_MEMORY", memory)
    monkeypatch.setattr(ring_module, "file_system_of", lambda folder: "tmpfs")
    return memory / f"seamark-{os.geteuid()}"


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spools" / "8f0d9f6e-0000-4000-8000-000000000000"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def ring(place: Path, spool: Path) -> Ring:
    made = create_ring(spool)
    assert made is not None
    return made


def layout_of(ring: Ring, *paths: str, number: int = 1) -> Layout:
    layout = Layout(number, paths)
    layout.is_defined = ring.define(layout)
    return layout


def numbers(values: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(values) // 8}d", values)


def test_what_has_the_number_of_its_closed_file_is_not_closed(ring: Ring, tmp_path):
    (kept,) = (
        int(place.name)
        for place in Path("/proc/self/fd").iterdir()
        if place.exists() and place.samefile(ring.path)
    )
    theirs = (tmp_path / "checkpoint").open("w")
    os.dup2(theirs.fileno(), kept)

    ring.remove()

    assert os.path.samestat(os.fstat(kept), os.fstat(theirs.fileno()))
    assert not ring.path.exists()
    os.close(kept)
    theirs.close()


def test_its_own_file_is_closed(ring: Ring):
    before = len([*Path("/proc/self/fd").iterdir()])

    ring.close()

    assert len([*Path("/proc/self/fd").iterdir()]) == before - 1


def test_rows_come_back_as_they_were_written(ring: Ring):
    layout = layout_of(ring, "a", "b")

    assert ring.write(layout, 1_000, 3, (1, 0.1))
    assert ring.write(layout, 2_999, 4.5, {"a": True, "b": -0.0}.values())
    rows, _ = ring.read({1: layout}, most_bytes=10_000)

    assert [row[:3] for row in rows] == [
        *((("a", "b"), 3, 1_000), (("a", "b"), 4.5, 2_999))
    ]
    assert [numbers(row.values) for row in rows] == [(1.0, 0.1), (1.0, -0.0)]
    assert math.copysign(1, numbers(rows[1].values)[1]) == -1


def test_the_bits_of_a_nan_stay_as_they_are(ring: Ring):
    layout = layout_of(ring, "a")
    (nan,) = struct.unpack("<d", b"\x01\x02\x03\x04\x05\x06\xf8\x7f")

    ring.write(layout, 0, 0, (nan,))
    rows, _ = ring.read({1: layout}, most_bytes=10_000)

    assert rows[0].values == b"\x01\x02\x03\x04\x05\x06\xf8\x7f"


@pytest.fixture
def small_ring(place: Path, spool: Path, monkeypatch: pytest.MonkeyPatch) -> Ring:
    monkeypatch.setattr(ring_module, "MAX_ROW_BYTES", MIN_ROW_BYTES)
    made = create_ring(spool)
    assert made is not None
    assert made.row_bytes == MIN_ROW_BYTES
    return made


@pytest.mark.parametrize("share", [1, 2, 5], ids=["all", "a half", "a fifth"])
def test_rows_of_all_sizes_go_round_and_round(small_ring: Ring, share: int):
    ring = small_ring
    layouts = {
        number: layout_of(ring, *(f"{number}/{i}" for i in range(width)), number=number)
        for number, width in enumerate((1, 20, 997), 1)
    }
    written: list[float] = []
    found: list[float] = []
    step = 0.0

    while step < 20_000:
        for _ in range(500):
            layout = layouts[1 + int(step) * 7 % 3]
            if ring.write(layout, 0, step, [step] * len(layout.paths)):
                written.append(step)
            step += 1
        rows, high = ring.read(layouts, most_bytes=ring.row_bytes // share)
        found += [row.step for row in rows]
        assert all(set(numbers(row.values)) == {row.step} for row in rows)
        ring.release(high)
    while not ring.is_empty:
        rows, high = ring.read(layouts, most_bytes=ring.row_bytes // share)
        found += [row.step for row in rows]
        ring.release(high)

    assert found == written
    assert len(found) > 5_000


def test_while_all_is_read_the_same_few_pages_are_used(ring: Ring):
    layout = layout_of(ring, "a")
    places = []
    for step in range(100):
        ring.write(layout, 0, step, (1.0,))
        ring.write(layout, 0, step, (2.0,))
        rows, high = ring.read({1: layout}, most_bytes=10_000)
        assert [numbers(row.values) for row in rows] == [(1.0,), (2.0,)]
        ring.release(high)
        places.append(high[1])

    assert set(places) == {2 * layout.size}


@pytest.mark.parametrize(
    ("free", "row_bytes"),
    [
        (2**40, MAX_ROW_BYTES),
        (64 * 2**20, 4 * 2**20 - ring_bytes_with(0)),
        (32 * 2**20, None),
    ],
)
def test_a_small_memory_has_a_small_ring(
    place: Path,
    spool: Path,
    monkeypatch: pytest.MonkeyPatch,
    free: int,
    row_bytes: int | None,
):
    space = os.statvfs_result((4_096, 4_096, *[free // 4_096] * 3, *[0] * 5))
    monkeypatch.setattr(os, "statvfs", lambda _: space)

    made = create_ring(spool)

    assert (made and made.row_bytes) == row_bytes


def test_a_full_ring_takes_rows_again_once_some_are_released(ring: Ring):
    layout = layout_of(ring, "a")
    fitting = ring.row_bytes // layout.size

    taken = [ring.write(layout, 0, step, (1.0,)) for step in range(fitting + 1)]
    _, high = ring.read({1: layout}, most_bytes=layout.size)
    ring.release(high)

    assert taken == [True] * fitting + [False]
    assert ring.write(layout, 0, 0, (1.0,))
    assert not ring.write(layout, 0, 0, (1.0,))


def test_a_ring_that_fills_up_calls_the_writer_once_until_it_was_there(ring: Ring):
    calls = []
    ring.call_writer = lambda: calls.append(ring.is_empty)
    layout = layout_of(ring, "a")
    half = ring.row_bytes // layout.size // 2

    for step in range(half):
        ring.write(layout, 0, step, (1.0,))
    assert calls == []

    for step in range(half):
        ring.write(layout, 0, half + step, (1.0,))
    assert calls == [False]

    _, high = ring.read({1: layout}, most_bytes=ring.row_bytes)
    ring.release(high)
    for step in range(half + 2):
        ring.write(layout, 0, step, (1.0,))
    assert calls == [False, False]


def test_what_cannot_be_a_number_leaves_no_row(ring: Ring):
    layout = layout_of(ring, "a", "b")

    for values in [(1.0, "2"), (1.0,), (1.0, None), (10**400, 1.0)]:
        with pytest.raises((struct.error, TypeError, OverflowError)):
            ring.write(layout, 0, 0, values)

    assert ring.is_empty
    assert ring.write(layout, 0, 0, (1.0, 2.0))


def test_names_beyond_the_room_for_them_are_logged_another_way(ring: Ring):
    defined = [
        ring.define(Layout(number, (f"{number}" * 400,))) for number in range(1, 1_000)
    ]

    assert defined[0]
    assert not defined[-1]
    assert not ring.write(Layout(1_000, ("a",)), 0, 0, (1.0,))


def test_it_lies_in_shared_memory_where_only_we_can_read_it(ring: Ring, place: Path):
    assert ring.path.parent == place
    assert oct(place.stat().st_mode & 0o777) == "0o700"
    assert oct(ring.path.stat().st_mode & 0o777) == "0o600"
    # Allocated blocks: a missing one would later kill the process by SIGBUS.
    assert ring.path.stat().st_blocks * 512 >= ring_bytes_with(ring.row_bytes)


def test_a_folder_that_somebody_else_made_is_not_used(place: Path, spool: Path):
    place.mkdir()
    place.chmod(0o777)

    assert create_ring(spool) is None
    assert [*place.iterdir(), *spool.iterdir()] == []


def test_data_loaders_are_left_their_memory(
    place: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ring_module, "_SMALLEST_PART", 2**40)

    assert create_ring(spool) is None


@pytest.mark.parametrize("kind", ["ext4", "overlay", "nfs4", "fuse.sshfs", ""])
def test_no_disk_is_mapped_which_might_lack_a_page_or_be_waited_for(
    place: Path, spool: Path, monkeypatch: pytest.MonkeyPatch, kind: str
):
    monkeypatch.setattr(ring_module, "file_system_of", lambda folder: kind)

    assert create_ring(spool) is None
    assert list(spool.iterdir()) == []


def test_a_disk_without_room_has_no_ring(
    place: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*arguments: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)

    assert create_ring(spool) is None
    assert [*place.iterdir(), *spool.iterdir()] == []


def test_without_knowing_when_the_machine_started_there_is_none(
    place: Path, spool: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(ring_module, "_BOOT_ID", tmp_path / "absent")

    assert create_ring(spool) is None


@pytest.fixture
def another(tmp_path: Path) -> Path:
    folder = tmp_path / "spools" / "8f0d9f6e-0000-4000-8000-000000000001"
    folder.mkdir(parents=True)
    return folder


def names(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()}


def test_rings_of_dead_processes_whose_spools_are_gone_are_deleted(
    ring: Ring, place: Path, spool: Path, another: Path
):
    (place / "other.ring").write_bytes(b"not ours")
    (place / "torn.ring").write_bytes(ring_module.MAGIC)
    shutil.rmtree(spool)

    ring.close()
    made = create_ring(another)

    assert made is not None
    assert names(place) == {made.path.name, "other.ring", "torn.ring"}


@pytest.mark.parametrize(
    "what", ["its process lives", "its spool is there", "elsewhere"]
)
def test_others_are_left_alone(
    ring: Ring, spool: Path, another: Path, monkeypatch: pytest.MonkeyPatch, what: str
):
    if what != "its process lives":
        ring.close()
    if what != "its spool is there":
        shutil.rmtree(spool)
    if what == "elsewhere":
        # As in another container that shares this memory but not its folders.
        monkeypatch.setattr(ring_module, "_namespace", lambda: "mnt:[1]")

    made = create_ring(another)

    assert made is not None
    assert names(made.path.parent) == {made.path.name, ring.path.name}


def test_what_might_be_out_of_sight_is_deleted_once_it_is_forgotten_for_a_week(
    ring: Ring, place: Path, spool: Path, another: Path, monkeypatch: pytest.MonkeyPatch
):
    ring.close()
    shutil.rmtree(spool)
    monkeypatch.setattr(ring_module, "_namespace", lambda: "mnt:[1]")
    os.utime(ring.path, (0, 0))

    made = create_ring(another)

    assert made is not None
    assert names(place) == {made.path.name}


@pytest.mark.parametrize("namespace", ["ours", "another"])
def test_what_is_to_be_recovered_stays_however_long_nobody_logged(
    ring: Ring, another: Path, monkeypatch: pytest.MonkeyPatch, namespace: str
):
    ring.close()
    os.utime(ring.path, (0, 0))
    if namespace == "another":
        # As of a container that was started again.
        monkeypatch.setattr(ring_module, "_namespace", lambda: "mnt:[1]")

    assert create_ring(another) is not None

    assert ring.path.exists()


def test_a_folder_that_cannot_be_looked_at_now_is_not_taken_for_gone(
    ring: Ring, spool: Path, another: Path, monkeypatch: pytest.MonkeyPatch
):
    ring.close()
    really_stat = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path == spool:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return really_stat(path, **options)

    monkeypatch.setattr(Path, "stat", stat)

    assert create_ring(another) is not None

    assert ring.path.exists()


def test_a_ring_in_use_can_be_closed(ring: Ring):
    with memoryview(ring._memory):
        ring.close()
