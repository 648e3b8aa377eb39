"""The bytes of media details in records never change."""

from __future__ import annotations

import agent
from tracker.records.stored_file import Box, StoredFile, read_stored_file

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
DETAILS = '{"caption":"Bär","boxes":[[0.0,1.5,2.0,3.0,"cat"],[1.0,1.0,2.0,2.0]]}'
GOLDEN = bytes.fromhex(DIGEST) + b"\x0b" + bytes(7) + b"image/png\0" + DETAILS.encode()


def test_the_agent_still_produces_the_golden_details():
    boxes = [(0, 1.5, 2, 3, "cat"), (1, 1, 2, 2)]

    details = agent.Image(b"", caption="Bär", boxes=boxes).encoded_details()

    assert details == DETAILS.encode()


def test_the_server_reads_them():
    boxes = (Box(0, 1.5, 2, 3, "cat"), Box(1, 1, 2, 2))

    expected = StoredFile(DIGEST, 11, "image/png", "Bär", boxes)
    assert read_stored_file(GOLDEN) == expected
