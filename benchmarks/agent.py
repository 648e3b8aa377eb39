"""Measures the agent's cost for its script: `python -m benchmarks.agent`.

Offline, without a server. Calls are timed one by one, with a pause after each like that
of a training step; the table also has the cost of basic operations on the machine.
"""

from __future__ import annotations

import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial

IMPORT_RUNS = 20
STEPS = 3_000
PAUSE_SECONDS = 0.001
WIDTHS = (1, 20, 1_000)
FLOOD_POINTS = 1_000_000
SAMPLED_SECONDS = 20.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("SEAMARK_SPOOL", folder)
        os.environ.setdefault("SEAMARK_MODE", "offline")
        bare, imported = (_milliseconds(code) for code in ("pass", "import agent"))
        _say("python -c pass", f"{bare:.1f} ms (median of {IMPORT_RUNS})")
        _say("python -c 'import agent'", f"{imported - bare:.1f} ms more")
        _measure_machine(folder)
        _measure_run()


def _milliseconds(code: str) -> float:
    times = []
    for _ in range(IMPORT_RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def _measure_machine(folder: str) -> None:
    """Time lower bounds of a call: a list, a buffer, a system call."""
    row = struct.Struct("<QQqd20dQ")
    numbers = (1, 1, 1, 1.0, *([0.5] * 20), 1)
    packed = row.pack(*numbers)
    memory = bytearray(row.size)
    kept: list[object] = []
    file = os.open(f"{folder}/rows", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for name, call in {
        "a dictionary put into a list": partial(kept.append, {"a": 0.5}),
        "a row of 20 put into memory": partial(row.pack_into, memory, 0, *numbers),
        "a row of 20 put into a file": partial(os.write, file, packed),
    }.items():
        _say(name, _quantiles(_timed(call), 1))
    os.close(file)


def _measure_run() -> None:
    import agent  # noqa: PLC0415 - its import is what was measured above

    began = time.perf_counter()
    run = agent.init("benchmark")
    _say("init", f"{1000 * (time.perf_counter() - began):.1f} ms")

    for width in WIDTHS:
        data = {f"logged/{width}/{number}": 0.5 for number in range(width)}
        times = _timed(partial(run.log, data, 1))
        _say(f"log, {width:,} per step", _quantiles(times, width))
    _say("append", _quantiles(_timed(partial(run["appended"].append, 0.5, 1)), 1))
    _measure_flood(run)

    session = run._session  # noqa: SLF001 - what the agent itself says is what is asked
    assert session is not None
    before, began = session.cpu_seconds(), time.perf_counter()
    time.sleep(SAMPLED_SECONDS)
    share = (session.cpu_seconds() - before) / (time.perf_counter() - began)
    _say("all threads, nothing logged", f"{100 * share:.2f} % of a core")

    began = time.perf_counter()
    run.finish()
    _say("exit", f"{1000 * (time.perf_counter() - began):.1f} ms")


def _measure_flood(run) -> None:  # type: ignore[no-untyped-def]
    """Log without a pause, until all of it is in the spool."""
    data = {f"flood/{number}": 0.5 for number in range(20)}
    cpu, memory = time.process_time(), _most_mebibytes()
    spool = run._session._spool  # noqa: SLF001 - as above
    frames = spool.written
    began = time.perf_counter()
    for step in range(FLOOD_POINTS // len(data)):
        run.log(data, step)
    called = time.perf_counter() - began
    while not run._session.is_all_written:  # noqa: SLF001 - nothing else knows
        time.sleep(0.01)
    spent = time.process_time() - cpu
    million = FLOOD_POINTS / 1e6
    _say("log, 20 per step, no pause", f"{called / million:.3f} µs a point")
    _say("  of processor, with threads", f"{spent / million:.3f} µs a point")
    _say(
        "  of memory", f"{_most_mebibytes() - memory:.1f} MiB for {million:.0f} million"
    )
    _say("  in a frame", f"{FLOOD_POINTS // (spool.written - frames):,} points")
    _say("  dropped", f"{run._recorder.buffer.take_dropped():,} points")  # noqa: SLF001


def _timed(call: Callable[[], object]) -> list[float]:
    """Return how many microseconds each call took, in order of length."""
    call()
    times = []
    for _ in range(STEPS):
        began = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - began) / 1_000)
        time.sleep(PAUSE_SECONDS)
    return sorted(times)


def _quantiles(times: Sequence[float], points: int) -> str:
    middle, slow = (times[len(times) * part // 100] for part in (50, 99))
    of_each = f"; a point {middle / points:.3f}, {slow / points:.3f}"
    return f"{middle:.2f} µs at the median, {slow:.2f} at p99{of_each if points > 1 else ''}"


def _most_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _say(name: str, figure: str) -> None:
    print(f"{name:30} {figure}", flush=True)


if __name__ == "__main__":
    main()
