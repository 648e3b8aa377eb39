"""Messages with records, and which of them are refused."""

import struct

import msgspec
import numpy as np
import pytest

from tests.builders import START, records_message
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import read_message
from tracker.ingest.records import AddRecords
from tracker.ingest.refusal import Unacceptable


def read(message):
    content = read_message(msgspec.msgpack.encode(message))
    assert isinstance(content, AddRecords)
    return content


def codes(content):
    return [code for code, _ in content.reasons]


def even(low, high, *counts, others=0.0):
    return struct.pack(f"<Bd{2 + len(counts)}d", 1, others, low, high, *counts)


def test_texts_come_as_they_were_sent():
    content = read(records_message("/logs/stdout/", ["a", "", "größe 😀\0"]))

    assert (content.kind, content.path) == ("text", "logs/stdout")
    assert [v.decode() for v in content.records.listed()] == ["a", "", "größe 😀\0"]
    assert content.records.steps.tolist() == [0, 1, 2]
    assert content.records.times.tolist()[0] == START
    assert codes(content) == []


def test_records_that_cannot_be_stored_leave_the_others():
    long = "é" * (LIMITS.record_characters + 1)
    most = "é" * LIMITS.record_characters
    message = records_message(
        "a",
        [b"good", b"\xff", "bad step", long, most, b"half \xc3", b"\xa9 half", "last"],
        steps=[0, 1, np.nan, 3, 4, 5, 6, 7],
    )

    content = read(message)

    kept = [value.decode() for value in content.records.listed()]
    assert kept == ["good", most, "last"]
    assert content.records.steps.tolist() == [0, 4, 7]
    assert codes(content) == ["invalid_points", "value_too_large", "invalid_message"]
    assert content.reasons[0][1].startswith("1 of 8 records have a step")
    assert content.reasons[2][1] == "3 of 6 records are not UTF-8."


def test_halves_of_a_character_do_not_make_one_together():
    content = read(records_message("a", [b"\xc3", b"\xa9"]))

    assert len(content.records) == 0
    assert codes(content) == ["invalid_message"]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\0" * 8,
        even(0, 1, 1, -1),
        even(0, 1, 1, np.nan),
        even(0, np.inf, 1),
        even(1, 1, 1),
        even(-1.7e308, 1.7e308, 1),
        even(0, 1, others=-1.0),
        even(0, 1, *[1] * (LIMITS.histogram_bins + 1)),
        b"\2" + even(0, 1, 1)[1:],
        struct.pack("<Bdd", 0, 0.0, 1.0),
        struct.pack("<Bd3d", 0, 0.0, 1.0, 0.0, 5.0),
    ],
    ids=range(12),
)
def test_only_invalid_histograms_of_a_message_are_refused(value):
    message = records_message("h", [even(0, 1, 3), value], kind="histogram")

    content = read(message)

    assert content.records.listed() == [even(0, 1, 3)]
    assert codes(content) == ["invalid_message"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"kind": "film"}, "unknown_message"),
        ({"path": "//"}, "invalid_path"),
        ({"steps": b"\0" * 7}, "invalid_message"),
        ({"steps": b"\0" * 24}, "invalid_message"),
        ({"times": b""}, "invalid_message"),
        ({"sizes": b"\0" * 7}, "invalid_message"),
        ({"sizes": b"\xff" * 8}, "invalid_message"),
        ({"values": b""}, "invalid_message"),
        ({"values": "text"}, "invalid_message"),
        ({"kind": None}, "invalid_message"),
    ],
    ids=str,
)
def test_a_message_that_cannot_be_read_is_refused(changes, code):
    message = {**records_message("a", ["one", "two"]), **changes}

    with pytest.raises(Unacceptable) as refusal:
        read_message(msgspec.msgpack.encode(message))

    assert refusal.value.code == code
