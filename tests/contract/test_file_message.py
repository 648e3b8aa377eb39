"""The bytes of file messages never change."""

from __future__ import annotations

from seamark import messages
from tracker.ingest.messages import FileValue, SetValue, read_message

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
GOLDEN = (
    b"\x86\xa6digest\xd9\x40" + DIGEST.encode() + b"\xa4name\xa7best.pt"
    b"\xa4path\xaamodel/best\xa4size\xce\x3b\x9a\xca\x00\xa1t\xa4file"
    b"\xa4type\xb8application/octet-stream"
)


def test_the_agent_still_produces_the_golden_bytes():
    message = messages.set_file(
        "model/best", DIGEST, 1_000_000_000, "application/octet-stream", "best.pt"
    )

    assert message == GOLDEN


def test_the_server_reads_them():
    value = FileValue(DIGEST, 1_000_000_000, "application/octet-stream", "best.pt")

    assert read_message(GOLDEN) == SetValue("model/best", value)
