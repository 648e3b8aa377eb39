"""Tests the agent's guarantees for a training script.

    python -m benchmarks.agent_faults

Scripts with the agent are killed and interrupted, and so are the server, the network,
the disk and the clock. Prints one Markdown table.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.agent_faults import (
    absent,
    answers,
    backlog,
    children,
    clocks,
    cold,
    disk,
    elsewhere,
    hostile,
    kills,
    memory,
    network,
    notebooks,
    odd_values,
    overhead,
    preemption,
    processes,
    sensors,
    silence,
    spools,
    threads,
    torchrun,
    trust,
)
from benchmarks.agent_faults.case import Case, Found, Size, table
from benchmarks.faults.case import commit
from benchmarks.load.table import Bound

CASES = {
    "CF-01": Case("killed while it logs", kills.killed, 200, "times"),
    "CF-02": Case("spools that are damaged", spools.damaged, 50, "spools"),
    "CF-03": Case("the server comes later", absent.is_absent, 600, "seconds"),
    "CF-04, CF-29": Case(
        "the server hangs, and comes back", backlog.comes_back, 20, "million points"
    ),
    "CF-05, calls": Case("what a call costs", network.callers_cost, 60, "seconds"),
    "CF-05, first": Case("the first call of each form", cold.first_calls, 10, "times"),
    "CF-05, flood": Case(
        "a million points without a pause", cold.flood, 3, "processes"
    ),
    "CF-06": Case("answers that are cut off", network.answers_cut, 1_000, "batches"),
    "CF-07": Case("answers of a server", answers.answers, 1, "times"),
    "CF-08, CF-09, CF-10": Case("the disk fails", disk.disks, 50_000, "calls"),
    "CF-11, CF-12": Case("children of all kinds", children.children, 5, "times"),
    "CF-13": Case("ranks that are killed", processes.ranks, 10, "times"),
    "CF-13, torchrun": Case("ranks of torchrun", torchrun.elastic, 3, "times"),
    "CF-14": Case("told to end", preemption.preempted, 5, "times"),
    "CF-15": Case("started again", preemption.requeued, 10, "times"),
    "CF-16, CF-17": Case("the end of a script", network.ends, 5, "times"),
    "CF-18": Case("how a process ends", processes.endings, 5, "times"),
    "CF-18, memory": Case(
        "killed for its memory", memory.killed_for_memory, 5, "times"
    ),
    "CF-18, silence": Case(
        "known by its silence", silence.fallen_silent, 3, "scripts each"
    ),
    "CF-19": Case("threads that die", threads.dying, 5, "times"),
    "CF-20": Case("logged from anywhere", threads.reentrant, 100_000, "turns"),
    "CF-21, python": Case(
        "what the agent costs a loop", overhead.of_python, 8, "processes"
    ),
    "CF-21, torch": Case(
        "what the agent costs a loop", overhead.of_torch, 8, "processes"
    ),
    "CF-21, gpu": Case("what the agent costs a loop", overhead.of_gpu, 2, "processes"),
    "CF-22": Case("a driver that fails", sensors.sensors, 60, "seconds"),
    "CF-23": Case("the clock jumps", clocks.jumps, 3, "times"),
    "CF-24": Case("odd values", odd_values.odd_values, 1, "times"),
    "CF-25": Case("a run is handed over", odd_values.handles, 5, "times"),
    "CF-26": Case("a notebook", notebooks.notebooks, 50, "runs"),
    "CF-27, CF-28": Case("many at once", processes.at_once, 10, "times"),
    "CF-28, elsewhere": Case("from another host", elsewhere.from_elsewhere, 3, "times"),
    "CF-31": Case("who means harm", hostile.hostile, 3, "times"),
    "CF-33": Case("who cannot be trusted", trust.untrusted, 3, "times"),
    "CF-34": Case("a token is revoked", trust.revoked, 3, "times"),
}
# Names of a case: the whole name, or each number in it.
NAMES = [one for name in CASES for one in dict.fromkeys((name, *name.split(", ")))]


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    # Shells make background jobs ignore SIGINT, and our scripts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rows = []
    for name, case in CASES.items():
        if options.cases and not set(options.cases) & {name, *name.split(", ")}:
            continue
        print(f"{name}: {case.title} …", file=sys.stderr, flush=True)
        rows += [(name, case.title, found) for found in perform(case, options.amount)]
    print(f"{os.cpu_count()} cores, {platform.system()}, commit {commit()}.\n")
    print(table(rows))
    return 1 if any(found.holds is False for _, _, found in rows) else 0


def perform(case: Case, amount: int | None) -> list[Found]:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seamark-agent-") as folder:
        try:
            found = case.run(Size(Path(folder), amount or case.amount))
        except Exception as error:  # noqa: BLE001 - one that ends so has failed; the others go on
            traceback.print_exc()
            ended = Bound(f"ended with {type(error).__name__}", holds=False)
            found = [Found("", [], [ended])]
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return found


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agent_faults",
        description=(__doc__ or "").splitlines()[0],
        epilog="Without an option, each case has its own size.",
    )
    titles = "; ".join(f"{name}: {case.title}" for name, case in CASES.items())
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{titles}; or all")
    units = ", ".join(dict.fromkeys(case.unit for case in CASES.values()))
    parser.add_argument("--amount", type=int, metavar="N", help=f"of {units}")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.cases) - set(NAMES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
