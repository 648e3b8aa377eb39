from __future__ import annotations

import json

from seamark.queue.frames import read_frames
from tests.contract.build import DESCRIPTION, FRAMES, build


def test_the_agent_still_produces_the_golden_bytes():
    description = json.loads(DESCRIPTION.read_text("utf-8"))

    assert build(description) == FRAMES.read_bytes()


def test_the_agent_reads_its_own_golden_frames():
    numbers = [frame.number for frame in read_frames(FRAMES.read_bytes())]

    assert numbers == [1, 2, 3, 4, 5, 6]
