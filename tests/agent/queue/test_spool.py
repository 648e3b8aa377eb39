from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
import uuid
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent
from seamark import messages
from seamark.queue import locks, own_files, spool, spool_reader
from seamark.queue.folders import Place
from seamark.queue.mounts import Mount
from seamark.queue.recovery import points_left
from seamark.queue.segments import Segments
from seamark.queue.spool import create_spool
from seamark.queue.spool_reader import SpoolReader, find_spools
from tests.agent.failing_disk import FailingDisk

ORIGIN = messages.Origin(
    project="p", run="r", stage="s", rank=0, host="h", pid=1, agent="0", time=0
)
EVERYTHING = 2**30
EMPTY = b"\x90"


@pytest.fixture
def written(tmp_path):
    opened = create_spool(tmp_path / "spools", ORIGIN, url=None)
    for number in range(2, 21):
        opened.write(messages.payload([messages.drop(number)]))
    yield opened
    opened.close()


def numbers(reader, first=1):
    return [f.number for f in reader.frames_from(first, most_bytes=EVERYTHING)]


def test_what_was_written_can_be_read(written):
    reader = SpoolReader(written.folder)

    assert numbers(reader) == list(range(1, 21))
    assert numbers(reader, 15) == list(range(15, 21))


def test_a_batch_is_as_large_as_asked_and_never_empty(written):
    reader = SpoolReader(written.folder)

    assert len(reader.frames_from(5, most_bytes=0)) == 1
    assert len(reader.frames_from(6, most_bytes=30)) < 5


def test_reading_goes_on_with_what_is_written_later(written):
    reader = SpoolReader(written.folder)
    numbers(reader)

    written.write(b"\x90")

    assert numbers(reader, 21) == [21]
    assert numbers(reader, 22) == []


def test_only_its_owner_can_read_it(written):
    modes = [oct(p.stat().st_mode & 0o777) for p in written.folder.glob("*.frames")]

    assert modes == ["0o600"]
    assert oct(written.folder.stat().st_mode & 0o777) == "0o700"


def test_a_damaged_frame_is_replaced_by_an_empty_one(written):
    (segment,) = written.folder.glob("*.frames")
    data = bytearray(segment.read_bytes())
    data[-5] ^= 1  # in frame 20, the last
    place = data.index(messages.payload([messages.drop(10)]))
    data[place] ^= 1
    segment.write_bytes(data)

    frames = SpoolReader(written.folder).frames_from(1, most_bytes=EVERYTHING)

    assert [frame.number for frame in frames] == list(range(1, 20))
    assert frames[9].payload == b"\x90"


@pytest.mark.parametrize("said", [{}, {"is_helper": True}, {"is_resuming": True}])
def test_a_damaged_first_frame_is_made_again(tmp_path, said):
    written = create_spool(tmp_path, replace(ORIGIN, **said), url=None)
    written.write(messages.payload([messages.drop(2)]))
    written.close()
    (segment,) = written.folder.glob("*.frames")
    data = bytearray(segment.read_bytes())
    opening = SpoolReader(written.folder).frames_from(1, most_bytes=0)
    data[20] ^= 1
    segment.write_bytes(data)

    assert SpoolReader(written.folder).frames_from(1, most_bytes=0) == [
        type(opening[0])(1, opening[0].payload)
    ]


def test_segments_that_are_acknowledged_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 100)
    opened = create_spool(tmp_path, ORIGIN, url=None)
    for _ in range(30):
        opened.write(bytes([0x90]) * 30)
    reader = SpoolReader(opened.folder)
    before = len(list(opened.folder.glob("*.frames")))

    assert numbers(reader) == list(range(1, 32))
    reader.acknowledge(20)

    assert len(list(opened.folder.glob("*.frames"))) < before
    again = SpoolReader(opened.folder)
    assert again.acknowledged == 20
    assert numbers(again, 21) == list(range(21, 32))
    opened.close()


