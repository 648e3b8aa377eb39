"""Sounds and videos: WAV and animated PNG of arrays, files as they are."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from PIL import Image

import agent
from seamark.recording.file_contents import to_content
from tests.agent.conftest import wait_until
from tests.agent.recording.media.test_media import records


def content(value):
    return to_content(value, fallback="x", name=None, media_type=None)


def played(*arguments):
    with wave.open(io.BytesIO(content(agent.Audio(*arguments)).data())) as sound:
        frames = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
        return sound.getframerate(), frames.reshape(-1, sound.getnchannels()).tolist()


STEREO = [[0, 32_767], [16_384, -32_767], [0, 0]]
SOUNDS = {
    "floats": (
        np.array([0, 0.5, 1, -2, np.nan]),
        [[0], [16_384], [32_767], [-32_767], [0]],
    ),
    "16 bits": (np.array([-32_768, 5], np.int16), [[-32_768], [5]]),
    "a list": ([0.0, 1.0, float("nan")], [[0], [32_767], [0]]),
    "channels last": (np.array([[0, 1], [0.5, -1], [0, 0]]), STEREO),
    "channels first": (np.array([[0, 0.5, 0], [1, -1, 0]], np.float32), STEREO),
}


@pytest.mark.parametrize(("samples", "levels"), SOUNDS.values(), ids=SOUNDS)
def test_samples_become_wav(samples, levels):
    assert played(samples, 8_000) == (8_000, levels)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (([0.0],), "needs sample_rate"),
        (([0.0], -1), "needs sample_rate"),
        ((np.zeros((2, 2, 2)), 8_000), "is not a sound"),
        ((np.zeros((20, 20)), 8_000), "more than 8 channels"),
        ((np.zeros(2, np.int64), 8_000), "16-bit"),
        (([], 8_000), "has no samples"),
        ((["a"], 8_000), "cannot be stored"),
    ],
)
def test_other_samples_are_refused(arguments, why):
    with pytest.raises(agent.UnsupportedValue, match=why):
        content(agent.Audio(*arguments))


def frames(**options):
    data = content(agent.Video(**options)).data()
    with Image.open(io.BytesIO(data)) as image:
        found = []
        for place in range(image.n_frames):
            image.seek(place)
            found.append(np.asarray(image.convert("RGB"))[0, 0].tolist())
        return image.size, image.info["duration"], found


RED_THEN_BLUE = np.zeros((2, 3, 5, 3), np.uint8)
RED_THEN_BLUE[0, ..., 0] = RED_THEN_BLUE[1, ..., 2] = 255
COLORS = [[255, 0, 0], [0, 0, 255]]


def test_frames_become_an_animation():
    assert frames(content=RED_THEN_BLUE, frames_per_second=4) == ((5, 3), 250, COLORS)


def test_frames_may_have_their_channels_first_or_none():
    moved = np.moveaxis(RED_THEN_BLUE, 3, 1)

    assert frames(content=moved)[2] == COLORS
    assert frames(content=np.array([[[0.0]], [[1.0]]]))[2] == [[0, 0, 0], [255] * 3]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"content": np.zeros((2, 2))}, "is not a video"),
        ({"content": np.zeros((2, 5, 5, 5))}, "is not a video"),
        ({"content": RED_THEN_BLUE, "frames_per_second": 0}, "frames per second"),
        ({"content": np.zeros((65, 1024, 1024), np.uint8)}, "64 MiB"),
        ({"content": 5}, "is not a video"),
    ],
)
def test_other_frames_are_refused(options, why):
    with pytest.raises(agent.UnsupportedValue, match=why):
        content(agent.Video(**options))


def test_files_are_stored_as_they_are(tracker, tmp_path):
    video = tmp_path / "rollout.mp4"
    video.write_bytes(b"\0\0\0\x18ftypmp42")
    with agent.init("r", monitor=False) as run:
        run["x"].append(agent.Video(video, caption="a"), step=0)
        run["x"].append(agent.Audio(b"RIFF....WAVE", name="a.wav"), step=1)
        run["x"].append([agent.Audio([0.0], 8_000), agent.Video(RED_THEN_BLUE)], step=2)
        wait_until(lambda: len(records(tracker, "x")) == 4)

    assert [each[2] for each in records(tracker, "x")] == [
        "video/mp4",
        "audio/x-wav",
        "audio/wav",
        "image/apng",
    ]
    assert {each[0] for each in records(tracker, "x")} == {"file"}
    assert records(tracker, "x")[0][3] == {"caption": "a"}
