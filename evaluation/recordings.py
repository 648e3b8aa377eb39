"""Recordings: one file each, with the records of all processes of a job."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from seamark.queue.frames import Frame
from seamark.queue.spool_reader import find_spools

HERE = Path(__file__).parent
# Jobs of the folders "long" run for 60 to 90 seconds, those of "gpu" on a GPU; both are
# by other authors.
PARTS = ("tune", "tune/long", "tune/gpu", "test", "test/long", "test/gpu")
# Jobs of evaluation/synthetic; rules were written with them, so they are part of tune.
SYNTHETIC = HERE / "tune" / "synthetic"
HOST = "trainer"
# Facts that name one machine or one card, by how their paths end.
REPLACED = {
    r"/facts/host": HOST,
    r"/facts/platform": "Linux x86_64",
    r"/facts/storage/[^/]+/mount": "/",
    r"/facts/gpu/\d+(/mig/\d+)?/uuid": "GPU-00000000-0000-0000-0000-000000000000",
    r"/facts/gpu/\d+/pci_bus": "00000000:01:00.0",
    r"/facts/.*(serial|board_id|machine_id|boot_id|user)": "",
}
# Identifiers in texts, such as an error or the allocator's summary.
_HEX = "[0-9a-fA-F]"
_REPLACED_IN_TEXTS = (
    # UUIDs: of cards, slices, boots, containers.
    (
        rf"\b{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\b",
        "00000000-0000-0000-0000-000000000000",
    ),
    # Addresses on the PCI bus, and numbers of containers.
    (rf"\b({_HEX}{{4}}|{_HEX}{{8}}):{_HEX}{{2}}:{_HEX}{{2}}\.[0-7]\b", "0000:01:00.0"),
    (rf"\b{_HEX}{{32,64}}\b", "0" * 32),
    (r"\b[Pp]rocess \d+", "process 1"),
    # Folders, except the names of files in them: they contain users, mounts and control
    # groups. Paths below /proc are the same on all machines.
    (r"(?<![\w./])/(?!proc/)(?:[\w.@+:-]+/)+(?=[\w.@+:-]+)", "/job/"),
)
ENDING = ".msgpack.zst"
_LARGEST = 2**26  # bytes, unpacked
_LEVEL = 19


class Recording(msgspec.Struct, frozen=True):
    """`spools` holds the frames of each process: their numbers and payloads.

    Synthetic jobs have a seed. Scripts have a mode, and `foreign_cores` that other
    programs kept busy meanwhile, neighbors included.
    """

    case: str
    seed: int
    recorded_at: str
    cores: int
    spools: list[list[tuple[int, bytes]]]
    mode: str = ""
    foreign_cores: float | None = None

    @property
    def file_name(self) -> str:
        return f"{self.case}-{self.mode or self.seed}{ENDING}"

    def bodies(self) -> list[bytes]:
        """Return the upload data of each process."""
        return [
            b"".join(Frame(number, payload).to_bytes() for number, payload in frames)
            for frames in self.spools
        ]


def path_of(case: str, seed: int) -> Path:
    return SYNTHETIC / f"{case}-{seed}{ENDING}"


def exists(case: str, seed: int, folder: Path = SYNTHETIC) -> bool:
    return (folder / path_of(case, seed).name).exists()


def write_recording(recording: Recording, folder: Path = SYNTHETIC) -> int:
    """Write a recording and return its size in bytes."""
    packed = msgspec.msgpack.encode(recording)
    content = zstandard.ZstdCompressor(level=_LEVEL).compress(packed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / recording.file_name).write_bytes(content)
    return len(content)


def read_recording(path: Path) -> Recording:
    packed = zstandard.ZstdDecompressor().decompress(
        path.read_bytes(), max_output_size=_LARGEST
    )
    return msgspec.msgpack.decode(packed, type=Recording)


def all_recordings(folder: Path = SYNTHETIC) -> Iterator[Path]:
    yield from sorted(folder.glob(f"*{ENDING}"))


def recordings_of(part: str) -> list[Path]:
    """Return the recordings of scripts of a part, not the synthetic ones."""
    return list(all_recordings(HERE / part / "recordings"))


def frames_of(folder: Path) -> list[list[tuple[int, bytes]]]:
    """Return the upload data of processes with their queues in a folder."""
    return [
        [
            (frame.number, anonymous(frame.payload))
            for frame in spool.frames_from(1, most_bytes=_LARGEST)
        ]
        for spool in find_spools(folder)
    ]


def anonymous(payload: bytes) -> bytes:
    """Replace names of the machine and its cards; measurements stay."""
    messages: list[dict[str, Any]] = msgspec.msgpack.decode(payload)
    for message in messages:
        if message["t"] == "open":
            message["host"] = HOST
        path = str(message.get("path", ""))
        for ending, value in REPLACED.items():
            if re.search(f"{ending}$", path):
                message["value"] = value
        for name, value in message.items():
            # Paths are ours, and `t` is the kind of the message.
            if name not in ("t", "path", "paths"):
                message[name] = _anonymous_value(value)
    return msgspec.msgpack.encode(messages)


# Any: any value of a message.
def _anonymous_value(value: Any) -> Any:
    if isinstance(value, str):
        return anonymous_text(value)
    if isinstance(value, list):
        return [_anonymous_value(each) for each in value]
    if isinstance(value, dict):
        return {name: _anonymous_value(each) for name, each in value.items()}
    return value


def anonymous_text(text: str) -> str:
    """Return a text without names of machines, cards, people and folders."""
    for pattern, instead in _REPLACED_IN_TEXTS:
        text = re.sub(pattern, instead, text)
    names = {os.uname().nodename, *(os.environ.get(n, "") for n in ("USER", "LOGNAME"))}
    for name in names - {"", "root", "localhost"}:
        text = re.sub(rf"\b{re.escape(name)}\b", HOST, text)
    return text
