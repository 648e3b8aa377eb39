"""Long arrays of JSON: read piece by piece, and as far as they go."""

from __future__ import annotations

import io
import json

import pytest

from seamark.importers import json_stream
from seamark.importers.json_stream import JsonStream


def read(data):
    data = data.encode() if isinstance(data, str) else data
    stream = JsonStream(io.BytesIO(data), "events")
    return list(stream.items()), stream


@pytest.fixture(params=[1, 3, 1 << 20])
def chunk(request, monkeypatch):
    """Read so many bytes at a time: every value is cut somewhere."""
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", request.param)


def test_members_before_and_after_the_array_are_kept(chunk):
    text = json.dumps({"a": 12, "events": [1, {"b": [2]}, "ü", None], "z": {"y": 1.5}})

    items, stream = read(text)

    assert items == [1, {"b": [2]}, "ü", None]
    assert stream.members == {"a": 12, "z": {"y": 1.5}}
    assert stream.damage == ""


def test_an_array_without_an_object_around_it_will_do(chunk):
    assert read('[ {"a": 1},\n {"a": 2} ]')[0] == [{"a": 1}, {"a": 2}]


def test_what_stands_before_a_cut_is_given(chunk):
    items, stream = read('{"events": [{"a": 1}, {"a": 2}, {"a": ')

    assert items == [{"a": 1}, {"a": 2}]
    assert stream.damage.startswith("at character ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "{",
        '{"events"',
        '{"events": 5',
        '{"events": [1',
        '{"events": [1 2}',
        "{5: []}",
        '{"events": [' + "[" * 100_000,
        '{"events": [' + "9" * 10_000 + "]}",
        '{"events": ["' + "x" * 10_000,
        b"\xff\xfe\x00{\x00",
    ],
)
def test_what_is_no_json_is_damaged_and_never_raises(text):
    assert read(text)[1].damage


def test_an_object_without_the_array_has_no_items():
    items, stream = read('{"other": [1]}')

    assert (items, stream.members, stream.damage) == ([], {"other": [1]}, "")


def test_a_value_without_an_end_is_given_up(monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_CHARACTERS", 10_000)
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", 1_000)
    file = io.BytesIO(b'{"events": ["' + b"x" * 10_000_000)

    stream = JsonStream(file, "events")

    assert list(stream.items()) == []
    assert file.tell() < 20_000
