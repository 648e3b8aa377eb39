"""CF-01: a training script is killed at any time; measures the lost calls."""

from __future__ import annotations

import mmap
import random
import statistics
import struct
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.proxy import eventually
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.case import SEED
from tests.agent.tracker_double import TrackerDouble

SHORTEST_SECONDS, LONGEST_SECONDS = 0.1, 20.0
# The guarantee for records other than points: calls before this many seconds.
PROMISED_SECONDS = 1.0
AT_ONCE = 10
MAX_CALLS = 40_000
MOMENT = struct.Struct("<d")
# Puts when each call has returned into memory that outlives it.
SCRIPT = """
import mmap, struct, sys, time
import agent
with open(sys.argv[1], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
run = agent.init("r", monitor=False)
step = 0
while True:
    run["counter"].append(step, step=step)
    struct.pack_into("<d", memory, 16 * step, time.monotonic())
    run["said"].append(f"line {step}", step=step)
    struct.pack_into("<d", memory, 16 * step + 8, time.monotonic())
    step += 1
    time.sleep(0.001)
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """Stored data of one series of a killed script, compared with its calls."""

    logged: int
    # Calls that had returned.
    lost: int
    # From the first call that is lost to the end.
    window: float
    # Calls that had returned longer ago than the guaranteed time.
    lost_of_promised: int
    doubled: int
    gaps: int


def killed(size: Size, longest: float = LONGEST_SECONDS) -> list[Found]:
    """Kill scripts that log a counter and a text at 1 kHz, and deliver their spools."""
    chance = random.Random(SEED)
    points: list[Kept] = []
    texts: list[Kept] = []
    for first in range(0, size.amount, AT_ONCE):
        scripts = [
            Script(size.folder / f"killed{number}")
            for number in range(first, min(size.amount, first + AT_ONCE))
        ]
        for script in scripts:
            eventually(script.has_begun)
        moments = sorted(
            (chance.uniform(SHORTEST_SECONDS, longest), number)
            for number in range(len(scripts))
        )
        began = time.monotonic()
        for seconds, number in moments:
            time.sleep(max(0.0, began + seconds - time.monotonic()))
            scripts[number].kill()
        for script in scripts:
            point, text = script.kept()
            points.append(point)
            texts.append(text)
    done = f"SIGKILL after {SHORTEST_SECONDS} to {longest:g} s of logging at 1 kHz, {size.amount} times"
    return [
        of_series(f"{done}: points", points, promised=0.0),
        of_series(f"{done}: lines of text", texts, promised=PROMISED_SECONDS),
    ]


def of_series(done: str, kept: list[Kept], *, promised: float) -> Found:
    windows = [one.window for one in kept]
    lost = sum(one.lost for one in kept)
    bounds = [
        none_of("gaps", sum(one.gaps for one in kept)),
        none_of("doubled", sum(one.doubled for one in kept)),
    ]
    if promised:
        of_promised = sum(one.lost_of_promised for one in kept)
        words = f"lost of calls that returned {promised:g} s before or earlier"
        bounds += [
            # A busy machine makes threads wait.
            replace(none_of(words, of_promised), is_pace=True),
            at_most("lost window", max(windows), promised, "s"),
        ]
    else:
        bounds.append(none_of("lost of calls that returned", lost))
    return Found(
        done,
        [
            f"{sum(one.logged for one in kept):,} calls, {lost:,} lost",
            f"lost window {statistics.median(windows):.3f} s at the median,"
            f" {max(windows):.3f} s at most",
        ],
        bounds,
    )


class Script:
    """One that logs until it is killed, and the server that it logs to."""

    def __init__(self, folder: Path) -> None:
        self._tracker = TrackerDouble()
        self._place = Place(folder, self._tracker.url)
        said = folder / "returned"
        said.write_bytes(bytes(2 * MOMENT.size * MAX_CALLS))
        with said.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        self._process: subprocess.Popen[str] = self._place.start(SCRIPT, str(said))
        self._killed_at = 0.0

    def has_begun(self) -> bool:
        return bool(self._returned_at(0, 1))

    def kill(self) -> None:
        self._process.kill()
        self._killed_at = time.monotonic()
        self._process.communicate()

    def kept(self) -> tuple[Kept, Kept]:
        """Deliver the spool; return the stored points and texts."""
        self._place.sync()
        lines = [int(line.rpartition(" ")[2]) for line in self._tracker.texts("said")]
        found = self._kept(0, self._tracker.steps("counter")), self._kept(1, lines)
        self._tracker.stop()
        return found

    def _kept(self, part: int, stored: list[int]) -> Kept:
        moments = []
        while moment := self._returned_at(part, len(moments)):
            moments.append(moment)
        counts = Counter(stored)
        missing = [step for step in range(len(moments)) if step not in counts]
        prefix = missing[0] if missing else len(moments)
        return Kept(
            logged=len(moments),
            lost=len(missing),
            window=self._killed_at - moments[missing[0]] if missing else 0.0,
            lost_of_promised=sum(
                moments[step] <= self._killed_at - PROMISED_SECONDS for step in missing
            ),
            doubled=sum(counts.values()) - len(counts),
            # Something is there although something before it is not.
            gaps=sum(step > prefix for step in counts) if missing else 0,
        )

    def _returned_at(self, part: int, step: int) -> float:
        """Return when that call of that step returned; 0 if it has not."""
        moment: float = MOMENT.unpack_from(
            self._memory, MOMENT.size * (2 * step + part)
        )[0]
        return moment
