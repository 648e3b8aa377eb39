import struct
import tracemalloc
from contextlib import suppress

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import (
    START,
    close_message,
    frame,
    frames,
    open_message,
    points_message,
    set_message,
)
from tracker.errors import MalformedBatch, TooLarge
from tracker.ingest.arrays import claimed_length
from tracker.ingest.batch import read_batch
from tracker.ingest.limits import LIMITS


def codes(batch):
    return [refusal.code for refusal in batch.refusals]


def test_an_empty_body_is_a_heartbeat():
    assert read_batch(b"").is_heartbeat


def test_reads_the_opening_and_what_follows():
    batch = read_batch(frames([[open_message("baseline")], [set_message("lr", 0.1)]]))

    assert batch.opening is not None
    assert batch.opening.run == "baseline"
    assert [message.frame for message in batch.messages] == [1, 2]
    assert batch.refusals == ()


def test_one_bad_message_in_a_thousand_is_refused_alone():
    messages = [set_message(f"params/{number}", number) for number in range(1_000)]
    messages[499] = {"t": "set", "path": "", "value": 1}

    batch = read_batch(frames([messages], first=2))

    assert len(batch.messages) == 999
    [refusal] = batch.refusals
    assert (refusal.frame, refusal.index, refusal.code) == (2, 499, "invalid_path")


@pytest.mark.parametrize(
    "payloads",
    [
        pytest.param([[]], id="nothing"),
        pytest.param([[set_message("x", 1)]], id="another message"),
        pytest.param([[open_message(), set_message("x", 1)]], id="more"),
        pytest.param([[open_message(), {"t": "?"}]], id="and a refused one"),
        pytest.param([[open_message(run="")]], id="not valid"),
    ],
)
def test_frame_1_holds_the_opening_and_nothing_else(payloads):
    with pytest.raises(MalformedBatch):
        read_batch(frames(payloads))


def test_a_late_opening_is_refused():
    batch = read_batch(frames([[open_message(), set_message("x", 1)]], first=2))

    assert codes(batch) == ["invalid_message"]
    assert len(batch.messages) == 1


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xc1", id="no MessagePack"),
        pytest.param(msgspec.msgpack.encode({"t": "drop"}), id="no array"),
        pytest.param(msgspec.msgpack.encode([1]) + b"\0", id="more behind it"),
    ],
)
def test_a_payload_that_was_made_wrong_counts_as_received(payload):
    # Its checksum is correct, so a retry would not help.
    batch = read_batch(frames([payload, [set_message("x", 1)]], first=2))

    assert codes(batch) == ["invalid_message"]
    assert batch.last == 3
    assert len(batch.messages) == 1


@pytest.mark.parametrize(
    ("steps", "times"),
    [
        pytest.param([0.0, np.nan], None, id="step NaN"),
        pytest.param([0.0, np.inf], None, id="step infinite"),
        pytest.param([0.0, 2.0**54], None, id="step too large"),
        pytest.param(None, [START, -1], id="time before 1970"),
        pytest.param(None, [START, 2**62], id="time after 9999"),
    ],
)
def test_points_that_cannot_be_ordered_are_dropped_and_the_rest_kept(steps, times):
    message = points_message("loss", [1.0, 2.0], steps=steps, times=times)

    batch = read_batch(frames([[message, points_message("other", [3.0])]], first=2))

    assert codes(batch) == ["invalid_points"]
    assert "1 of 2 points" in batch.refusals[0].message
    assert [message.content.count for message in batch.messages] == [1, 1]
    assert batch.messages[0].content.values == struct.pack("<d", 1.0)


def test_negative_and_fractional_steps_are_steps():
    message = points_message("loss", [1.0, 2.0], steps=[-1.0, 0.25])

    assert read_batch(frames([[message]], first=2)).refusals == ()


def test_too_many_points_are_too_large():
    message = points_message("loss", np.zeros(LIMITS.points // 8 + 1))
    body = frames([[message]] * 8, first=2)

    with pytest.raises(TooLarge):
        read_batch(body)


def test_too_many_messages_are_too_large_before_they_are_read():
    payload = b"\xdd" + struct.pack(">I", 4_000_000) + b"\xc0" * 4_000_000
    body = frame(payload, 2)

    tracemalloc.start()
    with pytest.raises(TooLarge):
        read_batch(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 1_000_000


@given(st.lists(st.binary(max_size=100), max_size=4), st.integers(1, 3))
def test_any_payloads_are_read_or_refused(payloads, first):
    try:
        batch = read_batch(frames(payloads, first=first))
    except MalformedBatch:
        assert first == 1
    except TooLarge:
        claimed = sum(claimed_length(memoryview(payload)) for payload in payloads)
        assert claimed > LIMITS.messages
    else:
        assert len(batch.refusals) <= sum(len(payload) + 1 for payload in payloads)


@given(st.binary(max_size=300))
def test_any_body_is_read_or_refused(body):
    with suppress(MalformedBatch):
        read_batch(body)


def test_a_close_is_a_message_like_others():
    batch = read_batch(frames([[close_message("finished", time=START)]], first=5))

    assert batch.messages[0].content.state == "finished"


def test_a_bad_path_is_refused_alone_and_the_others_keep_their_columns():
    message = points_message("a", [0.0, 1.0])
    columns = np.array([[0, 1], [10, 11], [20, 21], [30, 31]], "<f8")
    message = {**message, "paths": ["a", "", "b/", "/a"], "values": columns.tobytes()}

    batch = read_batch(frames([[message]], first=2))

    [kept] = [m.content for m in batch.messages]
    assert kept.paths == ("a", "b")
    assert kept.rows().tolist() == [[0, 1], [20, 21]]
    assert [(r.code, r.path) for r in batch.refusals] == [
        ("invalid_path", ""),
        ("invalid_path", "/a"),
    ]


def test_points_that_cannot_be_stored_leave_all_columns():
    message = points_message("a", [0.0, 1.0, 2.0], steps=[0, np.nan, 2])
    columns = np.array([[0, 1, 2], [10, 11, 12]], "<f8")
    message = {**message, "paths": ["a", "b"], "values": columns.tobytes()}

    batch = read_batch(frames([[message]], first=2))

    [kept] = [m.content for m in batch.messages]
    assert kept.rows().tolist() == [[0, 2], [10, 12]]
    assert batch.refusals[0].message.startswith("2 of 6 points")


@pytest.mark.parametrize(
    "fields",
    [
        {"paths": []},
        {"paths": ["a", "b"]},
        {"paths": "a"},
        {"paths": ["a", 1]},
        {"paths": [""] * 2_000},
        {"steps": b"1234567"},
        {"values": b""},
    ],
    ids=str,
)
def test_a_message_whose_columns_do_not_fit_is_refused_as_a_whole(fields):
    batch = read_batch(frames([[{**points_message("a", [1.0]), **fields}]], first=2))

    assert batch.messages == ()
    assert len(batch.refusals) == 1