def test_what_memory_has_is_not_read_from_the_disk(written, monkeypatch):
    reader = SpoolReader(written.folder, written)
    stored = [
        f.to_bytes()
        for f in SpoolReader(written.folder).frames_from(3, most_bytes=EVERYTHING)
    ]
    monkeypatch.setattr(Segments, "_all", lambda _: pytest.fail("read"))

    taken = reader.frames_from(3, most_bytes=EVERYTHING)

    assert [frame.to_bytes() for frame in taken] == stored
    assert numbers(reader, 21) == []


def test_what_memory_has_not_comes_from_the_disk_and_once(tmp_path):
    opened = create_spool(tmp_path, ORIGIN, url=None)
    for _ in range(4):
        opened.write(bytes([0x90]) * 100_000)
    reader = SpoolReader(opened.folder, opened)

    assert opened.recent.payload(2) is None
    assert opened.recent.payload(5) is not None
    assert numbers(reader) == [1, 2, 3, 4, 5]
    opened.close()


def test_a_living_spool_is_looked_through_once_for_each_file_that_is_delivered(
    tmp_path, monkeypatch
):
    opened = create_spool(tmp_path, ORIGIN, url=None)
    reader = SpoolReader(opened.folder, opened)
    look, looks = Segments._all, []

    def counted(reader):
        looks.append(1)
        return look(reader)

    monkeypatch.setattr(Segments, "_all", counted)
    for number in range(2, 12):
        opened.write(b"\x90")
        reader.acknowledge(number)
    assert len(looks) == 1

    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    opened.write(b"\x90")
    assert len(list(opened.folder.glob("*.frames"))) == 2
    reader.acknowledge(11)  # nothing of the second one is delivered
    reader.acknowledge(12)

    assert [path.stem for path in opened.folder.glob("*.frames")] == [f"{12:020}"]
    opened.close()


def deliver(folder, *, at_once):
    """Take frames as a sender does, and return their numbers and payloads."""
    reader, taken = SpoolReader(folder), []
    while frames := reader.frames_from(reader.acknowledged + 1, most_bytes=at_once):
        taken += [(frame.number, frame.payload) for frame in frames]
        reader.acknowledge(frames[-1].number)
    assert reader.replaced == 0
    return taken


@settings(max_examples=60)
@given(order=st.permutations(range(10)), at_once=st.sampled_from([0, 150, EVERYTHING]))
def test_segments_under_each_others_names_are_read_in_the_order_of_their_frames(
    order, at_once
):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(spool, "SEGMENT_BYTES", 100)
        opened = create_spool(Path(folder), ORIGIN, url=None)
        for number in range(2, 31):
            opened.write(messages.payload([messages.drop(number)]) + b"\x90" * 20)
        opened.close()
        expected = [
            (frame.number, frame.payload)
            for frame in SpoolReader(opened.folder).frames_from(
                1, most_bytes=EVERYTHING
            )
        ]
        names = sorted(opened.folder.glob("*.frames"))
        assert len(names) >= len(order)
        contents = [path.read_bytes() for path in names]
        for path, place in zip(names, order, strict=False):
            path.write_bytes(contents[place])

        assert SpoolReader(opened.folder).last_number() == 30
        assert deliver(opened.folder, at_once=at_once) == expected


def test_pending_bytes_shrink_to_nothing(written):
    reader = SpoolReader(written.folder)
    whole = reader.pending_bytes()

    reader.acknowledge(10)
    half = reader.pending_bytes()
    reader.acknowledge(20)

    assert whole > half > 0
    assert reader.pending_bytes() == 0


def test_a_deleted_folder_is_made_again(written):
    for path in written.folder.iterdir():
        path.unlink()
    written.folder.rmdir()

    written.write(b"\x90")

    found = SpoolReader(written.folder).frames_from(21, most_bytes=EVERYTHING)
    assert [frame.number for frame in found] == [21]


