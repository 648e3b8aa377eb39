"""Images are recognized by their first bytes, without decoding."""

from __future__ import annotations

import io
import struct

import pytest

from tracker.files.pictures import read_picture


def png(width, height):
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + bytes(9)
    )


def jpeg(width, height, *, notes=0):
    note = b"\xff\xe1" + struct.pack(">H", notes + 2) + bytes(notes) if notes else b""
    frame = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)
    return b"\xff\xd8" + note + b"\xff\xff" + frame[1:]


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(3)


def webp(width, height, kind):
    sizes = {
        b"VP8X": bytes(4)
        + struct.pack("<I", width - 1)[:3]
        + struct.pack("<I", height - 1)[:3],
        b"VP8L": b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14),
        b"VP8 ": bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height),
    }
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + sizes[kind] + bytes(8)


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (png(640, 480), "image/png"),
        (gif(640, 480), "image/gif"),
        (jpeg(640, 480), "image/jpeg"),
        (jpeg(640, 480, notes=60_000), "image/jpeg"),
        (webp(640, 480, b"VP8X"), "image/webp"),
        (webp(640, 480, b"VP8L"), "image/webp"),
        (webp(640, 480, b"VP8 "), "image/webp"),
    ],
)
def test_its_size_is_read(head, media_type):
    picture = read_picture(head)

    assert (picture.media_type, picture.width, picture.height) == (media_type, 640, 480)
    assert picture.may_be_shown


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_pictures_written_by_pillow_are_read(kind):
    pil = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    pil.new("RGB", (31, 17)).save(file, kind)

    picture = read_picture(file.getvalue())

    assert (picture.width, picture.height) == (31, 17)


@pytest.mark.parametrize(
    "head", [png(50_000, 50_000), png(0, 10), png(2**31, 1), jpeg(65_000, 65_000)]
)
def test_pictures_with_too_many_pixels_are_not_shown(head):
    assert not read_picture(head).may_be_shown


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"<svg onload='alert(1)'/>",
        b"<html>",
        b"\x89PNG\r\n\x1a\n",
        png(1, 1)[:18],
        b"\xff\xd8\xff",
        b"\xff\xd8" + b"\xff\xe1\0\0" * 10,
        b"GIF89a",
        b"RIFF\0\0\0\0WEBPVP8X",
        b"II*\0",
        b"\xff\xd8\xff\xe1\xff\xff",
    ],
)
def test_anything_else_is_no_picture(head):
    assert read_picture(head) is None


def test_every_cut_is_survived():
    for head in (jpeg(9, 9, notes=20), webp(9, 9, b"VP8L"), png(9, 9), gif(9, 9)):
        for end in range(len(head)):
            read_picture(head[:end])
