"""References of records to contents, and their details."""

from __future__ import annotations

import json

import pytest

from tracker.records.stored_file import (
    MAX_DETAIL_BYTES,
    NotAStoredFile,
    read_stored_file,
    read_stored_picture,
)

HEAD = bytes(range(32)) + (7).to_bytes(8, "little")


def read(media_type=b"image/png", details=None):
    text = b"" if details is None else b"\0" + json.dumps(details).encode()
    return read_stored_file(HEAD + media_type + text)


def test_details_are_optional():
    assert read().caption == ""
    assert read().boxes == ()
    assert read(details={"later": 1}).media_type == "image/png"


INVALID = {
    "nothing": b"",
    "no type": HEAD,
    "half a type": HEAD + b"image/",
    "spaces": HEAD + b"image/p ng",
    "a huge size": HEAD[:32] + b"\xff" * 8 + b"image/png",
    "details that are no JSON": HEAD + b"image/png\0{",
    "details that are a list": HEAD + b"image/png\0[]",
    "deep details": HEAD + b"image/png\0" + b"[" * 60_000,
    "long details": HEAD + b"image/png\0" + b" " * MAX_DETAIL_BYTES + b"{}",
}


@pytest.mark.parametrize("data", INVALID.values(), ids=INVALID)
def test_other_bytes_are_refused(data):
    with pytest.raises(NotAStoredFile):
        read_stored_file(data)


def test_only_images_are_pictures():
    assert read(b"audio/wav").media_type == "audio/wav"
    with pytest.raises(NotAStoredFile):
        read_stored_picture(HEAD + b"audio/wav")


@pytest.mark.parametrize(
    "box",
    [[], [1, 2, 3], [1, 2, 3, 4, "a", "b"], ["1", 2, 3, 4], [float("nan"), 1, 2, 3], 5],
)
def test_invalid_boxes_are_left_out(box):
    assert len(read(details={"boxes": [box, [0, 0, 1, 1]]}).boxes) == 1


def test_captions_of_any_type_become_a_text_that_a_page_can_show():
    assert read(details={"caption": 5}).caption == ""
    assert read(details={"caption": "a" * 2_000}).caption == "a" * 1_000
    assert read(details={"caption": "\ud800"}).caption == "?"
