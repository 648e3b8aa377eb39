"""Measures the time that the server needs to copy a forked run.

    python -m benchmarks.forks
    python -m benchmarks.forks --series 20 --points 10000

Uses SQLite in a temporary folder. Prints a table; asserts nothing.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.pages.charts import fill
from tests.builders import make_member, make_project
from tracker.actions.runs.forks import copy_series, fork_run
from tracker.models import Attribute, Run, State


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--series", type=int, default=300)
    parser.add_argument("--points", type=int, default=100_000, help="per series")
    options = parser.parse_args()
    project = make_project(make_member())
    fill(project, "source", options.series, options.points, is_live=False)
    print("\n| forked at | series | points | s | points per s |")
    print("|---|--:|--:|--:|--:|")
    for share in (0.5, 1.0):
        step = int(options.points * share) - 1
        run = Run.objects.create(
            project=project, name=f"fork at {step}", state=State.RUNNING
        )
        refusal = fork_run(run, "source", float(step))
        assert refusal is None, refusal
        began = time.perf_counter()
        assert copy_series(run.id)
        seconds = time.perf_counter() - began
        counts = Attribute.objects.filter(run=run).values_list("count", flat=True)
        copied = sum(counts)
        assert copied == options.series * (step + 1)
        cells = [f"step {step:,}", f"{len(counts):,}", f"{copied:,}"]
        cells += [f"{seconds:.1f}", f"{copied / seconds:,.0f}"]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