def test_a_folder_that_is_made_again_can_be_delivered_by_others(written, tmp_path):
    shutil.rmtree(written.folder)
    written.write(b"\x90")

    assert locks.is_held(written.folder)
    written.close()

    lock = locks.acquire(written.folder)
    assert lock is not None
    locks.release(lock)
    (found,) = find_spools(tmp_path / "spools")
    assert numbers(found) == list(range(1, 22))
    assert found.frames_from(1, most_bytes=0)[0].payload != EMPTY


def numbers_of(path):
    """The descriptors of this process that are of a file, or of files in a folder."""
    found = []
    for place in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if place.readlink().is_relative_to(path):
                found.append(int(place.name))
    return found


@pytest.fixture
def of_the_training(written, tmp_path):
    """Close the spool's files, and open another file at each descriptor."""
    path = tmp_path / "checkpoint"
    path.write_bytes(b"weights" * 9)
    opened = []

    def take_numbers():
        theirs = os.open(path, os.O_RDWR)
        for number in numbers_of(written.folder):
            os.dup2(theirs, number)
            opened.append(number)
        os.close(theirs)

    yield take_numbers
    for number in opened:
        assert os.path.samestat(os.fstat(number), path.stat())
        os.close(number)
    assert len(opened) >= 2
    assert path.read_bytes() == b"weights" * 9


def test_what_has_the_number_of_a_closed_file_is_left_alone(written, of_the_training):
    of_the_training()

    written.write(b"\x90")
    written.write(b"\x90")

    assert numbers(SpoolReader(written.folder)) == list(range(1, 23))
    assert locks.is_held(written.folder)
    written.close()
    assert not locks.is_held(written.folder)


def test_the_end_of_a_spool_closes_no_file_of_others(written, of_the_training):
    of_the_training()

    written.close()


def test_a_forked_child_closes_no_file_of_others(written, of_the_training, tmp_path):
    of_the_training()
    before = numbers_of(tmp_path / "checkpoint")

    child = os.fork()
    if not child:
        written.forget()
        os._exit(numbers_of(tmp_path / "checkpoint") != before)

    _, status = os.waitpid(child, 0)
    assert status == 0


def test_a_write_that_fails_cuts_no_file_of_others(
    written, of_the_training, monkeypatch
):
    def fail(number, data):
        of_the_training()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        written.write(b"\x90")
    monkeypatch.undo()

    written.write(b"\x90")
    assert numbers(SpoolReader(written.folder)) == list(range(1, 22))


def test_a_spool_whose_files_were_closed_goes_on_locked(written):
    for number in numbers_of(written.folder):
        os.close(number)

    written.write(b"\x90")

    assert numbers(SpoolReader(written.folder)) == list(range(1, 22))
    assert locks.is_held(written.folder)


def test_nothing_is_written_to_a_spool_that_others_took_when_its_lock_was_closed(
    written,
):
    (lock,) = numbers_of(written.folder / "lock")
    with Path(os.devnull).open() as other:
        os.dup2(other.fileno(), lock)
    of_others = locks.acquire(written.folder)

    with pytest.raises(OSError, match="cannot be locked"):
        written.write(b"\x90")

    locks.release(of_others)
    os.close(lock)
    written.write(b"\x90")
    assert numbers(SpoolReader(written.folder)) == list(range(1, 22))
    assert locks.is_held(written.folder)


def test_a_full_spool_refuses_without_harm(written, monkeypatch):
    monkeypatch.setattr(spool, "LARGEST_SPOOL_BYTES", 0)
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 0)

    with pytest.raises(OSError, match="maximum size"):
        written.write(b"\x90")

    monkeypatch.undo()
    written.write(b"\x90")
    assert numbers(SpoolReader(written.folder)) == list(range(1, 22))


