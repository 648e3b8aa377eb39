"""Encoding of figures, images and arrays, without importing their libraries."""

from __future__ import annotations

import io
import json
import struct
import zlib

import numpy as np
import pytest

from seamark.errors import UnsupportedValue
from seamark.recording.file_contents import PLOTLY, PNG, File, to_content
from seamark.recording.media.png import to_png


def content(value, fallback="picture", **options):
    return to_content(
        value, **{"fallback": fallback, "name": None, "media_type": None, **options}
    )


def pixels_of(png):
    """Read a PNG of ours, apart from our own code: rows of bytes."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, found = 8, {}
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", png, place + 8 + length)
        assert checksum == zlib.crc32(kind + data)
        found[kind] = data
        place += 12 + length
    width, height, _, colour, *_ = struct.unpack(">IIBBBBB", found[b"IHDR"])
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    rows = zlib.decompress(found[b"IDAT"])
    stride = width * channels + 1
    assert len(rows) == stride * height
    assert {rows[start] for start in range(0, len(rows), stride)} == {0}
    plain = b"".join(rows[i + 1 : i + stride] for i in range(0, len(rows), stride))
    return np.frombuffer(plain, np.uint8).reshape(height, width, channels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pixels_survive(channels):
    pixels = np.arange(5 * 7 * channels, dtype=np.uint8).reshape(5, 7, channels)

    png = to_png(pixels.tobytes(), width=7, height=5, channels=channels)

    assert (pixels_of(png) == pixels).all()


def test_channels_are_found_before_and_behind():
    behind = np.zeros((8, 6, 3), np.uint8)
    before = np.zeros((3, 8, 6), np.uint8)

    assert pixels_of(content(behind).data()).shape == (8, 6, 3)
    assert pixels_of(content(before).data()).shape == (8, 6, 3)


def test_an_array_is_as_it_was_at_the_call():
    pixels = np.zeros((2, 2), np.uint8)
    made = content(pixels)
    pixels[:] = 255

    assert not pixels_of(made.data()).any()


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((2, 3, 4, 5)),
        np.zeros((5, 5, 5)),
        np.zeros(5),
        np.zeros((0, 5)),
        np.zeros((5, 5), complex),
        object(),
        42,
        "/no/such/file",
        "/tmp",
        "nul\0byte",
        "/dev/zero",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_file_is_refused(value):
    with pytest.raises(UnsupportedValue):
        content(value)


class Figure:
    def savefig(self, to, format):  # noqa: A002 - as Matplotlib calls it
        to.write(format.encode())


class PlotlyFigure:
    def to_plotly_json(self):
        return {}

    def to_json(self):
        return '{"data": [], "layout": {}}'

    def to_html(self):
        raise AssertionError


class Axes:
    def get_figure(self):
        return Figure()


class Broken:
    def savefig(self, *_, **__):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "kind", "data"),
    [
        (Figure(), PNG, b"png"),
        (Axes(), PNG, b"png"),
        (PlotlyFigure(), PLOTLY, b'{"data": [], "layout": {}}'),
        (b"bytes", "", b"bytes"),
        (bytearray(b"bytes"), "", b"bytes"),
        (io.BytesIO(b"read"), "", b"read"),
        (io.StringIO("gelesen ä"), "", "gelesen ä".encode()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_things_are_known_by_what_they_can_do(value, kind, data):
    made = content(value)

    assert (made.media_type, made.data()) == (kind, data)


def test_something_written_is_read_from_its_beginning(tmp_path):
    with (tmp_path / "log.txt").open("w+") as file:
        file.write("all of it")
        assert content(file).data() == b"all of it"
        assert file.tell() == len("all of it")


def test_what_goes_wrong_in_foreign_code_is_a_refusal():
    with pytest.raises(UnsupportedValue):
        content(Broken())


def test_a_file_says_its_name_and_type():
    made = content(File(b"a,b", name="../table.csv", media_type="text/csv"))

    assert (made.name, made.media_type) == ("table.csv", "text/csv")
    for name, kind in (("", None), (None, "text"), (None, "a/b; c")):
        with pytest.raises(UnsupportedValue):
            content(File(b"", name=name, media_type=kind))


def test_a_tensor_has_its_channels_first():
    torch = pytest.importorskip("torch")
    made = content(torch.zeros(3, 4, 3, dtype=torch.bfloat16, requires_grad=True))

    assert pixels_of(made.data()).shape == (4, 3, 3)


def test_a_figure_of_matplotlib_is_the_picture_it_draws():
    matplotlib = pytest.importorskip("matplotlib.figure")
    figure = matplotlib.Figure(figsize=(2, 1), dpi=50)
    axes = figure.subplots()
    axes.plot([1, 2, 3])

    for value in (figure, axes):
        made = content(value)
        assert made.media_type == PNG
        # Behind the signature and the first chunk's head: width and height.
        assert struct.unpack(">II", made.data()[16:24]) == (100, 50)


def test_a_figure_of_plotly_is_its_own_description():
    objects = pytest.importorskip("plotly.graph_objects")

    made = content(objects.Figure(objects.Scatter(x=[1, 2], y=[3, 4])))

    assert made.media_type == PLOTLY
    (trace,) = json.loads(made.data())["data"]
    assert (trace["type"], trace["y"]) == ("scatter", [3, 4])
