"""The results as a Markdown table (pure)."""

from __future__ import annotations

from benchmarks.kills.case import Case, Result, Size

HEADINGS = (
    *("case", "what is done", "database", "amount", "in full", "what was done"),
    *("what was found", "seconds", "holds"),
)
EXPLANATION = """
A case holds if each figure of what was found is what it must be: 0, where nothing else is said.

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


def head() -> str:
    rules = "|".join("---" for _ in HEADINGS)
    return f"| {' | '.join(HEADINGS)} |\n|{rules}|"


def row(
    name: str, case: Case, database: str, size: Size, result: Result, *, seconds: float
) -> str:
    """Return one row of the table: the figures, and their bounds if not 0."""
    figure, limits = result.figure, result.threshold
    done = ", ".join(f"{k} {v}" for k, v in figure.items() if k not in limits)
    found = ", ".join(
        f"{k} {v}" if v == limits[k] else f"**{k} {v}, not {limits[k]}**"
        for k, v in figure.items()
        if k in limits
    )
    cells = [
        f"{case.number} {name}".strip(),
        case.title,
        database,
        f"{size.rounds:,} {case.unit}, {size.clients} clients",
        case.in_full,
        done,
        found,
        f"{seconds:.0f}",
        "yes" if result.passed else "**no**",
    ]
    return f"| {' | '.join(cells)} |"
