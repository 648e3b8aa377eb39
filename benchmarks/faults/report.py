"""The results as rows of a table, on the terminal and as a page of the documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.faults.case import Case, Result, Size

HEAD = """# No acknowledged point is lost or doubled

Made by `.venv/bin/python -m benchmarks.faults --page` from the last result of each case, whenever that was.
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
| answers_500 | answers to batches that say that the server made a mistake |
| damaged | rounds after which SQLite's own check found something |
"""


def row(name: str, case: Case, database: str, size: Size, result: Result) -> str:
    """Return one line for the terminal."""
    verdict = "passed" if result.passed else "FAILED"
    amount = f"{size.rounds} {case.unit}"
    figures = " ".join(f"{key}={value}" for key, value in result.figure.items())
    return f"{name:<17} {database:<11} {amount:<12} {verdict}  {figures}"


def page(cases: Mapping[str, Case], results: Sequence[str], before: str = "") -> str:
    """Return the page: of each case the last result, or the row that was there before."""
    found = [json.loads(text) for text in results]
    latest = {one["case"]: one for one in found}
    kept = {_names_of(text): text for text in before.splitlines()}
    rows = []
    for name, case in cases.items():
        for database in case.databases:
            if (result := latest.get(f"{name} {database}")) is not None:
                rows.append(_page_row(case, database, result))
            elif (row := kept.get((case.title, database))) is not None:
                rows.append(row)
    return HEAD + "\n".join(rows) + "\n" + EXPLANATION


def _names_of(text: str) -> tuple[str, ...]:
    """Return what a row of the page is about: a case, and a database."""
    return tuple(cell.strip() for cell in text.split("|")[1:3])


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
