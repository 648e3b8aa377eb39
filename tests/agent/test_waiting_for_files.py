"""Calls that wait for a file's copy: duration, and the error on timeout."""

from __future__ import annotations

import errno
import threading
import time

import pytest

import agent
from seamark.queue import blobs
from seamark.recording import file_jobs, files
from seamark.recording.file_contents import Content, Job
from seamark.recording.file_jobs import FileJobs
from seamark.recording.file_patterns import matching
from seamark.user_warnings import Notices


@pytest.fixture
def run(tracker):
    return agent.init("r", monitor=False)


def put(run, path, make):
    """Store an object with the test's encoder."""
    job = Job(path, Content(path, "", make=make))
    run._session.files.put(job)


def stored(tracker):
    return {m["path"] for m in tracker.of_kind("file")}


def test_who_is_not_waited_for_any_longer_is_told_once(
    run, tracker, monkeypatch, caplog
):
    monkeypatch.setattr(files, "_STALLED_SECONDS", 0.3)
    may_go_on = threading.Event()
    put(run, "slow", lambda: b"x" if may_go_on.wait(60) else b"")
    run["first"].upload(b"1", wait=True)
    run["second"].upload(b"2", wait=True)
    may_go_on.set()
    run.finish()

    assert "stopped waiting for 'first', which is not copied yet" in caplog.text
    assert caplog.text.count("stopped waiting for") == 1
    assert stored(tracker) == {"slow", "first", "second"}


def test_who_waits_until_all_is_copied_is_told_nothing(run, tmp_path, caplog):
    (tmp_path / "x").write_bytes(b"x")
    run["set"].upload_files(str(tmp_path / "*"), wait=True)
    run["file"].upload(tmp_path / "x", wait=True)

    assert "waited for" not in caplog.text


def test_who_waits_learns_whether_it_is_stored(run, tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"x")
    assert run["file"].upload(tmp_path / "x", wait=True)
    assert run["set"].upload_files(tmp_path, wait=True)
    assert not run["set"].upload_files(tmp_path / "none*", wait=True)
    assert not run["file"].upload(tmp_path / "none", wait=True)
    monkeypatch.setattr(blobs, "_MIN_FREE_BYTES", 2**62)

    assert not run["file"].upload(tmp_path / "x", wait=True)
    assert not run["set"].upload_files(tmp_path, wait=True)


def test_what_is_in_no_spool_is_not_said_to_be_stored(run, monkeypatch):
    monkeypatch.setattr(run._session._writer._spool, "write", _refuse)

    assert not run["file"].upload(b"x", wait=True)


def _refuse(payload):
    raise OSError(errno.EIO, "no")


def test_each_who_waits_in_vain_is_told(run, monkeypatch, caplog):
    monkeypatch.setattr(blobs, "_MIN_FREE_BYTES", 2**62)
    for name in "ab":
        run[name].upload(b"x", wait=True)

    assert caplog.text.count("is not stored") == 2


def test_a_strict_run_raises_for_who_waits_in_vain(tracker, tmp_path, monkeypatch):
    monkeypatch.setattr(blobs, "_MIN_FREE_BYTES", 2**62)
    run = agent.init("r", monitor=False, strict=True)
    with pytest.raises(agent.NotStored, match=r"'a' is not stored.*nearly full"):
        run["a"].upload(b"x", wait=True)
    with pytest.raises(agent.NotStored, match="matches no file"):
        run["set"].upload_files(tmp_path / "none*", wait=True)

    assert run["later"].upload(b"x")


def test_a_set_is_waited_for_while_its_files_are_found(
    run, tracker, tmp_path, monkeypatch, caplog
):
    def slowly(pattern, below, *, progress):
        for _ in range(8):
            time.sleep(0.2)
            progress()
        yield from matching(pattern, below, progress=progress)

    (tmp_path / "x").write_bytes(b"x")
    monkeypatch.setattr(files, "_STALLED_SECONDS", 1.0)
    monkeypatch.setattr(files, "matching", slowly)
    run["set"].upload_files(str(tmp_path / "*"), wait=True)
    assert "waited for" not in caplog.text
    run.finish()

    assert "set/x" in stored(tracker)


def test_each_name_that_is_found_is_progress_before_the_first_is_opened(tmp_path):
    for name in "abc":
        (tmp_path / name).write_bytes(b"")
    noted = []
    found = matching(str(tmp_path / "*"), progress=lambda: noted.append(None))

    assert next(found)[0] == "a"
    assert len(noted) > 3


def test_each_picture_that_is_encoded_is_progress(run):
    copying, moved = run._session.files, []
    for number in range(3):
        put(run, f"x/{number}", lambda: moved.append(copying._moved_at) or b"x")
    run.finish()

    assert len({*moved}) == 3


def test_who_waits_for_a_run_that_does_not_start_is_told(monkeypatch, caplog):
    monkeypatch.setattr(file_jobs, "_START_SECONDS", 0.1)
    jobs = FileJobs(Notices(), count_lost=lambda: None)
    jobs.put(Job("a", Content("a", "", make=lambda: b"x"), is_awaited=True))

    assert "stopped waiting for 'a', which is not copied yet" in caplog.text
