"""Files: from the call over the spool to the tracker."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
import time
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

import agent
from seamark.commands import main
from seamark.lifecycle import opening, session
from seamark.queue import blobs
from seamark.recording import files as files_module
from seamark.recording.file_contents import Content, Job, to_content
from seamark.recording.file_jobs import FileJobs
from seamark.recording.file_patterns import matching
from seamark.run import Run
from seamark.user_warnings import Notices
from tests.agent.conftest import wait_until
from tests.agent.failing_disk import FailingDisk
from tests.agent.tracker_double import Scripted, doubles

LARGE = os.urandom(3_000_000)


def init(name="r", **arguments):
    return agent.init(name, **{"monitor": False, **arguments})


def digest(data):
    return hashlib.sha256(data).hexdigest()


def files(tracker):
    return {m["path"]: m for m in tracker.of_kind("file")}


def stored(tracker, path):
    return tracker.stored[files(tracker)[path]["digest"]]


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "best.pt"
    path.write_bytes(LARGE)
    return path


def test_a_file_arrives_with_its_name(tracker, large):
    with init() as run:
        run["model/best"].upload(large)

    file = files(tracker)["model/best"]
    assert file["name"] == "best.pt"
    assert file["size"] == len(LARGE)
    assert file["type"] == "application/octet-stream"
    assert tracker.stored[file["digest"]] == LARGE


def test_an_array_and_a_file_are_stored_by_assignment_too(tracker, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with init() as run:
        run["samples/input"] = agent.File(np.zeros((4, 4), np.uint8))
        run["samples"] = {"notes": agent.File(str(tmp_path / "notes.txt"))}

    assert stored(tracker, "samples/input").startswith(b"\x89PNG")
    assert files(tracker)["samples/input"]["name"] == "input.png"
    assert files(tracker)["samples/notes"]["type"] == "text/plain"


def test_a_file_that_is_replaced_after_the_call_is_the_one_it_was(tracker, large):
    with init() as run:
        for _ in range(20):
            run["warm"].append(1.0)
        run["model/best"].upload(large)
        new = large.with_name("new")
        new.write_bytes(b"newer")
        new.replace(large)

    assert stored(tracker, "model/best") == LARGE


def test_a_file_that_is_deleted_after_the_call_is_stored(tracker, large):
    with init() as run:
        run["model/best"].upload(large)
        large.unlink()

    assert stored(tracker, "model/best") == LARGE


def test_who_waits_may_write_to_the_file_again(tracker, large):
    with init() as run:
        run["model/best"].upload(large, wait=True)
        with large.open("r+b") as file:
            file.write(b"overwritten")

    assert stored(tracker, "model/best") == LARGE


def kinds_of(synced):
    """Return the kind of each synced path: a content, a folder, or records."""
    return [Path(name).suffix or Path(name).name for name in synced]


def test_a_content_and_its_folder_are_on_the_disk_before_the_frame_that_names_it(
    large, spool_root, monkeypatch
):
    run = init(mode="offline")
    spool = run._session.folder
    seen = []

    def note(file):
        path = Path(f"/proc/self/fd/{file}").readlink()
        frames = b"".join(each.read_bytes() for each in spool.glob("*.frames"))
        seen.append((path, digest(LARGE).encode() in frames))

    monkeypatch.setattr(os, "fsync", note)
    run["model/best"].upload(large, wait=True)
    seen = [(kinds_of([path])[0], is_named) for path, is_named in seen]

    content, folder = seen.index((".new", False)), seen.index(("blobs", False))
    frame = seen.index((".frames", True))
    assert content < folder < frame
    assert (".new", True) not in seen


def test_who_waits_for_no_file_has_none_of_the_frames_synced_for_it(
    tmp_path, synced, monkeypatch
):
    monkeypatch.setattr(session, "_SYNC_SECONDS", 3600.0)
    run = init(mode="offline")
    wait_until(lambda: str(run._session.folder.parent) in synced)
    synced.clear()
    run["a"].upload(b"a")
    wait_until(lambda: run._session.files.is_done)
    assert ".frames" not in kinds_of(synced)

    run["b"].upload(b"b", wait=True)
    assert ".frames" in kinds_of(synced)


def test_the_folder_is_synced_once_for_a_set_of_files(tmp_path, synced, monkeypatch):
    # However long a busy machine takes for them.
    monkeypatch.setattr(files_module, "_REPORT_SECONDS", 3600.0)
    for number in range(50):
        (tmp_path / f"{number}.pt").write_bytes(b"%d" % number)
    run = init(mode="offline")

    run["model"].upload_files(str(tmp_path / "*.pt"), wait=True)

    assert kinds_of(synced).count(".new") == 50
    assert kinds_of(synced).count("blobs") == 1


def test_what_is_copied_of_a_set_is_said_while_others_are_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "_REPORT_SECONDS", 0.0)
    may_go_on = threading.Event()
    to_content = files_module.to_content

    def one_after_the_other(file, **more):
        if file.name == "b.pt":
            assert may_go_on.wait(60)
        return to_content(file, **more)

    monkeypatch.setattr(files_module, "to_content", one_after_the_other)
    for name in ("a.pt", "b.pt"):
        (tmp_path / name).write_bytes(name.encode())
    run = init(mode="offline")
    run["model"].upload_files(str(tmp_path / "*.pt"))

    wait_until(lambda: digest(b"a.pt").encode() in frames_of(run))
    assert digest(b"b.pt").encode() not in frames_of(run)
    may_go_on.set()
    run.finish()
    assert digest(b"b.pt").encode() in frames_of(run)


def frames_of(run):
    folder = run.settings.spool
    return b"".join(each.read_bytes() for each in folder.rglob("*.frames"))


def test_the_disk_is_not_waited_for_while_files_would_be_lost_for_it(
    tracker, synced, monkeypatch
):
    monkeypatch.setattr(files_module, "_MAX_OPEN", 4)
    may_go_on = threading.Event()
    run = init()
    taken = run._session.files
    contents = [
        Content(str(number), "", make=str(number).encode) for number in range(9)
    ]
    contents[0] = contents[0]._replace(make=lambda: may_go_on.wait(60) and b"first")
    for content in contents:
        taken.put(Job(content.name, content))
    may_go_on.set()

    wait_until(lambda: taken.is_done)
    assert kinds_of(synced).count(".new") == 3
    run.finish()
    assert len(files(tracker)) == 9


def test_the_end_waits_for_no_disk(tracker, synced):
    may_go_on = threading.Event()
    run = init()
    taken = run._session.files
    content = Content("late", "", make=lambda: may_go_on.wait(60) and b"late")
    taken.put(Job("late", content))
    ending = threading.Thread(target=run.finish)
    ending.start()
    wait_until(lambda: taken._ends_at is not None)
    may_go_on.set()
    ending.join(60)

    assert ".new" not in kinds_of(synced)
    assert list(files(tracker)) == ["late"]


def test_a_file_whose_name_cannot_be_synced_is_said_to_be_not_stored(
    tracker, monkeypatch, caplog
):
    def fail(file):
        if Path(f"/proc/self/fd/{file}").readlink().name == "blobs":
            raise OSError(errno.EIO, "Input/output error")

    run = init()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        run["a"].upload(b"a", wait=True)
    run.finish()

    assert "'a' is not stored" in caplog.text
    assert files(tracker) == {}


def test_a_folder_and_a_pattern_are_stored_file_by_file(tracker, tmp_path):
    for name in ("a.pt", "b.pt", "c.txt", "sub/d.pt", "sub/deeper/e.pt"):
        path = tmp_path / "checkpoints" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    with init() as run:
        run["all"].upload_files(tmp_path / "checkpoints")
        run["some"].upload_files(str(tmp_path / "checkpoints/*.pt"))
        run["deep"].upload_files(str(tmp_path / "checkpoints/**/*.pt"))

    assert {path for path in files(tracker) if path.startswith("all/")} == {
        *("all/a.pt", "all/b.pt", "all/c.txt", "all/sub/d.pt", "all/sub/deeper/e.pt")
    }
    assert {path for path in files(tracker) if path.startswith("some/")} == {
        *("some/a.pt", "some/b.pt")
    }
    assert "deep/sub/deeper/e.pt" in files(tracker)
    assert stored(tracker, "all/sub/d.pt") == b"sub/d.pt"


def test_a_relative_pattern_is_named_below_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.bin").write_bytes(b"")

    assert [name for name, _ in matching("*.bin")] == ["x.bin"]


@pytest.mark.parametrize("pattern", ["checkpoints/*.pt", "checkpoints", "*/a.pt/"])
def test_a_relative_pattern_is_meant_where_the_script_was_when_it_said_so(
    tracker, tmp_path, monkeypatch, pattern
):
    for place in ("run [1]", "elsewhere"):
        path = tmp_path / place / "checkpoints" / "a.pt"
        path.parent.mkdir(parents=True)
        path.write_bytes(place.encode())
    monkeypatch.chdir(tmp_path / "run [1]")
    run = init()
    looked = threading.Event()
    monkeypatch.setattr(
        files_module,
        "matching",
        lambda *said, **more: looked.wait() and matching(*said, **more),
    )

    run["model"].upload_files(pattern)
    os.chdir(tmp_path / "elsewhere")
    looked.set()
    run.finish()

    if pattern.endswith("/"):
        assert files(tracker) == {}
    else:
        assert stored(tracker, "model/a.pt") == b"run [1]"


def test_a_relative_pattern_where_the_working_directory_is_gone_is_refused(
    tracker, tmp_path, monkeypatch, caplog
):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with init() as run:
        run["model"].upload_files("*.pt")

    assert "is not a path of files" in caplog.text


def test_the_same_content_travels_once(tracker, large):
    with init() as run:
        run["a"].upload(large)
        run["b"].upload(large)

    bodies = [body for path, _, body in tracker.requests if "/blobs/" in path]
    assert sum(map(len, bodies)) == len(LARGE)
    assert stored(tracker, "a") == stored(tracker, "b") == LARGE


def test_a_path_holds_a_file_or_something_else(tracker, large, caplog):
    with init() as run:
        run["x"].append(1.0)
        run["x"].upload(large)
        run["y"].upload(large)
        run["y"] = 1

    assert set(files(tracker)) == {"y"}
    assert "already contains a series of numbers" in caplog.text
    assert "already contains a file" in caplog.text


def test_what_is_no_file_is_said_and_raised_only_if_strict(tracker, caplog):
    with init() as run:
        run["x"].upload("/no/such/file")
    assert "is not a readable file" in caplog.text

    with init("s", strict=True) as run, pytest.raises(agent.UnsupportedValue):
        run["x"].upload("/no/such/file")


@pytest.mark.parametrize("status", [500, 503, 429, 422, 409])
def test_a_part_that_is_refused_once_is_sent_again(tracker, large, status):
    error = json.dumps({"error": {"code": "x", "expected": 0}}).encode()
    scripted = Scripted(status, error, {"Retry-After": "0"})
    tracker.part_script.extend([Scripted(200, b'{"received": 0}'), scripted])
    with init() as run:
        run["model/best"].upload(large)
        wait_until(lambda: tracker.stored)

    assert stored(tracker, "model/best") == LARGE


def test_a_lost_answer_sends_no_byte_twice(tracker, large):
    tracker.part_script.extend(
        [Scripted(200, b'{"received": 0}'), Scripted(200, cuts=True)]
    )
    with init() as run:
        run["model/best"].upload(large)
        wait_until(lambda: tracker.stored)

    assert stored(tracker, "model/best") == LARGE


@pytest.mark.parametrize("status", [401, 404, 507])
def test_points_go_on_while_files_are_held(tracker, large, status, caplog):
    tracker.part_script.extend([Scripted(status, b"{}")] * 100)
    with init() as run:
        run["model/best"].upload(large, wait=True)
        wait_until(lambda: "does not accept files" in caplog.text)
        run["loss"].append(1.0)
        wait_until(lambda: tracker.values("loss"))

    assert caplog.text.count("does not accept files") == 1


def test_a_file_beyond_the_servers_limit_is_said_once_and_let_go(
    tracker, large, caplog, spool_root
):
    error = b'{"error": {"code": "too_large", "message": "at most 10 bytes"}}'
    tracker.part_script.extend([Scripted(413, error)] * 2)
    with init() as run:
        run["a"].upload(large)
        run["b"].upload(b"other")

    assert caplog.text.count("at most 10 bytes") == 1
    assert not [*spool_root.glob("*/blobs/*")]


def test_offline_files_stay_in_the_spool_until_they_are_synced(
    tracker, large, spool_root, capsys
):
    with init(mode="offline") as run:
        run["model/best"].upload(large)
    assert not tracker.requests
    assert [path.name for path in spool_root.glob("*/blobs/*")] == [digest(LARGE)]

    assert main(["sync"]) == 0

    assert stored(tracker, "model/best") == LARGE
    assert not [*spool_root.glob("*/blobs/*")]


KILLED = """
import os, signal, agent
run = agent.init("r", monitor=False)
run["model/best"].upload("best.pt", wait=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_waited_for_survives_kill(tracker, large, run_script, monkeypatch):
    tracker.part_script.extend([Scripted(503, b"{}", {"Retry-After": "60"})] * 3)
    run_script(KILLED)
    tracker.part_script.clear()

    assert main(["sync"]) == 0

    assert stored(tracker, "model/best") == LARGE


def test_files_that_cannot_be_listed_at_the_end_are_left_to_others(
    tracker, large, spool_root, monkeypatch
):
    tracker.part_script.extend([Scripted(503, b"{}", {"Retry-After": "60"})] * 3)
    run = init()
    run["model/best"].upload(large, wait=True)
    disk = FailingDisk(spool_root, errno.EIO, fails_reading=True)
    monkeypatch.setattr(blobs, "os", disk)
    disk.is_broken = True
    run.finish(timeout=1)

    disk.is_broken = False
    tracker.part_script.clear()
    assert main(["sync"]) == 0
    assert stored(tracker, "model/best") == LARGE


def test_a_half_copied_file_is_never_delivered(tracker, spool_root):
    with init(mode="offline") as run:
        run["loss"].append(1.0)
        wait_until(lambda: [*spool_root.glob("*/spool.json")])
        [folder] = spool_root.glob("*")
    (folder / "blobs").mkdir(exist_ok=True)
    (folder / "blobs" / ".abc.new").write_bytes(b"half")
    (folder / "blobs" / "notes").write_bytes(b"foreign")

    assert main(["sync"]) == 0
    assert not tracker.stored


def test_a_content_that_is_damaged_in_the_spool_is_let_go(
    tracker, large, spool_root, caplog
):
    with init(mode="offline") as run:
        run["model/best"].upload(large)
    [blob] = spool_root.glob("*/blobs/*")
    blob.write_bytes(b"x" * len(LARGE))

    assert main(["sync"]) == 0
    assert not tracker.stored
    assert "damaged and lost" in caplog.text


def test_a_full_disk_is_said_and_the_training_goes_on(
    tracker, large, monkeypatch, caplog
):
    monkeypatch.setattr(blobs, "_MIN_FREE_BYTES", 2**62)
    with init() as run:
        run["a"].upload(large)
        run["b"].upload(large)
        run["loss"].append(1.0)

    assert not files(tracker)
    assert tracker.values("loss") == [1.0]
    assert caplog.text.count("is not stored") == 1


def test_pictures_that_cannot_be_copied_count_as_dropped(tracker, monkeypatch):
    monkeypatch.setattr(blobs, "_MIN_FREE_BYTES", 2**62)
    with init() as run:
        for _ in range(3):
            run["samples"].append(agent.Image(np.zeros((4, 4))))

    assert sum(m["points"] for m in tracker.of_kind("drop")) == 3


def test_no_more_waits_than_may(tracker, large, monkeypatch, caplog):
    monkeypatch.setenv("SEAMARK_SPOOL_GIB", "0")
    with init() as run:
        run["a"].upload(large)

    assert not files(tracker)
    assert "too many" in caplog.text


def test_a_call_takes_no_longer_than_opening_a_file(tracker, tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(8 * 2**30)
    with init() as run:
        run["warm"].upload(b"x", wait=True)
        started = time.perf_counter()
        run["model/best"].upload(path)
        took = time.perf_counter() - started
        path.unlink()
        run._session.files._jobs.clear()
        run.finish(timeout=0)

    # Copying 8 GiB takes longer than this anywhere.
    assert took < 3


def test_a_run_that_is_disabled_or_finished_stores_nothing(tracker, large):
    run = init(mode="disabled")
    run["a"].upload(large, wait=True)
    run["a"].upload_files("*.pt", wait=True)
    run.finish()

    assert not tracker.requests


def test_pictures_of_a_series_are_records_that_name_their_contents(tracker, caplog):
    with init() as run:
        for step in (3, 7):
            pixels = np.full((2, 2), step, np.uint8)
            run["samples"].append(agent.Image(pixels), step=step)
        run["samples"].append(agent.Image(np.full((2, 2), 9, np.uint8)))
        run["samples"].append(1.0)
        run["samples"].append(agent.Image(b"no picture", name="notes.txt"))

    [*records] = tracker.of_kind("records")
    steps = [step for m in records for step in doubles(m["steps"])]
    values = b"".join(m["values"] for m in records)
    size = 32 + 8 + len("image/png")
    digests = [values[at : at + 32].hex() for at in range(0, len(values), size)]
    assert {(m["kind"], m["path"]) for m in records} == {("image", "samples")}
    assert steps == [3, 7, 8]
    assert all(tracker.stored[digest].startswith(b"\x89PNG") for digest in digests)
    assert "already contains a series of images" in caplog.text
    assert "is not an image" in caplog.text


def test_log_takes_what_append_takes(tracker):
    with init() as run:
        pixels = np.zeros((2, 2), np.uint8)
        run.log({"loss": 0.5, "samples": agent.Image(pixels), "said": "x"}, step=4)
        run["samples"].extend([agent.Image(pixels)], steps=[5])

    records = [
        (m["path"], s) for m in tracker.of_kind("records") for s in doubles(m["steps"])
    ]
    assert sorted(records) == [("said", 4), ("samples", 4), ("samples", 5)]
    assert tracker.steps("loss") == [4]


def test_what_can_only_be_a_picture_needs_no_name_for_it(tracker):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    picture = pytest.importorskip("PIL.Image").new("RGB", (2, 2))
    axes = figure.add_subplot()
    with init(strict=True) as run:
        run["figures"].append(figure, step=1)
        run.log({"loss": 0.5, "figures": axes}, step=2)
        run["figures"].extend([picture, figure], steps=[3, 4])

    [*records] = tracker.of_kind("records")
    steps = [step for m in records for step in doubles(m["steps"])]
    assert {(m["kind"], m["path"]) for m in records} == {("image", "figures")}
    assert steps == [1, 2, 3, 4]
    assert tracker.steps("loss") == [2]
    assert all(data.startswith(b"\x89PNG") for data in tracker.stored.values())


def test_a_figure_that_is_no_picture_is_refused_and_leaves_its_path(tracker, caplog):
    figure = pytest.importorskip("plotly.graph_objects").Figure()
    with init() as run:
        run["a"].append(figure)
        run["b"].append(agent.Image(figure))
        for path in "ab":
            run[path].upload(figure)

    assert {m["path"] for m in tracker.of_kind("file")} == {"a", "b"}
    assert [r.getMessage()[-10:] for r in caplog.records] == ["upload it."] * 2


def test_a_number_that_could_be_a_picture_is_a_number(tracker):
    with init() as run:
        run["x"].append(MagicMock(__float__=lambda _: 2.0), step=1)

    assert tracker.steps("x") == [1]


def test_a_copy_that_takes_too_long_does_not_hold_up_the_end(
    tracker, tmp_path, caplog, monkeypatch
):
    path = tmp_path / "large"
    path.write_bytes(bytes(4 * 2**20))
    # As of a disk that takes a second for a MiB.
    monkeypatch.setattr(blobs, "_clone", lambda *_: False)
    write = blobs._write_all
    monkeypatch.setattr(
        blobs,
        "_write_all",
        lambda file, data: (time.sleep(len(data) / 2**20), write(file, data)),
    )
    run = init()
    run["model/best"].upload(path)
    run["report"].upload(b"# Done", name="report.md")
    run["samples"].append(agent.Image(np.zeros((2, 2), np.uint8)))
    run.finish(timeout=4)

    assert stored(tracker, "report") == b"# Done"
    assert len(tracker.of_kind("records")) == 1
    assert "model/best" not in files(tracker)
    assert "including 'model/best'; upload them again" in caplog.text
    assert tracker.of_kind("close")


def test_files_that_are_logged_while_the_run_starts_are_stored(tracker, monkeypatch):
    starting, may_go_on = threading.Event(), threading.Event()
    open_session = opening.open_session

    def slowly(*given):
        starting.set()
        may_go_on.wait(60)
        return open_session(*given)

    with init("settings") as other:
        run = Run(other.settings._replace(run="r"))
    monkeypatch.setattr(opening, "open_session", slowly)
    thread = threading.Thread(target=run.start)
    thread.start()
    assert starting.wait(60)
    began = time.monotonic()
    run["early"].upload(b"x")
    took = time.monotonic() - began
    may_go_on.set()
    thread.join()
    run.finish()

    assert stored(tracker, "early") == b"x"
    # It used to wait for a second for the other thread.
    assert took < 0.9


def test_files_of_a_run_that_cannot_start_are_told_of(caplog):
    jobs = FileJobs(Notices(), count_lost=lambda: None)
    content = to_content(b"x", fallback="a", name=None, media_type=None)
    for number in range(100):
        jobs.put(Job(f"a/{number}", content))
    assert caplog.text.count("is not stored") == 1
    caplog.clear()
    jobs = FileJobs(Notices(), count_lost=lambda: None)
    jobs.put(Job("a", content))
    jobs.end()
    assert "'a' is not stored" in caplog.text


def test_what_comes_while_others_are_handed_over_comes_behind_them():
    jobs, taken = FileJobs(Notices(), count_lost=lambda: None), []

    class Files:
        def put(self, job):
            taken.append(job.path)
            if job.path == "first":
                # As by another thread, just then.
                jobs.put(Job("last", None))

    jobs.put(Job("first", None))
    jobs.put(Job("second", None))
    jobs.begin(Files())

    assert taken == ["first", "second", "last"]
