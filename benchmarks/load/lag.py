"""Lag of compaction while clients log, measured in a process next to the server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile

from benchmarks.load.figures import percentile
from tracker.embedded.parent import die_with
from tracker.server.processes import ROOT

WATCH = """
import time
import django
django.setup()
from tracker.queries.backlog import read_backlog
while True:
    backlog = read_backlog()
    print(backlog.points, backlog.seconds, flush=True)
    time.sleep(0.5)
"""


@dataclass(slots=True)
class Lag:
    """Size of the journal at each sample, and the age of its oldest entry."""

    points: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.points:
            return "journal: not looked at"
        return (
            f"journal: at most {max(self.points):,} points,"
            f" the oldest {percentile(self.seconds, 50):.1f} s old at the median,"
            f" {max(self.seconds):.1f} s at most"
        )


@contextmanager
def watched(environment: Mapping[str, str]) -> Iterator[Lag]:
    """Look at the journal until the block ends; then the figures are there."""
    lag, parent_id = Lag(), os.getpid()
    with TemporaryFile("w+") as told:
        process = subprocess.Popen(
            [sys.executable, "-c", WATCH],
            env=dict(environment),
            cwd=ROOT,
            stdout=told,
            preexec_fn=lambda: die_with(parent_id),  # noqa: PLW1509 - no threads yet
        )
        try:
            yield lag
        finally:
            process.kill()
            process.wait()
            told.seek(0)
            for line in told.read().splitlines():
                points, _, seconds = line.partition(" ")
                lag.points.append(int(points))
                lag.seconds.append(float(seconds))
