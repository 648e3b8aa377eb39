"""Batches as agents send them: blocks of the workload as compressed records."""

from __future__ import annotations

import os

import zstandard

from benchmarks.peers.workload import START, Block
from seamark import messages
from seamark.queue.frames import Frame
from seamark.version import VERSION

COMPRESSION_LEVEL = 3  # as in the agent


def opening(project: str, run: str) -> bytes:
    """Return the frame that begins a spool."""
    origin = messages.Origin(
        project=project,
        run=run,
        stage="train",
        rank=0,
        host="host",
        pid=os.getpid(),
        agent=VERSION,
        time=round(1e6 * START),
    )
    return frame(1, messages.open_spool(origin))


def points(number: int, block: Block) -> bytes:
    """Return one frame with all points of the block."""
    columns = list(block.values.values())
    steps = [float(step) for step in block.steps]
    times = [round(1e6 * time) for time in block.times]
    return frame(number, messages.points(list(block.values), steps, times, columns))


def compress(frames: bytes) -> bytes:
    """Compress a body; by a compressor of its own, as threads cannot share one."""
    return zstandard.ZstdCompressor(COMPRESSION_LEVEL).compress(frames)


def frame(number: int, message: bytes) -> bytes:
    return Frame(number, messages.payload([message])).to_bytes()
