from contextlib import suppress
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import open_message, points_message, set_message
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import (
    LATEST_TIME,
    ChangeTags,
    Close,
    Drop,
    Open,
    SetValue,
    Unacceptable,
    read_message,
)

encode = msgspec.msgpack.encode


def code_of(message):
    with pytest.raises(Unacceptable) as refusal:
        read_message(encode(message) if not isinstance(message, bytes) else message)
    return refusal.value.code


def test_reads_the_opening():
    opening = read_message(encode(open_message("baseline", rank=3, workspace="home")))

    assert isinstance(opening, Open)
    assert (opening.run, opening.rank, opening.workspace) == ("baseline", 3, "home")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"t": "drop", "points": 5}, Drop(5)),
        ({"t": "tags", "add": ["a"], "remove": []}, ChangeTags(["a"], [])),
        (
            {"t": "close", "state": "failed", "failure": "oom", "time": 1},
            Close("failed", 1, "oom"),
        ),
    ],
    ids=lambda value: value["t"] if isinstance(value, dict) else "",
)
def test_reads_each_kind(message, expected):
    assert read_message(encode(message)) == expected


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(0.5, id="float"),
        pytest.param(2**64 - 1, id="largest integer"),
        pytest.param(-(2**63), id="smallest integer"),
        pytest.param(True, id="boolean"),
        pytest.param("", id="empty text"),
        pytest.param(None, id="none"),
        pytest.param("x" * LIMITS.string_characters, id="longest text"),
        pytest.param(datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), id="datetime"),
    ],
)
def test_a_value_keeps_its_type(value):
    content = read_message(encode(set_message("params/x", value)))

    assert content == SetValue("params/x", value)
    assert type(content.value) is type(value)


def test_a_set_of_strings_is_sorted_and_without_doubles():
    content = read_message(encode(set_message("labels", ["b", "a", "b"])))

    assert content.value == ("a", "b")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        pytest.param({"t": "picture"}, "unknown_message", id="kind"),
        pytest.param({"path": "x"}, "invalid_message", id="no kind"),
        pytest.param([1], "invalid_message", id="no map"),
        pytest.param({"t": "set", "path": "x"}, "invalid_message", id="no value"),
        pytest.param(set_message("x", b"bytes"), "invalid_message", id="bytes"),
        pytest.param(set_message("x", {"a": 1}), "invalid_message", id="map"),
        pytest.param(set_message("x", ["a", 1]), "invalid_message", id="mixed list"),
        pytest.param(set_message("x", "a\0b"), "invalid_message", id="NUL in text"),
        pytest.param(set_message("x", ["a\0"]), "invalid_message", id="NUL in set"),
        pytest.param(
            set_message("x", "x" * (LIMITS.string_characters + 1)),
            "value_too_large",
            id="text",
        ),
        pytest.param(
            set_message("x", [str(n) for n in range(LIMITS.set_strings + 1)]),
            "value_too_large",
            id="set",
        ),
        pytest.param(
            set_message("x", ["x" * (LIMITS.set_string_characters + 1)]),
            "value_too_large",
            id="text in set",
        ),
        pytest.param(
            set_message("x", msgspec.msgpack.Ext(-1, b"\xff" * 12)),
            "invalid_message",
            id="impossible timestamp",
        ),
        pytest.param(
            set_message("x", msgspec.msgpack.Ext(7, b"x")),
            "invalid_message",
            id="unknown extension",
        ),
        pytest.param(open_message(""), "invalid_message", id="run without name"),
        pytest.param(open_message("a\0b"), "invalid_message", id="NUL in name"),
        pytest.param(open_message("x" * 256), "invalid_message", id="long name"),
        pytest.param(open_message(rank=-1), "invalid_message", id="negative rank"),
        pytest.param(open_message(time=-1), "invalid_message", id="before 1970"),
        pytest.param(
            open_message(time=LATEST_TIME + 1), "invalid_message", id="after 9999"
        ),
        pytest.param(
            {"t": "drop", "points": -1}, "invalid_message", id="negative drop"
        ),
        pytest.param(
            {"t": "close", "state": "happy", "time": 1}, "invalid_message", id="state"
        ),
        pytest.param({"t": "tags", "add": [""]}, "invalid_message", id="empty tag"),
    ],
)
def test_refuses_with_a_code(message, code):
    assert code_of(message) == code


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("", id="empty"),
        pytest.param("///", id="only slashes"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("x" * (LIMITS.path_characters + 1), id="too long"),
        pytest.param("名" * (LIMITS.path_bytes // 3 + 1), id="too large"),
    ],
)
def test_refuses_a_path_it_cannot_store(path):
    assert code_of(set_message(path, 1)) == "invalid_path"
    assert code_of(points_message(path, [1.0])) == "invalid_path"


@pytest.mark.parametrize(
    "path",
    ["<script>alert(1)</script>", "../../etc", "__proto__", "\u202eevil", "a b/ü/名"],
)
def test_keeps_any_other_path_as_it_came(path):
    assert read_message(encode(set_message(path, 1))).path == path


def test_drops_leading_and_trailing_slashes():
    assert read_message(encode(set_message("/train/loss/", 1))).path == "train/loss"


def test_columns_must_be_equally_long():
    message = points_message("loss", [1.0, 2.0])

    assert code_of({**message, "steps": b"\0" * 8}) == "invalid_message"
    assert code_of({**message, "times": "text"}) == "invalid_message"


def test_columns_must_hold_whole_numbers():
    odd = b"\0" * 7

    message = {"t": "points", "path": "x", "steps": odd, "times": odd, "values": odd}

    assert code_of(message) == "invalid_message"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\x91" * 100_000, id="lists"),
        pytest.param(
            encode({"t": "set", "path": "x"}).replace(b"\x82", b"\x83", 1)
            + encode("value")
            + b"\x91" * 100_000,
            id="value",
        ),
    ],
)
def test_deep_nesting_is_refused(raw):
    assert code_of(raw) == "invalid_message"


def test_text_that_is_not_utf8_is_refused():
    raw = encode(set_message("x", "abc")).replace(b"abc", b"\xed\xa0\x80")

    assert code_of(raw) == "invalid_message"


FIELDS = ("path", "value", "steps", "times", "values", "add", "state", "time", "run")
KINDS = ["open", "points", "set", "tags", "drop", "close", "?"]
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(max_size=10)
    | st.binary(max_size=10),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(raw):
    with suppress(Unacceptable):
        read_message(raw)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), anything))
def test_any_message_is_read_or_refused(kind, fields):
    with suppress(Unacceptable):
        read_message(encode({"t": kind, **fields}))