def test_a_living_process_keeps_its_spool_locked(written):
    assert locks.is_held(written.folder)

    written.close()

    assert not locks.is_held(written.folder)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_of_a_lock_that_may_only_be_read_it_is_seen_whether_somebody_has_it(
    written, monkeypatch, number
):
    really_open = os.open

    def open_to_read(path, flags, *more, **options):
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise OSError(number, os.strerror(number), path)
        return really_open(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", open_to_read)
    assert locks.is_held(written.folder)

    written.close()

    assert not locks.is_held(written.folder)
    assert locks.obstacle(written.folder).errno == number
    assert locks.acquire(written.folder) is None


def test_a_spool_that_can_be_locked_has_no_obstacle(written):
    assert isinstance(locks.obstacle(written.folder), BlockingIOError)

    written.close()

    assert locks.obstacle(written.folder) is None


def test_one_that_is_gone_since_it_was_listed_hides_no_other(
    written, tmp_path, monkeypatch
):
    gone = tmp_path / "spools" / str(uuid.uuid4())
    gone.mkdir()
    really_stat = Path.stat

    def stat(path, **options):
        if path == gone:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return really_stat(path, **options)

    monkeypatch.setattr(Path, "stat", stat)

    found = find_spools(tmp_path / "spools")
    assert [spool.id for spool in found] == [written.folder.name]


def test_what_is_delivered_while_it_is_counted_is_no_error(written, monkeypatch):
    reader = SpoolReader(written.folder)
    size, listed = reader.pending_bytes(), reader._segments.holding
    gone = written.folder / f"{99:020}.frames"
    monkeypatch.setattr(reader._segments, "holding", lambda n: [*listed(n), (99, gone)])

    assert reader.pending_bytes() == size


def test_only_folders_named_by_an_id_are_spools(written, tmp_path):
    root = tmp_path / "spools"
    (root / "..evil").mkdir()
    (root / "set-aside").mkdir()
    (root / "00000000-0000-0000-0000-000000000000").symlink_to("/etc")

    assert [found.id for found in find_spools(root)] == [written.folder.name]


def test_links_and_pipes_in_a_spool_are_not_opened(written):
    (written.folder / f"{30:020}.frames").symlink_to("/dev/zero")
    os.mkfifo(written.folder / f"{40:020}.frames")

    assert numbers(SpoolReader(written.folder)) == list(range(1, 21))


@pytest.mark.parametrize("name", ["acknowledged", "spool.json", "renewal.json", "ring"])
@pytest.mark.parametrize("lies_there", ["pipe", "device", "link", "second name"])
def test_whatever_bears_the_name_of_a_file_is_neither_read_nor_written(
    written, tmp_path, name, lies_there
):
    precious = tmp_path / "precious"
    precious.write_text("7")
    place = written.folder / name
    place.unlink(missing_ok=True)
    if lies_there == "pipe":
        os.mkfifo(place)
    elif lies_there == "second name":
        place.hardlink_to(precious)
    else:
        place.symlink_to("/dev/zero" if lies_there == "device" else precious)

    reader = SpoolReader(written.folder)
    reader.acknowledge(5)
    points_left(written.folder)

    assert SpoolReader(written.folder).acknowledged == (0 if name[0] == "a" else 5)
    assert precious.read_text() == "7"


def test_a_frame_is_not_set_aside_where_a_link_leads(written, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "spools" / "set-aside").symlink_to(tmp_path / "elsewhere")
    reader = SpoolReader(written.folder)

    reader.set_aside(reader.frames_from(2, most_bytes=0)[0])

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_without_an_end_takes_no_memory(written):
    endless = written.folder / f"{30:020}.frames"
    endless.touch()
    os.truncate(endless, 2**40)

    assert numbers(SpoolReader(written.folder)) == list(range(1, 21))


def test_the_description_holds_no_token(written, monkeypatch):
    description = msgspec.json.decode((written.folder / "spool.json").read_bytes())

    # Only a digest of the token, see test_orphans.
    assert set(description) == {"version", "url", "token_digest", "origin", "boot"}


def test_a_tracker_that_forgot_the_start_gets_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 100)
    monkeypatch.setattr(spool_reader, "MAX_REPLACED", 10)
    opened = create_spool(tmp_path, ORIGIN, url=None)
    for _ in range(60):
        opened.write(bytes([0x90]) * 30)
    SpoolReader(opened.folder).acknowledge(50)

    frames = SpoolReader(opened.folder).frames_from(1, most_bytes=EVERYTHING)

    assert [frame.number for frame in frames] == list(range(1, 62))
    assert [frame.number for frame in frames if len(frame.payload) == 30][-10:] == [
        *range(52, 62)
    ]
    opened.close()


