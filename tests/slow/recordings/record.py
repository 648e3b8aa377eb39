"""Records the job again; needs PyTorch.

Run `python -m tests.slow.recordings.record` on an idle machine of two cores or more.
Names of the machine are replaced; measurements stay as they were.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from seamark.queue.frames import Frame
from seamark.queue.spool_reader import find_spools

HERE = Path(__file__).parent
RECORDING = HERE / "torch-one-worker.frames.zst"
CORES = {0, 1}
REPLACED = {"/facts/host": "trainer", "/facts/platform": "Linux x86_64"}
_MAX_BYTES = 64 * 2**20


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "SEAMARK_SPOOL": folder,
            "SEAMARK_MODE": "offline",
        }
        os.sched_setaffinity(0, CORES)
        command = [sys.executable, "-m", "tests.slow.recordings.job", *sys.argv[1:]]
        subprocess.run(command, env=environment, check=True)
        (spool,) = find_spools(Path(folder))
        frames = spool.frames_from(1, most_bytes=_MAX_BYTES)
        body = b"".join(
            Frame(frame.number, anonymous(frame.payload)).to_bytes() for frame in frames
        )
    RECORDING.write_bytes(zstandard.ZstdCompressor(level=19).compress(body))
    sys.stdout.write(f"{len(frames)} frames, {RECORDING.stat().st_size:,} bytes\n")


def anonymous(payload: bytes) -> bytes:
    messages: list[dict[str, Any]] = msgspec.msgpack.decode(payload)
    for message in messages:
        if message["t"] == "open":
            message["host"] = "trainer"
        for ending, value in REPLACED.items():
            if str(message.get("path", "")).endswith(ending):
                message["value"] = value
    return msgspec.msgpack.encode(messages)


if __name__ == "__main__":
    main()
