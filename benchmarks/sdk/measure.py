"""Logs one run with one client in this process, and measures the cost.

`python -m benchmarks.sdk.measure <client> <job>` prints a line of JSON. It runs in
the peer's environment, so it needs only the standard library and the peer.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.sdk import usage
from benchmarks.sdk.client import Client, Metrics
from benchmarks.sdk.outcome import Outcome

# The first calls create series, threads and files.
WARM_UP_STEPS = 10
# Size of the matrices that a computing step multiplies.
SIDE = 192


def main() -> None:
    name, job = sys.argv[1:]
    # Clients' output must not mix with the answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    usage.adopt_orphans()
    module = importlib.import_module(f"benchmarks.sdk.systems.{name}")
    outcome = measure(module.CLIENT, **json.loads(job))
    print(json.dumps(asdict(outcome)), file=answers)
    answers.close()


def measure(
    kind: type[Client],
    *,
    run: str,
    folder: str,
    width: int,
    steps: int,
    pause: float,
    period: float,
    compute: float,
    seconds: float,
) -> Outcome:
    """Log up to so many steps in so many seconds; all times are in seconds.

    With a `period` a step begins each so often, with a `pause` so long after the last;
    with `compute` it multiplies matrices for about so long before it logs.
    """
    os.environ.update(kind.environment)
    os.chdir(folder)
    client = kind(Path(folder))

    began = time.perf_counter()
    client.load()
    imported = time.perf_counter() - began
    began = time.perf_counter()
    client.open(run)
    opened = time.perf_counter() - began

    rows = [
        client.prepare(metrics, step)
        for step, metrics in enumerate(_metrics(width, WARM_UP_STEPS + steps))
    ]
    for step in range(WARM_UP_STEPS):
        client.log(rows[step], step)
    work = _work(compute)
    usage.wait_until_quiet()

    memory, processor = usage.resident_bytes(), usage.processor_seconds()
    calls = _log(client, rows, work, pause=pause, period=period, seconds=seconds)
    memory = usage.resident_bytes() - memory
    began = time.perf_counter()
    client.close()
    closed = time.perf_counter() - began
    is_quiet = usage.wait_until_quiet()
    processor = usage.processor_seconds() - processor

    return Outcome(
        release=_release(kind.package),
        writing=kind.writing,
        imported=imported,
        opened=opened,
        closed=closed,
        width=width,
        calls=calls,
        processor=processor,
        memory=memory,
        dropped=client.dropped(),
        has_ring=client.has_ring(),
        beside_ring=client.beside_ring(),
        is_quiet=is_quiet,
    )


def _metrics(width: int, steps: int) -> Iterator[Metrics]:
    """Yield metrics with values that repeat as rarely as in real training."""
    source = random.Random(0)
    names = [f"train/metric-{number}" for number in range(width)]
    for _ in range(steps):
        yield {name: source.random() for name in names}


def _work(seconds: float) -> Callable[[], object] | None:
    """Return a function that computes for about this time, like a training step."""
    if not seconds:
        return None
    # Imported late: trackers import it, too, and that is theirs to pay.
    import numpy as np  # noqa: PLC0415

    weights = np.random.default_rng(0).random((SIDE, SIDE))

    def compute(times: int) -> None:
        for _ in range(times):
            weights @ weights

    compute(20)
    began = time.perf_counter()
    compute(100)
    times = max(1, round(100 * seconds / (time.perf_counter() - began)))
    return lambda: compute(times)


def _log(
    client: Client,
    rows: list[Any],
    work: Callable[[], object] | None,
    *,
    pause: float,
    period: float,
    seconds: float,
) -> list[int]:
    """Return how many nanoseconds each call took."""
    log, clock = client.log, time.perf_counter_ns
    calls = []
    first = due = time.monotonic()
    for step in range(WARM_UP_STEPS, len(rows)):
        row = rows[step]
        if work is not None:
            work()
        began = clock()
        log(row, step)
        calls.append(clock() - began)
        if pause:
            time.sleep(pause)
        elif period:
            # Late steps are not caught up.
            due = max(due + period, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
        if time.monotonic() - first > seconds:
            break
    return calls


def _release(package: str) -> str:
    # Imported late: trackers import it, too, and that is theirs to pay.
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version(package) if package else ""
    except PackageNotFoundError:
        # Seamark runs from its checkout.
        return "this checkout"


if __name__ == "__main__":
    main()
