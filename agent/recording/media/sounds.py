"""Sounds and videos of a series: arrays become WAV and animated PNG."""

from __future__ import annotations

import struct
import sys
from array import array
from os import PathLike
from typing import Any

from seamark.errors import UnsupportedValue
from seamark.recording.duck_types import can
from seamark.recording.media.images import Encoder, animation_of_array
from seamark.recording.media.media import Media

MAX_CHANNELS = 8
MAX_SAMPLE_RATE = 384_000
MAX_FRAMES_PER_SECOND = 120
_HIGHEST = 32_767
_SAMPLES_AND_CHANNELS = 2  # dimensions
_ENCODED = (str, PathLike, bytes, bytearray, memoryview)


class Audio(Media):
    """Audio to append to a series: `run["speech"].append(agent.Audio(x, 16_000))`.

    Args:
        content: The path of a file, or samples: floats from -1 to 1, or 16-bit integers,
            of shape (samples,), (samples, channels) or (channels, samples).
        sample_rate: Samples per second, for samples.
        caption: A text below the player.
    """

    __slots__ = ("sample_rate",)

    def __init__(
        self,
        content: object,
        sample_rate: int | None = None,
        *,
        caption: str = "",
        name: str | None = None,
        media_type: str | None = None,
    ) -> None:
        super().__init__(content, caption=caption, name=name, media_type=media_type)
        self.sample_rate = sample_rate

    def made(self) -> tuple[str, Encoder] | None:
        if isinstance(self.content, _ENCODED) or can(self.content, "read"):
            return None
        rate = self.sample_rate
        if not isinstance(rate, int) or not 0 < rate <= MAX_SAMPLE_RATE:
            raise UnsupportedValue(
                self, "needs sample_rate=…, a whole number of samples per second"
            )
        data, channels = _samples_of(self.content)
        head = _wav_head(len(data), rate, channels)
        return "audio/wav", Encoder(lambda: head + data, len(data))


class Video(Media):
    """A video to append to a series: `run["rollout"].append(agent.Video("a.mp4"))`.

    Args:
        content: The path of an MP4 or WebM file, or frames: an array of shape (frames,
            height, width) with one to four channels as the second or last dimension.
            Frames are stored as an animated PNG, without a codec.
        frames_per_second: The speed of frames.
        caption: A text below the video.
    """

    __slots__ = ("frames_per_second",)

    def __init__(
        self,
        content: object,
        frames_per_second: float = 10,
        *,
        caption: str = "",
        name: str | None = None,
        media_type: str | None = None,
    ) -> None:
        super().__init__(content, caption=caption, name=name, media_type=media_type)
        self.frames_per_second = frames_per_second

    def made(self) -> tuple[str, Encoder] | None:
        if isinstance(self.content, _ENCODED) or can(self.content, "read"):
            return None
        speed = float(self.frames_per_second)
        if not 0 < speed <= MAX_FRAMES_PER_SECOND:
            raise UnsupportedValue(
                self, f"has up to {MAX_FRAMES_PER_SECOND} frames per second"
            )
        return "image/apng", animation_of_array(self.content, speed)


# Any, here and below: foreign types are known only at run time.
def _samples_of(value: Any) -> tuple[bytes, int]:
    """Return interleaved 16-bit samples, and the number of channels."""
    if not hasattr(value, "shape"):
        levels = [_level(float(sample)) for sample in value]
        if not levels:
            raise UnsupportedValue(value, "has no samples")
        samples = array("h", levels)
        if sys.byteorder == "big":
            samples.byteswap()
        return samples.tobytes(), 1
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise UnsupportedValue(value, "needs NumPy to be stored as a sound")
    value = value.detach().cpu() if can(value, "detach", "cpu") else value
    if can(value, "is_floating_point") and value.is_floating_point():
        # NumPy has no bfloat16.
        value = value.float()
    return _samples_of_array(numpy, numpy.asarray(value))


def _samples_of_array(numpy: Any, samples: Any) -> tuple[bytes, int]:
    if samples.ndim == 1:
        samples = samples[:, None]
    if samples.ndim != _SAMPLES_AND_CHANNELS or not samples.size:
        raise UnsupportedValue(
            samples, f"of shape {samples.shape} is not a sound of one or more channels"
        )
    if samples.shape[1] > samples.shape[0]:
        samples = samples.T
    if samples.shape[1] > MAX_CHANNELS:
        raise UnsupportedValue(samples, f"has more than {MAX_CHANNELS} channels")
    if samples.dtype.kind == "f":
        scaled = numpy.nan_to_num(samples.astype(numpy.float32)) * _HIGHEST
        samples = numpy.rint(numpy.clip(scaled, -_HIGHEST, _HIGHEST))
    elif samples.dtype != numpy.int16:
        raise UnsupportedValue(
            samples, f"of {samples.dtype} is not a sound: use floats or 16-bit integers"
        )
    return samples.astype("<i2").tobytes(), samples.shape[1]


def _level(sample: float) -> int:
    # NaN is silence.
    return round(max(-1.0, min(1.0, sample)) * _HIGHEST) if sample == sample else 0  # noqa: PLR0124 - the test for NaN


def _wav_head(size: int, rate: int, channels: int) -> bytes:
    frame = 2 * channels
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, channels, rate),
        *(rate * frame, frame, 16, b"data", size),
    )
