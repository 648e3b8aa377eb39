"""Results as Markdown (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import truediv
from statistics import median

THOUSAND = 1_000.0
YES, NO = "yes", "**no**"


@dataclass(frozen=True, slots=True)
class Rate:
    """Points per second of one system in each round, or its error."""

    label: str
    points_per_second: Sequence[float] = ()
    points: int = 0
    error: str = ""


def rates_table(rates: Sequence[Rate], *, ours: str) -> str:
    """Compare all systems with our rate; rounds differ more than their ratios."""
    reached = {rate.label: rate.points_per_second for rate in rates}
    rows = []
    for rate in rates:
        if rate.error:
            rows.append([rate.label, rate.error])
            continue
        speeds = rate.points_per_second
        mine = reached.get(ours, ())
        ratios = list(map(truediv, mine, speeds)) if len(mine) == len(speeds) else []
        rows.append(
            [
                rate.label,
                in_thousands(median(speeds)),
                f"{in_thousands(min(speeds))} to {in_thousands(max(speeds))}",
                f"{median(ratios):,.2f}" if ratios else "–",
                f"{rate.points:,}",
            ]
        )
    headings = ["system", "thousand points/s", "from, to", f"{ours} is × as fast"]
    return table([*headings, "points"], rows)


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, rule: str = "--:"
) -> str:
    """Return a table; a shorter row has the reason in its last cell."""
    full = [[*row, *[""] * (len(headings) - len(row))] for row in rows]
    rules = ["---", *[rule] * (len(headings) - 1)]
    lines = [headings, rules, *([safe(cell) for cell in row] for row in full)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def safe(cell: str) -> str:
    """Keep a peer's words from breaking the table."""
    return " ".join(cell.replace("|", "/").split())[:200]


def in_thousands(rate: float) -> str:
    value = rate / THOUSAND
    return f"{value:,.1f}" if value < THOUSAND / 10 else f"{value:,.0f}"


def in_milliseconds(seconds: float) -> str:
    value = seconds * THOUSAND
    return f"{value:,.1f} ms" if value < THOUSAND / 10 else f"{value:,.0f} ms"
