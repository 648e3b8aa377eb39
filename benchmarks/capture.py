"""Measures the cost of capture for the script: `python -m benchmarks.capture`.

Offline, without a server. Each figure is measured in its own processes, alternating
with and without capture, and is the best of several: other programs only make it
slower.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from seamark.queue.spool_reader import find_spools

ROUNDS = 7
LINE = "epoch 12 step 345600: loss 0.4123, accuracy 0.9134, 12.3 it/s"

INIT = """
import time
began = time.perf_counter()
import agent
imported = time.perf_counter()
run = agent.init("r", monitor=False)
took = time.perf_counter() - imported
print((imported - began) * 1e3, took * 1e3, time.thread_time() * 1e3)
"""
# As many lines as a quarter of a second's look takes, with pauses between.
LINES = f"""
import sys, time, agent
sys.stdout = open({os.devnull!r}, "w", buffering={{buffering}})
run = agent.init("r", monitor=False)
time.sleep(1)
times = []
for _ in range(8):
    began = time.perf_counter()
    for _ in range(100): print({LINE!r})
    times.append((time.perf_counter() - began) / 100)
    time.sleep(0.3)
sys.__stdout__.write(str(min(times) * 1e6))
"""
FLOOD = f"""
import sys, time, agent
piece = ({LINE!r} + "\\n") * 1000
out = open({os.devnull!r}, "w")
sys.stdout = out
run = agent.init("r", monitor=False)
time.sleep(1)
began = time.perf_counter()
count = 500_000_000 // len(piece)
for _ in range(count): out.write(piece)
sys.__stdout__.write(str(count * len(piece) / 1e6 / (time.perf_counter() - began)))
"""
# Lines at a rate at which all are stored: the CPU time of all threads.
STORED = f"""
import sys, time, agent
sys.stdout = open({os.devnull!r}, "w")
run = agent.init("r", monitor=False)
time.sleep(1)
began = time.process_time()
for _ in range(40):
    for step in range(200): print({LINE!r}, step)
    time.sleep(0.05)
run.finish()
sys.__stdout__.write(str((time.process_time() - began) / 8000 * 1e6))
"""
TQDM = """
import agent, sys, time
run = agent.init("r", monitor=False, capture={"console"})
writes = 0
class Counted:
    def __init__(self, stream): self.stream = stream
    def write(self, text):
        global writes
        writes += 1
        return self.stream.write(text)
    def flush(self): self.stream.flush()
from tqdm import tqdm
file = Counted(sys.stderr)
for epoch in tqdm(range(3), file=file, position=0):
    for step in tqdm(range(1500), file=file, position=1, leave=False, mininterval=0.01):
        time.sleep(0.005)
print(writes)
"""


def main() -> None:
    _say_init()
    for name, buffering in (("a line to a buffer", -1), ("a line at once", 1)):
        off, on = _both(LINES.format(buffering=buffering), rounds=5, best=min)
        _say(f"print, {name}", f"{off:.2f} µs; captured {on:.2f} µs")
    off, on = _both(FLOOD, rounds=5, best=max)
    _say("a flood, pieces of 62 KB", f"{off:,.0f} MB/s; captured {on:,.0f} MB/s")
    off, on = _both(STORED, rounds=5, best=min)
    _say("CPU of all threads, a line", f"{off:.1f} µs; captured and stored {on:.1f} µs")
    _say_tqdm()


def _say_init() -> None:
    """Time import and init() themselves, and the main thread from start to there."""
    for capture in ("no", "yes"):
        figures = [_numbers(INIT, capture) for _ in range(ROUNDS)]
        columns = list(zip(*figures, strict=True))
        imported, init, thread = (min(column) for column in columns)
        _say(
            f"capture {capture}",
            f"import agent {imported:.1f} ms, agent.init() {init:.1f} ms "
            f"(median {statistics.median(columns[1]):.1f}), "
            f"CPU of the main thread until then {thread:.1f} ms",
        )


def _both(
    script: str, *, rounds: int, best: Callable[[list[float]], float]
) -> tuple[float, float]:
    """Return the best without and with capturing, taken by turns."""
    taken: dict[str, list[float]] = {"no": [], "console": []}
    for _ in range(rounds):
        for capture, figures in taken.items():
            figures.append(_numbers(script, capture)[0])
    return best(taken["no"]), best(taken["console"])


def _numbers(script: str, capture: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        return [*map(float, _run(script, capture, folder).stdout.split())]


def _run(script: str, capture: str, folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={
            **os.environ,
            "SEAMARK_SPOOL": folder,
            "SEAMARK_MODE": "offline",
            "SEAMARK_CAPTURE": capture,
        },
        capture_output=True,
        text=True,
        check=True,
    )


def _say_tqdm() -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended = _run(TQDM, "console", folder)
        except subprocess.CalledProcessError:
            _say("nested bars of tqdm", "not measured: install tqdm")
            return
        stored = 0
        for spool in find_spools(Path(folder)):
            for frame in spool.frames_from(1, most_bytes=1 << 30):
                for message in msgspec.msgpack.decode(frame.payload):
                    is_error = str(message.get("path")).endswith("/stderr")
                    if message["t"] == "records" and is_error:
                        stored += len(message["steps"]) // 8
    writes = json.loads(ended.stdout.split()[0])
    _say("nested bars of tqdm", f"{writes:,} writes in, {stored} lines stored")


def _say(what: str, figure: str) -> None:
    print(f"{what:<36} {figure}")


if __name__ == "__main__":
    main()
