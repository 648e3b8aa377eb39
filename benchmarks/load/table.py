"""The results as one Markdown table (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.load.figures import Exchange, answer_percentile, percentile
from benchmarks.peers.tables import in_milliseconds

HEADINGS = ("case", "database", "what was run", "figures", "clients", "bound", "holds")
# Above these limits the clients are the bottleneck: their CPU use, and their share of
# the time until a batch is stored, unless that is very short.
MAX_BUSY = 0.9
MAX_LATE = 0.2
NEVER_LATE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Clients:
    """Planned and actual work of the clients, and their CPU use as a share of a core."""

    due: int
    stored: int
    late_seconds: float
    slow_seconds: float
    busy: float

    @property
    def is_bottleneck(self) -> bool:
        most_late = max(NEVER_LATE_SECONDS, MAX_LATE * self.slow_seconds)
        return self.late_seconds > most_late or self.busy > MAX_BUSY

    def __str__(self) -> str:
        words = (
            f"{self.stored:,} of {self.due:,} batches got through,"
            f" sent late by {in_milliseconds(self.late_seconds)} (p99),"
            f" {self.busy:.0%} of a core"
        )
        return f"{words}: **the bottleneck**" if self.is_bottleneck else words


def clients_of(exchanges: Sequence[Exchange], *, due: int, busy: float) -> Clients:
    return Clients(
        due=due,
        stored=sum(exchange.is_stored for exchange in exchanges),
        late_seconds=percentile((e.late_seconds for e in exchanges), 99),
        slow_seconds=answer_percentile(exchanges, 99),
        busy=busy,
    )


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound, and whether it holds; None: the run was too small to decide."""

    words: str
    holds: bool | None
    # A duration, which is not meaningful on a busy machine.
    is_pace: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    case: str
    database: str
    run: str
    figures: Sequence[str]
    bounds: Sequence[Bound]
    clients: Clients | None = None

    @property
    def holds(self) -> bool | None:
        """False if one does not hold, else None if one is not shown."""
        found = [bound.holds for bound in self.bounds]
        return False if False in found else None if None in found else True


def rows_table(rows: Sequence[Row]) -> str:
    rules = ["---"] * len(HEADINGS)
    lines = [HEADINGS, rules, *(cells(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(row: Row) -> list[str]:
    return [
        row.case,
        row.database,
        row.run,
        "; ".join(row.figures),
        str(row.clients or ""),
        "; ".join(bound.words for bound in row.bounds),
        verdict(row),
    ]


def verdict(row: Row) -> str:
    if not row.bounds:
        return ""
    words = {True: "yes", False: "**no**", None: "not shown"}[row.holds]
    at_fault = [bound.words for bound in row.bounds if bound.holds is row.holds]
    return words if row.holds else f"{words}: {'; '.join(at_fault)}"
