"""Pixels of arrays, tensors and PIL images, read back with PIL."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from PIL import Image

import agent
from seamark.recording.file_contents import to_content
from tests.agent.conftest import wait_until


def content(value):
    return to_content(value, fallback="picture", name=None, media_type=None)


def drawn(value):
    """Return the levels that a browser shows."""
    return np.asarray(Image.open(io.BytesIO(content(value).data())))


def decoded(value, mode):
    return Image.open(io.BytesIO(content(value).data())).convert(mode)


def row(*values, dtype=float):
    return np.array([values], dtype)


AS_THEY_ARE = {
    "levels": (row(0, 128, 255, dtype=np.uint8), [0, 128, 255]),
    "integers": (row(0, 128, 255, dtype=np.int64), [0, 128, 255]),
    "floats to 1": (row(0, 0.5, 1), [0, 128, 255]),
    "half floats": (row(0, 0.5, 1, dtype=np.float16), [0, 128, 255]),
    "interpolated": (row(-1e-7, 0.5, 1.0001), [0, 128, 255]),
    "whole floats to 255": (row(0, 128, 255), [0, 128, 255]),
    "dark whole floats": (row(0, 2, 20, dtype=np.float32), [0, 2, 20]),
    "booleans": (row(False, True, dtype=bool), [0, 255]),
    "black": (row(0, 0), [0, 0]),
}


@pytest.mark.parametrize(("value", "levels"), AS_THEY_ARE.values(), ids=AS_THEY_ARE)
def test_usual_ranges_are_drawn_as_they_are(value, levels):
    assert drawn(value).ravel().tolist() == levels
    assert content(value).note == ""


SCALED = {
    "float levels": (row(10.5, 133, 255), "10.5 to 255"),
    "around zero": (row(-1, 0, 1), "-1 to 1"),
    "16 bits": (row(0, 30_000, 60_000, dtype=np.uint16), "0 to 60000"),
    "signed": (row(-128, 0, 128, dtype=np.int16), "-128 to 128"),
    "huge": (row(-3e38, 0, 3e38, dtype=np.float32), "-3e+38 to 3e+38"),
    "largest integers": (row(0, 2**62, 2**63, dtype=np.uint64), "0 to 9.22337e+18"),
}


@pytest.mark.parametrize(("value", "named"), SCALED.values(), ids=SCALED)
def test_other_ranges_are_scaled_and_the_note_names_the_range(value, named):
    levels = drawn(value).ravel().tolist()

    assert (levels[0], levels[2]) == (0, 255)
    assert 126 <= levels[1] <= 129
    assert f"values from {named} are scaled" in content(value).note


def test_what_is_not_finite_does_not_decide_the_range():
    value = row(np.nan, 0, 0.5, 1, np.inf, -np.inf)

    assert drawn(value).ravel().tolist() == [0, 0, 128, 255, 255, 0]
    assert content(value).note.startswith("3 values are not finite")
    assert drawn(row(np.nan, np.nan)).ravel().tolist() == [0, 0]
    assert drawn(row(np.nan, 5.5, 6.5)).ravel().tolist() == [0, 0, 255]


def test_a_value_of_any_constant_is_a_picture():
    assert drawn(row(300.5, 300.5)).ravel().tolist() == [0, 0]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_channels_come_first_or_last(channels, dtype):
    pixels = np.arange(8 * 6 * channels).reshape(8, 6, channels).astype(dtype)
    expected = pixels.astype(np.uint8).squeeze()

    assert (drawn(pixels) == expected).all()
    assert (drawn(np.moveaxis(pixels, 2, 0)) == expected).all()
    assert (drawn(pixels[None]) == expected).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "YCbCr", "HSV"])
def test_pil_images_look_the_same(mode):
    levels = np.tile(np.arange(0, 250, 10, np.uint8), (4, 1))
    image = Image.fromarray(levels).convert(mode)

    assert decoded(image, "RGB").tobytes() == image.convert("RGB").tobytes()


@pytest.mark.parametrize("modes", ["LA", "PA", "RGBA", "LA La", "RGBA RGBa"])
def test_pil_images_keep_their_transparency(modes):
    image = Image.new("RGBA", (3, 2), (10, 20, 30, 40))
    for mode in modes.split():
        image = image.convert(mode)

    assert decoded(image, "RGBA").getpixel((0, 0))[3] == 40


@pytest.mark.parametrize(
    ("mode", "values"),
    [("I;16", [0, 2000, 4000]), ("I", [-70_000, 0, 70_000]), ("F", [-0.5, 0, 0.5])],
)
def test_pil_modes_of_more_than_8_bits_are_scaled(mode, values):
    kinds = {"I;16": np.uint16, "I": np.int32, "F": np.float32}
    image = Image.fromarray(row(*values, dtype=kinds[mode]))
    assert image.mode == mode

    assert drawn(image).ravel().tolist() == [0, 128, 255]
    assert "are scaled" in content(image).note


def test_more_than_8_bits_are_refused_without_numpy(monkeypatch):
    image = Image.new("I;16", (2, 2))
    monkeypatch.delitem(sys.modules, "numpy")

    with pytest.raises(agent.UnsupportedValue, match="needs NumPy"):
        content(image)


class Tensor:
    """An array that NumPy can read, like tensors of JAX and TensorFlow."""

    def __init__(self, pixels):
        self.pixels = pixels
        self.shape = pixels.shape

    def __array__(self, dtype=None, copy=None):
        return self.pixels


def test_tensors_of_any_framework_are_read_by_their_array_interface():
    assert drawn(Tensor(row(0.0, 1.0))).ravel().tolist() == [0, 255]


def test_small_floats_of_frameworks_are_read():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16

    assert drawn(Tensor(row(0, 1, dtype=bfloat16))).ravel().tolist() == [0, 255]


def test_a_run_warns_once_how_values_were_scaled(tracker, caplog):
    with agent.init("r", monitor=False) as run:
        for step in range(3):
            run["sample"].append(agent.Image(row(-1.0, 1.0)), step=step)
        run["other"].upload(row(0.0, 400.0, 200.0))
        wait_until(lambda: len(tracker.stored) == 2)

    assert caplog.text.count("are scaled") == 1
    assert "picture 'sample': values from -1 to 1" in caplog.text
