"""Measures the cost of hardware monitoring: `python -m benchmarks.monitoring`.

First each probe alone, and for GPUs each driver query; then all probes together, once a
second, in a run that logs and sends nothing else: without monitoring, with it, and with
it next to eight loader workers. CPU time is that of threads, so other programs hardly
change it. The cost of monitoring is the CPU time of all agent threads, including
writes, minus that of a run without monitoring. Exits with status 1 if it exceeds the
limit.

`--gpus 8` uses a test double as the driver behind NVIDIA's binding; its Python code is
part of the figures, which are therefore too high.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.load.table import Bound

TURNS = 30
PAUSE_SECONDS = 0.3
WATCHED_SECONDS = 30.0
# Shares of a core: for a host without GPUs, and in addition per GPU.
HOST_SHARE, GPU_SHARE = 0.003, 0.005
# As many as a DataLoader usually has; each loads an example now and then, and shares
# memory with the others, as forks do.
WORKERS, SHARED_BYTES = 8, 200 * 1024 * 1024
WORK_TIMES, REST_SECONDS = 2_000, 0.05
# Imports and first looks are over by then.
START_SECONDS = 5.0
# Queries are repeated so much later that none is skipped.
LATER_SECONDS = 1_000.0

WITHOUT = "no monitoring"


@dataclass(frozen=True, slots=True)
class Taken:
    """CPU use of a run's threads, as shares of a core."""

    words: str
    series: int
    kinds: int
    sampling: float
    everything: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", type=int, default=0, help="GPUs of a made-up driver")
    parser.add_argument("--seconds", type=float, default=WATCHED_SECONDS)
    parser.add_argument("--turns", type=int, default=TURNS, help="of each probe")
    chosen = parser.parse_args()
    if chosen.gpus:
        _install_driver(chosen.gpus)
    values, microseconds = 0, 0.0
    print("| probe | values | µs a turn, median | p95 |\n|---|---|---|---|")
    for name, count, costs in _probe_costs(chosen.turns):
        middle, slow = statistics.median(costs), costs[len(costs) * 95 // 100]
        print(f"| {name} | {count} | {middle:.0f} | {slow:.0f} |", flush=True)
        values, microseconds = values + count, microseconds + middle
    print(f"| together | {values} | {microseconds:.0f} | |\n")
    _print_calls()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(SEAMARK_SPOOL=folder, SEAMARK_MODE="offline")
        found = [
            _measured(WITHOUT, chosen.seconds, monitors=False),
            _measured("monitoring", chosen.seconds),
            _measured_beside_workers(chosen.seconds),
        ]
    bounds = bounds_of(found, _gpu_count())
    print(table(found, bounds))
    return 1 if any(bound.holds is False for bound in bounds) else 0


def _print_calls() -> None:
    """Print the cost of each query to NVIDIA's driver, if there is one."""
    from seamark.probes.nvml import NvmlProbe  # noqa: PLC0415 - after the driver
    from seamark.probes.probe import Job, ProbeUnavailable  # noqa: PLC0415

    try:
        probe = NvmlProbe.of(Job())
    except ProbeUnavailable:
        return
    print("| question to the driver | every | µs of a core | µs waited | of a core |")
    print("|---|---|---|---|---|")
    together, gpus = 0.0, 0
    for turn in range(TURNS):
        # So that no query is skipped because another has its result.
        probe.sample(turn * LATER_SECONDS)
    for gpu, call in probe.calls():
        gpus = max(gpus, gpu + 1)
        cost = call.typical
        if cost is None:
            continue
        share = cost.cpu / call.seconds
        together += share
        # One card is enough: all have the same queries.
        if gpu == 0:
            print(
                f"| {call.name} | {call.seconds:g} s | {1e6 * cost.cpu:.0f}"
                f" | {1e6 * cost.waited:.0f} | {100 * share:.4f} % |"
            )
    probe.close()
    if gpus:
        print(f"| of each of {gpus} GPUs | | | | {100 * together / gpus:.3f} % |\n")


def _gpu_count() -> int:
    from seamark.probes.nvml import NvmlProbe  # noqa: PLC0415 - after the driver
    from seamark.probes.probe import Job, ProbeUnavailable  # noqa: PLC0415

    try:
        probe = NvmlProbe.of(Job())
    except ProbeUnavailable:
        return 0
    count = probe.facts().get("facts/gpu_count")
    probe.close()
    return count if isinstance(count, int) else 0


def bounds_of(found: Sequence[Taken], gpus: int) -> list[Bound]:
    """Compare runs with monitoring to one without, and return the bounds (pure)."""
    without, *others = found
    most = HOST_SHARE + gpus * GPU_SHARE
    words = f"≤ {100 * most:.1f} % with {gpus} GPUs"
    return [
        Bound("", None),
        *(Bound(words, one.everything - without.everything <= most) for one in others),
    ]


def table(found: Sequence[Taken], bounds: Sequence[Bound]) -> str:
    """Return the CPU use of each run as Markdown (pure)."""
    lines = [
        "| a run with | series | kinds | threads that sample | all of the agent's"
        " threads | of these more than without | bound | holds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one, bound in zip(found, bounds, strict=True):
        more = 100 * (one.everything - found[0].everything)
        is_first = one is found[0]
        cells = [
            one.words,
            str(one.series),
            str(one.kinds),
            f"{100 * one.sampling:.3f} %",
            f"{100 * one.everything:.3f} %",
            "" if is_first else f"{more:.3f} %",
            bound.words,
            "" if is_first else "yes" if bound.holds else "**no**",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _probe_costs(turns: int) -> Iterator[tuple[str, int, list[float]]]:
    """Yield each probe's name, number of values, and turn durations."""
    from seamark.probes.listing import probe_classes  # noqa: PLC0415 - after the driver
    from seamark.probes.probe import Job, ProbeUnavailable  # noqa: PLC0415

    for make in probe_classes():
        try:
            probe = make.of(Job())
        except ProbeUnavailable:
            continue
        # It waits, in a thread of its own, and has values only when there are errors.
        times = min(turns, 3) if make.name == "nvml_events" else turns
        costs, paths = [], set[str]()
        for _ in range(times):
            began = time.thread_time_ns()
            readings = probe.sample(time.monotonic())
            costs.append((time.thread_time_ns() - began) / 1_000)
            paths |= readings.keys()
            time.sleep(PAUSE_SECONDS)
        probe.close()
        yield make.name, len(paths), sorted(costs)


def _measured(words: str, seconds: float, *, monitors: bool = True) -> Taken:
    """Return the CPU use of a run's threads, with monitoring only."""
    import agent  # noqa: PLC0415 - reads the environment
    from seamark.probes.reading import pattern_of  # noqa: PLC0415

    run = agent.init(f"benchmark, {words}", monitor=monitors)
    session = run._session  # noqa: SLF001 - what the agent itself says is what is asked
    assert session is not None
    sampler = session._sampler  # noqa: SLF001 - likewise
    time.sleep(START_SECONDS)
    before, began = session.cpu_seconds(), time.monotonic()
    sampled = sampler.cpu_seconds if sampler else 0.0
    time.sleep(seconds)
    took = time.monotonic() - began
    everything = (session.cpu_seconds() - before) / took
    sampling = (sampler.cpu_seconds - sampled) / took if sampler else 0.0
    paths = run._recorder._kinds.paths  # noqa: SLF001 - likewise
    run.finish()
    return Taken(
        words,
        len(paths),
        len({pattern_of(path) for path in paths}),
        sampling,
        everything,
    )


def _measured_beside_workers(seconds: float) -> Taken:
    with workers(WORKERS):
        return _measured(f"monitoring, {WORKERS} loader workers at work", seconds)


@contextmanager
def workers(count: int) -> Iterator[None]:
    """Let forks of this process load examples, as those of a DataLoader do."""
    shared = bytearray(os.urandom(1)) * SHARED_BYTES
    context = multiprocessing.get_context("fork")
    started = [
        context.Process(target=_load, args=(shared,), daemon=True) for _ in range(count)
    ]
    for one in started:
        one.start()
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.join()


def _load(shared: bytearray) -> None:
    while True:
        sum(shared[:: len(shared) // WORK_TIMES])
        time.sleep(REST_SECONDS)


def _install_driver(gpus: int) -> None:
    import pynvml  # noqa: PLC0415 - only where it is asked for

    from tests.agent.probes.nvml_double import BY_LINK, Card, NvmlDouble  # noqa: PLC0415

    every_field = dict.fromkeys(range(1, pynvml.NVML_FI_MAX), 1)
    every_metric = dict.fromkeys(range(1, pynvml.NVML_GPM_METRIC_MAX), 1.0)
    links = {(number, link): 1 for number in BY_LINK for link in range(18)}
    cards = [
        Card(fields=every_field, links=links, gpm=every_metric) for _ in range(gpus)
    ]
    pynvml.nvmlLib = NvmlDouble(*cards)


if __name__ == "__main__":
    sys.exit(main())