def test_a_file_that_fails_when_it_is_closed_is_not_written_to_again(
    written, monkeypatch
):
    close = os.close

    def fail(descriptor):
        close(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(spool, "SEGMENT_BYTES", 0)
    monkeypatch.setattr(spool.os, "close", fail)
    written.write(b"\x90")
    written.write(b"\x90")
    monkeypatch.undo()

    assert numbers(SpoolReader(written.folder)) == list(range(1, 23))


def test_what_could_not_be_cut_off_harms_no_other_frame(written, monkeypatch):
    write = os.write
    monkeypatch.setattr(spool.os, "write", lambda fd, data: write(fd, data[:20]))
    monkeypatch.setattr(spool.os, "ftruncate", _no_space)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            written.write(b"\x90" * 100)
    monkeypatch.undo()
    written.write(b"\x90" * 40)
    monkeypatch.setattr(spool.os, "write", lambda fd, data: write(fd, data[:20]))
    with pytest.raises(OSError, match="No space"):
        written.write(b"\x90" * 40)
    monkeypatch.undo()

    frames = SpoolReader(written.folder).frames_from(21, most_bytes=EVERYTHING)
    assert [len(frame.payload) for frame in frames] == [40]


def _no_space(descriptor, length):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_that_is_delivered_and_deleted_meanwhile_has_no_bytes(written):
    size = spool.stored_bytes(written.folder)
    (written.folder / f"{0:020}.frames").symlink_to("deleted")

    assert spool.stored_bytes(written.folder) == size


def test_what_was_written_is_synced_once(written, synced):
    written.sync()
    written.sync()
    (segment,) = written.folder.glob("*.frames")
    once = [written.folder / "spool.json", written.folder.parent]
    assert synced == [str(path) for path in (segment, written.folder, *once)]

    written.write(b"\x90")
    written.sync()
    assert synced[4:] == [str(segment), str(written.folder)]


def test_the_folder_that_a_spool_goes_on_in_is_synced_with_what_it_took_along(
    written, synced, tmp_path
):
    written.sync()
    synced.clear()
    written.go_on_in(written.make_refuge(Place(lambda: tmp_path / "other")))

    written.sync()

    (segment,) = written.folder.glob("*.frames")
    once = [written.folder / "spool.json", tmp_path / "other"]
    assert synced == [str(path) for path in (segment, written.folder, *once)]


def test_who_comes_second_waits_for_what_is_just_being_synced(written, monkeypatch):
    is_asked, may_go_on = threading.Event(), threading.Event()

    def wait(_):
        is_asked.set()
        assert may_go_on.wait(60)

    monkeypatch.setattr(os, "fsync", wait)
    first, second = (threading.Thread(target=written.sync) for _ in range(2))
    first.start()
    assert is_asked.wait(60)
    second.start()
    second.join(0.2)
    assert second.is_alive()

    may_go_on.set()
    first.join(60)
    second.join(60)
    assert not second.is_alive()


def test_a_folder_that_cannot_be_synced_is_in_order(written, monkeypatch):
    def refuse(_):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)

    written.sync()


def test_a_segment_that_was_delivered_meanwhile_needs_no_sync(written):
    (segment,) = written.folder.glob("*.frames")
    segment.unlink()

    written.sync()


