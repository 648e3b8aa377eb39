"""Handwritten digits as photographs: written as JPEG files, read and augmented.

The digits come with scikit-learn: 1,797 scans of 8 × 8 pixels, enlarged here to the
size of a small photograph so that decoding costs what it costs in real pipelines.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter
from sklearn.datasets import load_digits

PHOTO_PIXELS = 400  # width and height of a photograph
INPUT_PIXELS = 96  # width and height of what the classifier sees
TEST_SHARE = 5  # every fifth image is for testing

Pixels = NDArray[np.uint8]


class Images(Protocol):
    """Images ready to be augmented, and what they show."""

    labels: NDArray[np.int64]

    def __len__(self) -> int: ...

    def read(self, index: int) -> Pixels:
        """Return image `index`, INPUT_PIXELS wide and high."""


def write_photographs(folder: Path, *, seed: int = 0) -> Iterable[Path]:
    """Write every digit as a JPEG file named `<split>/<index>-<label>.jpg`."""
    digits = load_digits()
    shape = (2, PHOTO_PIXELS, PHOTO_PIXELS, 3)
    grain = np.random.default_rng(seed).normal(0, 12, shape).astype(np.int16)
    for split in ("train", "test"):
        (folder / split).mkdir(parents=True, exist_ok=True)

    for index, (scan, label) in enumerate(
        zip(digits.images, digits.target, strict=True)
    ):
        split = "test" if index % TEST_SHARE == 0 else "train"
        path = folder / split / f"{index:04d}-{label}.jpg"
        _photograph(scan, grain[index % 2]).save(path, quality=92)
        yield path


def _photograph(scan: NDArray[np.float64], grain: NDArray[np.int16]) -> Image.Image:
    small = Image.fromarray((scan * (255 / 16)).astype(np.uint8))
    large = small.resize((PHOTO_PIXELS, PHOTO_PIXELS), Image.Resampling.BICUBIC)
    pixels = np.asarray(large, np.int16)[:, :, None] + grain
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def decode(path: Path) -> Pixels:
    """Decode a JPEG file and shrink it."""
    with Image.open(path) as photograph:
        gray = photograph.convert("L")
    size = (INPUT_PIXELS, INPUT_PIXELS)
    return np.asarray(gray.resize(size, Image.Resampling.BILINEAR))


def augment(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Turn, move, light and blur the image a little, as a camera would."""
    angle = random.uniform(-12, 12)
    right, down = (int(pixel) for pixel in random.integers(-6, 7, 2))
    turned = Image.fromarray(pixels).rotate(
        angle, Image.Resampling.BICUBIC, translate=(right, down)
    )
    lit = ImageEnhance.Brightness(turned).enhance(random.uniform(0.8, 1.2))
    return np.asarray(lit.filter(ImageFilter.GaussianBlur(random.uniform(0, 1))))


class PhotographImages:
    """Decodes each JPEG file every time it is read."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.jpg"))
        if not self.paths:
            raise SystemExit(f"No JPEG files in {folder}: run preprocess.py first.")
        self.labels = np.array([int(path.stem[-1]) for path in self.paths])

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, index: int) -> Pixels:
        return decode(self.paths[index])


class DecodedImages:
    """Reads images that preprocess.py decoded ahead."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "pixels.npy").exists():
            raise SystemExit(
                f"No decoded images in {folder}: run preprocess.py --decode-ahead."
            )
        self.pixels = np.load(folder / "pixels.npy", mmap_mode="r")
        self.labels = np.load(folder / "labels.npy")

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Pixels:
        return np.asarray(self.pixels[index])


def write_decoded(folder: Path) -> Iterable[Path]:
    """Decode every JPEG file of a split once, for all epochs and runs to come."""
    images = PhotographImages(folder)
    pixels = np.empty((len(images), INPUT_PIXELS, INPUT_PIXELS), np.uint8)
    for index, path in enumerate(images.paths):
        pixels[index] = decode(path)
        yield path
    np.save(folder / "pixels.npy", pixels)
    np.save(folder / "labels.npy", images.labels)
