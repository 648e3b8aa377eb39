"""What the agent costs: `python -m benchmarks.agent`, with the server's settings or none."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

IMPORT_RUNS = 20
STEPS = 5_000
STEP_SECONDS = 0.001
SAMPLED_SECONDS = 20.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("SEAMARK_SPOOL", folder)
        os.environ.setdefault("SEAMARK_MODE", "offline")
        bare, imported = (_milliseconds(code) for code in ("pass", "import agent"))
        print(f"python -c pass            {bare:8.1f} ms (median of {IMPORT_RUNS})")
        print(
            f"python -c 'import agent'  {imported:8.1f} ms, {imported - bare:.1f} more"
        )
        _measure_run()


def _milliseconds(code: str) -> float:
    times = []
    for _ in range(IMPORT_RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def _measure_run() -> None:
    import agent  # noqa: PLC0415 - its import is what was measured above

    began = time.perf_counter()
    run = agent.init("benchmark")
    print(f"init                      {1000 * (time.perf_counter() - began):8.1f} ms")

    for points in (1, 20):
        median, slow = _append_microseconds(run, points)
        print(
            f"append, {points:2} per step       {median:8.2f} µs a point at the median, "
            f"{slow:.2f} at p99"
        )

    session = run._session  # noqa: SLF001 - what the agent itself says is what is asked
    assert session is not None
    before, began = session.cpu_seconds(), time.perf_counter()
    time.sleep(SAMPLED_SECONDS)
    share = (session.cpu_seconds() - before) / (time.perf_counter() - began)
    print(f"all threads, idle         {100 * share:8.2f} % of a core")

    began = time.perf_counter()
    run.finish()
    print(f"exit                      {1000 * (time.perf_counter() - began):8.1f} ms")


def _append_microseconds(run, points: int) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    names = [f"metric/{points}/{number}" for number in range(points)]
    times = []
    for step in range(STEPS):
        began = time.perf_counter_ns()
        for name in names:
            run[name].append(0.5, step)
        times.append((time.perf_counter_ns() - began) / 1000 / points)
        time.sleep(STEP_SECONDS)
    times.sort()
    return times[len(times) // 2], times[len(times) * 99 // 100]


if __name__ == "__main__":
    main()
