"""The recordings: one file each, of the frames of all the job's processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from agent.frames import Frame

HERE = Path(__file__).parent
REPLACED = {
    "/facts/host": "trainer",
    "/facts/platform": "Linux x86_64",
    "/facts/storage/work/mount": "/",
    "/facts/storage/data/mount": "/",
}
_LARGEST = 2**26  # bytes, unpacked
_LEVEL = 19


class Recording(msgspec.Struct, frozen=True):
    """`spools` holds the frames of each process: their numbers and payloads."""

    case: str
    seed: int
    recorded_at: str
    cores: int
    spools: list[list[tuple[int, bytes]]]

    def bodies(self) -> list[bytes]:
        """Return what each process would send."""
        return [
            b"".join(Frame(number, payload).to_bytes() for number, payload in frames)
            for frames in self.spools
        ]


def path_of(case: str, seed: int) -> Path:
    return HERE / f"{case}-{seed}.msgpack.zst"


def exists(case: str, seed: int) -> bool:
    return path_of(case, seed).exists()


def write_recording(recording: Recording, folder: Path = HERE) -> int:
    """Keep a recording, and return its bytes."""
    packed = msgspec.msgpack.encode(recording)
    content = zstandard.ZstdCompressor(level=_LEVEL).compress(packed)
    folder.mkdir(exist_ok=True)
    path = folder / path_of(recording.case, recording.seed).name
    path.write_bytes(content)
    return len(content)


def read_recording(path: Path) -> Recording:
    packed = zstandard.ZstdDecompressor().decompress(
        path.read_bytes(), max_output_size=_LARGEST
    )
    return msgspec.msgpack.decode(packed, type=Recording)


def all_recordings() -> Iterator[Path]:
    yield from sorted(HERE.glob("*.msgpack.zst"))


def anonymous(payload: bytes) -> bytes:
    """Replace what names the machine; everything measured stays as it was."""
    messages: list[dict[str, Any]] = msgspec.msgpack.decode(payload)
    for message in messages:
        if message["t"] == "open":
            message["host"] = "trainer"
        for ending, value in REPLACED.items():
            if str(message.get("path", "")).endswith(ending):
                message["value"] = value
    return msgspec.msgpack.encode(messages)
