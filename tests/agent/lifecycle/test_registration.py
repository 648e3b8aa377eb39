from __future__ import annotations

import json

import pytest

import agent
from seamark.lifecycle.registration import read_renewal, renewed, store_renewal
from seamark.queue.spool import create_spool
from seamark.queue.spool_reader import SpoolReader
from tests.agent.conftest import wait_until
from tests.agent.queue.test_spool import EVERYTHING, ORIGIN
from tests.agent.tracker_double import Scripted

DIFFERS = json.dumps(
    {"error": {"code": "frame_differs", "message": "", "first": 3, "stored": [4]}}
).encode()


@pytest.fixture
def folder(tmp_path):
    opened = create_spool(tmp_path / "spools", ORIGIN, url=None)
    for number in range(2, 7):
        opened.write(bytes([0x91, number]))
    yield opened.folder
    opened.close()


def payloads(reader, first=1):
    frames = reader.frames_from(first, most_bytes=EVERYTHING)
    assert [f.number for f in frames] == [*range(first, first + len(frames))]
    return [frame.payload for frame in frames]


def test_a_renewed_spool_begins_with_the_first_frame_that_is_not_stored(folder):
    reader = SpoolReader(folder)
    reader.acknowledge(2)

    assert reader.renew(3, [4])

    assert reader.sent_as != reader.id == folder.name
    assert reader.acknowledged == 0
    _, *others = payloads(reader)
    assert others == [b"\x91\x03", b"\x90", b"\x91\x05", b"\x91\x06"]
    assert payloads(reader, 4) == others[2:]


def test_whoever_reads_it_next_knows_of_it(folder):
    reader = SpoolReader(folder)
    reader.renew(3, [4])
    reader.acknowledge(3)

    again = SpoolReader(folder)

    assert (again.sent_as, again.acknowledged) == (reader.sent_as, 3)
    assert again.delivered == 4
    assert payloads(again, 4) == [b"\x91\x05", b"\x91\x06"]


def test_what_was_left_out_once_is_left_out_of_the_next_one_too(folder):
    reader = SpoolReader(folder)
    reader.renew(3, [5])
    reader.acknowledge(2)
    assert reader.renew(3, [])

    _, *others = payloads(reader)
    assert others == [b"\x91\x04", b"\x90", b"\x91\x06"]


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "../../etc"},
        {"id": 5},
        {"first": "none"},
        {"first": 1},
        {"stored": None},
        {"stored": [[]]},
        {"origin": {}},
        {"origin": {**vars(ORIGIN), "run": "\ud800"}},
        {"origin": {**vars(ORIGIN), "time": 2**70}},
        {"origin": {**vars(ORIGIN), "more": 1}},
    ],
    ids=json.dumps,
)
def test_a_file_that_says_nothing_that_can_be_is_passed_over(folder, changes):
    assert store_renewal(folder, renewed(None, ORIGIN, 3, []))
    path = folder / "renewal.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    assert read_renewal(folder) is None
    assert SpoolReader(folder).sent_as == folder.name


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_any_bytes_are_passed_over(folder, content):
    (folder / "renewal.json").write_bytes(content)

    assert read_renewal(folder) is None


def test_a_run_whose_frames_differ_goes_on_and_ends_as_ever(
    tracker, spool_root, caplog
):
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: tracker.values("a") == [1.0])
    tracker.script.append(Scripted(422, DIFFERS))

    run["a"].append(2.0)
    run["a"].append(3.0)
    wait_until(lambda: tracker.values("a") == [1.0, 2.0, 3.0])
    run.finish()

    first, second = tracker.of_kind("open")
    assert second["time"] > first["time"]
    assert second == {**first, "time": second["time"], "began": first["time"]}
    assert tracker.states() == ["finished"]
    assert len(tracker.frames) == 2
    assert list(spool_root.glob("*-*")) == []
    messages = [record.getMessage() for record in caplog.records]
    assert [line.startswith("the server has different data") for line in messages] == [
        True
    ]
