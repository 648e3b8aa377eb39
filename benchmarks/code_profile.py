"""Measures what the code profile costs a script, and whether its shares are true.

    python -m benchmarks.code_profile
    python -m benchmarks.code_profile --rounds 9

A script computes in one and in four threads, with the profile and without it in turns. Another
one alternates Python code, NumPy, JSON and waiting, and compares its own times of these parts
with their shares of the samples. Prints tables; asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

COST = """
import sys, threading, time
import agent

def compute():
    for _ in range({loops}):
        total = 0.0
        for value in range(10_000):
            total += (value * 7 % 13) ** 0.5

run = agent.init("cost")
run.log({{"loss": 1.0}})
run.log({{"loss": 1.0}})
time.sleep(1.0)
threads = [threading.Thread(target=compute) for _ in range({threads} - 1)]
began = time.process_time()
for thread in threads:
    thread.start()
compute()
for thread in threads:
    thread.join()
print(time.process_time() - began)
run.finish()
"""
TRUTH = """
import json, time
from collections import Counter
import numpy as np
import agent

numbers, matrix = list(range(20_000)), np.random.rand(220, 220)

def python_code():
    total = 0.0
    for value in range(20_000):
        total += (value * 7 % 13) ** 0.5

def numpy_code():
    for _ in range(3):
        matrix @ matrix

def json_code():
    json.dumps(numbers)

def waiting():
    time.sleep(0.003)

run = agent.init("truth")
seconds = Counter()
end = time.monotonic() + {seconds}
while time.monotonic() < end:
    for part in (python_code, numpy_code, json_code, waiting):
        began = time.perf_counter()
        part()
        seconds[part.__name__] += time.perf_counter() - began
    run.log({{"loss": 1.0}})
print(json.dumps(seconds))
run.finish()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0, help="for the shares")
    options = parser.parse_args()
    _print_costs(options.rounds)
    _print_shares(options.seconds)


def _print_costs(rounds: int) -> None:
    print("| threads | CPU seconds without | with the profile | ratio |")
    print("|---|--:|--:|--:|")
    for threads in (1, 4):
        script = COST.format(threads=threads, loops=2_000 // threads)
        taken: dict[str, list[float]] = {"no": [], "yes": []}
        for _ in range(rounds):
            for profile, found in taken.items():
                with tempfile.TemporaryDirectory() as folder:
                    found.append(float(_run(script, profile, Path(folder))))
        without, having = median(taken["no"]), median(taken["yes"])
        print(
            f"| {threads} | {without:.3f} | {having:.3f} | {having / without:.3f} |",
            flush=True,
        )


def _print_shares(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        printed = _run(TRUTH.format(seconds=seconds), "yes", Path(folder))
        samples = _samples(Path(folder))
    times = json.loads(printed)
    whole, counted = sum(times.values()), sum(samples.get(name, 0) for name in times)
    print("\n| part | share of the time | share of the samples |")
    print("|---|--:|--:|")
    for name, spent in times.items():
        share = samples.get(name, 0) / max(1, counted)
        print(f"| {name} | {spent / whole:.1%} | {share:.1%} |")
    print(f"\n{counted:,} samples in {seconds:g} s")


def _run(script: str, profile: str, folder: Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "SEAMARK_PROFILE": profile,
        "SEAMARK_MODE": "offline",
        "SEAMARK_SPOOL": str(folder),
    }
    file = folder / "script.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, file],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def _samples(folder: Path) -> dict[str, int]:
    """Return the samples of each function of the script."""
    # Here: it loads Django, which the help does not need.
    import msgspec  # noqa: PLC0415

    from evaluation.recordings import frames_of  # noqa: PLC0415
    from tracker.diagnosis.analysis.code_profile import STEPS, parse_profile  # noqa: PLC0415

    texts = [
        message["value"]
        for frames in frames_of(folder)
        for _, payload in frames
        for message in msgspec.msgpack.decode(payload)
        if str(message.get("path", "")).endswith("/facts/code_profile")
    ]
    found: dict[str, int] = {}
    tree = parse_profile(texts[-1])[STEPS]
    for position, node in enumerate(tree.nodes):
        for each in tree.stack(position)[1:2]:
            found[each.function] = found.get(each.function, 0) + node.samples
    return found


if __name__ == "__main__":
    main()
