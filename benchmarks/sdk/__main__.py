"""Measures the cost of a logging call in a loop: `python -m benchmarks.sdk`.

Prints a page of Markdown. Each system is offline, in its own environment and processes.
Exits with status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.ingest.environments import PEERS_FOLDER
from benchmarks.kills.case import commit
from benchmarks.sdk.entrants import (
    ENTRANTS,
    LOG_SECONDS,
    OURS,
    SITUATIONS,
    Result,
    measure,
    steps_of,
)
from benchmarks.sdk.goals import Verdict, goals_table, ring_words, verdicts
from benchmarks.sdk.measure import WARM_UP_STEPS
from benchmarks.sdk.tables import calls_table, client_table, notes, systems_table

STEPS = 10_000
KEYS = [entrant.key for entrant in ENTRANTS]


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    results = []
    with tempfile.TemporaryDirectory(prefix="sdk-") as scratch:
        for entrant in ENTRANTS:
            if options.systems and entrant.key not in options.systems:
                continue
            print(f"{entrant.label} …", file=sys.stderr, flush=True)
            results.append(
                measure(
                    entrant,
                    options.steps,
                    scratch=Path(scratch),
                    environments=options.folder,
                )
            )
    found = verdicts(results)
    print("\n".join(page(results, options.steps, found)))
    return 1 if any(one.holds is False for one in found) else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sdk", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(KEYS)}; or all"
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=STEPS,
        help=f"of the flood, and of {OURS}'s five times as many; the other situations"
        " have fewer",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=PEERS_FOLDER,
        help="where peers' environments lie",
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.systems) - set(KEYS):
        parser.error(f"no such system: {', '.join(sorted(unknown))}")
    if options.steps < 1:
        parser.error("at least one step")
    return options


def page(
    results: Sequence[Result], steps: int, found: Sequence[Verdict]
) -> Iterator[str]:
    ours = next(one for one in ENTRANTS if one.label == OURS)
    counts = ", ".join(
        f"{steps_of(ours, one, steps):,} ({one.label})" for one in SITUATIONS
    )
    yield "# What a logging call costs"
    yield ""
    yield "Printed by `python -m benchmarks.sdk`."
    yield f"{datetime.now(UTC):%d %B %Y}, {machine()}, commit {commit()}."
    yield ""
    yield f"Steps: {counts}, of which peers have {steps:,}; at most {LOG_SECONDS:.0f} s each."
    yield f"{WARM_UP_STEPS} steps before them do not count."
    yield "Each situation is a process of its own, which nothing else logs from; one more"
    yield "before them makes the files that later runs find there."
    yield "Nothing is sent over a network, and no client measures the hardware."
    yield ""
    if found:
        yield "## What it is to cost"
        yield ""
        yield ring_words(results)
        yield ""
        yield goals_table(found)
        yield ""
    yield "## What the loop waits for"
    yield ""
    yield "Microseconds a point of one step's call, at the median / at p99."
    yield "*nothing* is a function that returns at once: what measuring costs."
    yield "*Each 10 ms* the loop sleeps between its calls, and each finds a processor that"
    yield "has to wake up and memory that is cold; *after 10 ms of computing* it has"
    yield "multiplied matrices in the same thread, as a training that works."
    yield ""
    yield calls_table(results)
    yield ""
    yield "## What the whole client takes"
    yield ""
    yield "Processor time is that of the loop, the client's threads and its processes, from"
    yield "the first call until the run has ended and nothing more is done. The loop's own"
    yield "is in it, which is what *nothing* takes, mostly for its pauses."
    yield "Memory is how much more was resident after the flood than before, files mapped"
    yield "into memory included; what is logged was made before, so a client that keeps it"
    yield "in a queue shows less than it would. *import* and *init* are medians of all"
    yield "situations."
    yield ""
    yield client_table(results)
    if said := notes(results, steps):
        yield ""
        yield from said
    yield ""
    yield "## What is measured"
    yield ""
    yield systems_table(results)


def machine() -> str:
    python = platform.python_version()
    return f"{os.cpu_count()} cores, {platform.system()}, Python {python}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
