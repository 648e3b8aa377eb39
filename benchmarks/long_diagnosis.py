"""Measures the diagnosis of a long stage: 24 hours of 8 GPUs, all metrics once a second.

    python -m benchmarks.long_diagnosis
    python -m benchmarks.long_diagnosis --hours 1 --database PostgreSQL

The values are those of a recorded job on one GPU, repeated in random order; each GPU has all of
its metrics, and each second one step with its phases. Prints how long the diagnosis of the
stage takes; asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks import database
from benchmarks.pages.installation import prepare

parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
parser.add_argument("--hours", type=float, default=24.0)
parser.add_argument("--gpus", type=int, default=8)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--folder", type=Path, help="where SQLite's file goes")
database.add_option(parser)

# Settings read the environment when Django loads, below.
OPTIONS = parser.parse_args()
database.start()
prepare(OPTIONS.folder)

from evaluation.recordings import HERE, read_recording  # noqa: E402
from tests.builders import (  # noqa: E402
    START,
    Message,
    Process,
    close_message,
    make_member,
    make_project,
)
from tracker.actions.diagnoses.diagnoses import diagnose_run  # noqa: E402
from tracker.models import Finding, Run  # noqa: E402
from tracker.series.compaction import compact_run, needs_compaction  # noqa: E402

RECORDING = HERE / "tune/gpu/recordings/ocean-forecast-alone.msgpack.zst"
STAGE, FIRST_GPU = "monitoring/main/", "/gpu/0/"
SECOND = 1_000_000
ROWS = 300  # of one message; a frame has at most 4 MiB


def main() -> None:
    began = time.monotonic()
    run, points = store()
    print(f"{points:,} points stored in {time.monotonic() - began:.0f} s")
    began = time.monotonic()
    while needs_compaction(run.id):
        compact_run(run.id)
    print(f"compacted in {time.monotonic() - began:.0f} s")
    taken = []
    for _ in range(OPTIONS.rounds):
        began = time.monotonic()
        diagnose_run(run.id)
        taken.append(time.monotonic() - began)
    found = Finding.objects.filter(run=run, is_open=True).count()
    print(
        f"{OPTIONS.hours:g} h, {OPTIONS.gpus} GPUs: diagnosis {statistics.median(taken):.2f} s"
        f" (median of {len(taken)}; {min(taken):.2f} to {max(taken):.2f}),"
        f" {found} findings, {os.cpu_count()} cores"
    )


def store() -> tuple[Run, int]:
    """Send a run's data like an agent, and return it with its number of points."""
    messages = list(recorded())
    series = {
        copy: values
        for path, values in series_of(messages).items()
        for copy in copies(path)
    }
    project = make_project(make_member("bench"))
    process = Process(project, "long", stage="main")
    facts = [
        {**message, "path": path}
        for message in messages
        if message["t"] == "set"
        for path in copies(message["path"])
    ]
    process.send([process.opening], facts)
    random = np.random.default_rng(0)
    seconds = int(OPTIONS.hours * 3_600)
    paths = list(series)
    for first in range(0, seconds, ROWS):
        numbers = np.arange(first, min(first + ROWS, seconds))
        columns = [random.choice(series[path], len(numbers)) for path in paths]
        process.send(
            [
                {
                    "t": "points",
                    "paths": paths,
                    "steps": numbers.astype("<f8").tobytes(),
                    "times": (START + numbers * SECOND).astype("<i8").tobytes(),
                    "values": np.stack(columns).astype("<f8").tobytes(),
                }
            ]
        )
    process.send([close_message(time=START + seconds * SECOND)])
    return process.run, len(paths) * seconds


def recorded() -> Iterator[Message]:
    for frames in read_recording(RECORDING).spools:
        for _, payload in frames:
            yield from msgspec.msgpack.decode(payload)


def series_of(messages: Sequence[Message]) -> Mapping[str, np.ndarray[Any, Any]]:
    """Return the finite values of each series of the stage's monitoring."""
    found = defaultdict(list)
    for message in messages:
        if message["t"] == "points":
            paths = message["paths"]
            columns = np.frombuffer(message["values"], "<f8").reshape(len(paths), -1)
            for path, column in zip(paths, columns, strict=True):
                found[path].append(column[np.isfinite(column)])
    joined = {path: np.concatenate(parts) for path, parts in found.items()}
    return {
        path: values
        for path, values in joined.items()
        if len(values) and path.startswith(STAGE)
    }


def copies(path: str) -> list[str]:
    """Return the path for each GPU, or the path alone if it is not one of a GPU."""
    if FIRST_GPU not in path:
        return [path]
    return [path.replace(FIRST_GPU, f"/gpu/{n}/") for n in range(OPTIONS.gpus)]


if __name__ == "__main__":
    main()
