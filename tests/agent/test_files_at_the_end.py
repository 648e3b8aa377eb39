"""Pending files at the end of a run: those in memory first, last version wins."""

from __future__ import annotations

import threading

import pytest

import agent
from seamark.queue import blobs
from seamark.recording.file_contents import Content, Job
from seamark.upload import files as uploads
from tests.agent.conftest import wait_until
from tests.agent.tracker_double import Scripted


def stored(tracker, path):
    digests = {m["path"]: m["digest"] for m in tracker.of_kind("file")}
    return tracker.stored[digests[path]]


@pytest.fixture
def run(tracker):
    return agent.init("r", monitor=False)


@pytest.fixture
def copied(monkeypatch):
    """Return the contents written to the spool, in order."""
    written = []
    write = blobs._write_all
    monkeypatch.setattr(blobs, "_clone", lambda *_: False)
    monkeypatch.setattr(
        blobs,
        "_write_all",
        lambda file, data: (written.append(data), write(file, data)),
    )
    return written


def hold_until_the_end(run):
    """Block the copying thread until the run ends."""
    files = run._session.files

    def make():
        wait_until(lambda: files._ends_at is not None)
        return b"held"

    files.put(Job("held", Content("held", "", make=make)))


def hold_copy_until_the_end(run, monkeypatch, content):
    """Block a copy until the run ends; return an event set at its start."""
    files, write, begun = run._session.files, blobs._write_all, threading.Event()

    def slowly(file, data):
        if data == content:
            begun.set()
            wait_until(lambda: files._ends_at is not None)
        write(file, data)

    monkeypatch.setattr(blobs, "_write_all", slowly)
    return begun


def make_files(folder, *names):
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(name.encode())
    return [folder / name for name in names]


def test_what_is_in_memory_takes_the_place_of_a_file_that_waits(
    run, tracker, tmp_path, copied
):
    [draft] = make_files(tmp_path, "draft.md")
    hold_until_the_end(run)
    run["report"].upload(draft)
    run["report"].upload(b"final", name="report.md")
    run.finish()

    assert stored(tracker, "report") == b"final"
    # The other version would never be visible.
    assert copied == [b"held", b"final"]


def test_a_file_takes_the_place_of_what_was_in_memory_before(run, tracker, tmp_path):
    [final] = make_files(tmp_path, "final.md")
    hold_until_the_end(run)
    run["report"].upload(b"draft", name="report.md")
    run["report"].upload(final)
    run.finish()

    assert stored(tracker, "report") == b"final.md"


def test_a_copy_that_is_interrupted_does_not_take_the_place_of_a_later_one(
    run, tracker, tmp_path, copied, monkeypatch
):
    old, new = make_files(tmp_path, "old", "new")
    begun = hold_copy_until_the_end(run, monkeypatch, b"old")
    run["best"].upload(old)
    assert begun.wait(60)
    run["best"].upload(new)
    run["report"].upload(b"# Done", name="report.md")
    run.finish()

    assert stored(tracker, "best") == b"new"
    assert stored(tracker, "report") == b"# Done"
    assert copied == [b"old", b"# Done", b"old", b"new"]


def test_a_set_does_not_take_the_place_of_what_came_later(run, tracker, tmp_path):
    make_files(tmp_path / "set", "a", "b")
    hold_until_the_end(run)
    run["set"].upload_files(tmp_path / "set")
    run["set/b"].upload(b"final")
    run.finish()

    assert stored(tracker, "set/a") == b"a"
    assert stored(tracker, "set/b") == b"final"


def test_a_set_that_is_interrupted_goes_on_where_it_was(
    run, tracker, tmp_path, copied, monkeypatch
):
    make_files(tmp_path / "set", "a", "b", "c")
    begun = hold_copy_until_the_end(run, monkeypatch, b"b")
    run["set"].upload_files(tmp_path / "set")
    assert begun.wait(60)
    run["report"].upload(b"# Done", name="report.md")
    run.finish()

    assert copied == [b"a", b"b", b"# Done", b"b", b"c"]
    assert stored(tracker, "set/c") == b"c"


def test_what_waits_for_its_next_try_is_tried_at_the_end(run, tracker, monkeypatch):
    # As after minutes without a server that is back since.
    monkeypatch.setattr(uploads, "longer_wait", lambda _: 3600.0)
    tracker.part_script.append(Scripted(502))
    run["report"].upload(b"final", wait=True)
    wait_until(lambda: not tracker.part_script)

    run.finish(timeout=20)

    assert stored(tracker, "report") == b"final"