def test_a_segment_that_begins_while_others_are_removed_stays(written, monkeypatch):
    reader = SpoolReader(written.folder)
    look = Segments._all
    begun = written.folder / f"{21:020}.frames"
    looks = []

    def look_and_begin(reader):
        yield from list(look(reader))
        # The process begins its next file just behind our back.
        if not looks:
            begun.touch()
        looks.append(begun)

    monkeypatch.setattr(Segments, "_all", look_and_begin)
    reader.acknowledge(20)

    assert begun.exists()


def test_a_process_may_keep_less(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 0)
    opened = create_spool(tmp_path, ORIGIN, url=None, most_bytes=1)

    with pytest.raises(OSError, match="maximum size"):
        opened.write(b"\x90")

    opened.close()


def test_a_disk_that_is_nearly_full_is_left_to_others(written, monkeypatch):
    monkeypatch.setattr(spool, "_MIN_FREE_BYTES", 2**62)
    monkeypatch.setattr(spool, "_MIN_FREE_PART", 1)
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 0)

    # Data that is sent at once fits on any disk.
    written.write(b"\x90")
    monkeypatch.setattr(spool, "_ALWAYS_BYTES", 0)
    with pytest.raises(OSError, match="nearly full"):
        written.write(b"\x90")

    monkeypatch.undo()
    written.write(b"\x90")
    assert numbers(SpoolReader(written.folder)) == list(range(1, 23))


def test_a_folder_on_a_network_file_system_is_warned_of_once(
    tmp_path, monkeypatch, caplog
):
    with agent.init("r", monitor=False, mode="offline") as run:
        run["a"].append(1.0)
    assert "network file system" not in caplog.text

    on_network = Mount("/home", "nfs4", "0:40", "server:/home")
    monkeypatch.setattr("seamark.lifecycle.opening.mount_below", lambda _: on_network)
    with agent.init("r", monitor=False, mode="offline") as run:
        run["a"].append(1.0)

    assert caplog.text.count("is on a network file system (nfs4)") == 1
    assert "SEAMARK_SPOOL" in caplog.text


def test_files_under_each_others_names_are_not_sorted_by_the_names_of_unread_ones(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    opened = create_spool(tmp_path, ORIGIN, url=None)
    for number in range(2, 6):
        opened.write(messages.payload([messages.drop(number)]))
    opened.close()
    expected = SpoolReader(opened.folder).frames_from(1, most_bytes=EVERYTHING)
    _, second, *_, last = sorted(opened.folder.glob("*.frames"))
    aside = second.rename(tmp_path / "aside")
    last.rename(second)
    aside.rename(last)
    disk = FailingDisk(second, errno.EMFILE, fails_reading=True)
    monkeypatch.setattr(own_files, "os", disk)
    reader = SpoolReader(opened.folder)

    disk.is_broken, disk.fails_at_most = True, 1
    assert reader.frames_from(2, most_bytes=EVERYTHING) == []
    assert reader.obstacle

    found = reader.frames_from(1, most_bytes=EVERYTHING)
    assert [f.payload for f in found] == [f.payload for f in expected]
    assert not reader.obstacle


class CutOffAt:
    """Replaces `os`: reading a file fails after a given offset."""

    def __init__(self, place):
        self.place = place

    def __getattr__(self, name):
        return getattr(os, name)

    def pread(self, file, length, offset):
        if length and offset >= self.place:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return os.pread(file, min(length, self.place - offset), offset)


def test_of_a_file_that_can_be_read_in_part_the_rest_is_not_taken_for_damaged(
    written, monkeypatch
):
    (segment,) = written.folder.glob("*.frames")
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    written.write(EMPTY)
    size = segment.stat().st_size
    monkeypatch.setattr(own_files, "os", CutOffAt(size - 10))
    reader = SpoolReader(written.folder)

    assert numbers(reader) == list(range(1, 20))
    assert f"Input/output error: '{segment}'" in reader.obstacle
    assert numbers(reader, 20) == []

    monkeypatch.setattr(own_files, "os", os)
    assert numbers(reader, 20) == [20, 21]
    assert reader.replaced == 0
