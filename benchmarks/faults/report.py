"""The results as rows of a table, on the terminal and as a page of the documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.faults.case import Case, Result, Size

HEAD = """# No acknowledged point is lost or doubled

Made by `.venv/bin/python -m benchmarks.faults --page` from the last result of each case.
Real processes are killed, stopped and started again while clients log;
then everything is read back over the API and compared with what was acknowledged.
A case passes if each figure that has a limit is at it.

| case | database | amount | commit | passed | what was done | what was found |
|---|---|---|---|---|---|---|
"""
EXPLANATION = """
| word | meaning |
|---|---|
| sent, stored, unknown, unheard | transmissions: all; acknowledged; without an answer; that met no listener |
| abandoned | streams that were given up with a transmission whose fate is unknown |
| points | acknowledged |
| interrupted | kills that hit a compaction under way |
| lost | points acknowledged, and not there at the end |
| doubled | points more than once in a reading |
| torn | streams that end inside of a batch, or have a gap |
| invented, altered | points that nobody sent; with another value than was sent |
| stale | points acknowledged before a reading was asked for, and not in it |
| backward | points that an earlier reading had, and a later one has not |
| disordered | readings whose steps do not ascend |
| summed_wrongly | series whose summary counts other than its points |
| damaged | rounds after which SQLite's own check found something |
"""


def row(name: str, case: Case, database: str, size: Size, result: Result) -> str:
    """Return one line for the terminal."""
    verdict = "passed" if result.passed else "FAILED"
    amount = f"{size.rounds} {case.unit}"
    figures = " ".join(f"{key}={value}" for key, value in result.figure.items())
    return f"{name:<17} {database:<11} {amount:<12} {verdict}  {figures}"


def page(cases: Mapping[str, Case], results: Path) -> str:
    """Return the page: the last result of every case."""
    found = [json.loads(text) for text in results.read_text("utf-8").splitlines()]
    latest = {one["case"]: one for one in found}
    rows = [
        _page_row(case, database, latest[f"{name} {database}"])
        for name, case in cases.items()
        for database in case.databases
        if f"{name} {database}" in latest
    ]
    return HEAD + "\n".join(rows) + "\n" + EXPLANATION


# Any: JSON.
def _page_row(case: Case, database: str, result: dict[str, Any]) -> str:
    figure, limits = result["figure"], result["threshold"]
    done = ", ".join(f"{k} {v}" for k, v in figure.items() if k not in limits)
    found = ", ".join(f"{k} {v}" for k, v in figure.items() if k in limits)
    cells = [
        case.title,
        database,
        f"{result['rounds']} {case.unit}",
        result["commit"],
        "yes" if result["pass"] else "**no**",
        done,
        found,
    ]
    return f"| {' | '.join(cells)} |"
