"""Results as Markdown (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.ingest.tables import in_milliseconds, table
from benchmarks.sdk.entrants import (
    EACH_10_MS,
    ENTRANTS,
    FLOOD,
    SITUATIONS,
    Entrant,
    Result,
    steps_of,
)
from benchmarks.sdk.outcome import Outcome

MICROSECONDS = 1e6
MEBIBYTE = 1_048_576


def calls_table(results: Sequence[Result]) -> str:
    """Return the caller's cost: microseconds per point, median and p99."""
    rows = [
        [result.label, result.error]
        if result.error
        else [
            result.label,
            *(_of_a_point(result.outcomes[situation.key]) for situation in SITUATIONS),
        ]
        for result in results
    ]
    return table(["system", *(situation.label for situation in SITUATIONS)], rows)


def client_table(results: Sequence[Result]) -> str:
    """Return the cost of the whole client."""
    rows = []
    for result in results:
        if result.error:
            rows.append([result.label, result.error])
            continue
        everyone = list(result.outcomes.values())
        paced, flood = result.outcomes[EACH_10_MS], result.outcomes[FLOOD]
        rows.append(
            [
                result.label,
                in_microseconds(paced.processor / paced.points),
                in_microseconds(flood.processor / flood.points),
                in_milliseconds(median(one.imported for one in everyone)),
                in_milliseconds(median(one.opened for one in everyone)),
                in_milliseconds(paced.closed),
                in_milliseconds(flood.closed),
                f"{max(0, flood.memory) / MEBIBYTE:.1f} MiB",
                f"{flood.points:,}",
            ]
        )
    headings = [
        "system",
        "processor µs a point, each 10 ms",
        "in the flood",
        "import",
        "init",
        "exit, each 10 ms",
        "after the flood",
        "memory in the flood",
        "its points",
    ]
    return table(headings, rows)


def systems_table(results: Sequence[Result]) -> str:
    rows = [
        [result.label, one.release, one.writing]
        for result in results
        for one in list(result.outcomes.values())[:1]
    ]
    return table(["system", "version", "called"], rows, rule="---")


def notes(results: Sequence[Result], steps: int) -> list[str]:
    """Return notes on the figures: fewer steps than planned, dropped points."""
    found = []
    entrants: Mapping[str, Entrant] = {one.label: one for one in ENTRANTS}
    for result in results:
        for situation in SITUATIONS:
            outcome = result.outcomes.get(situation.key)
            if outcome is None:
                continue
            where = f"- {result.label}, {situation.label}:"
            wanted = steps_of(entrants[result.label], situation, steps)
            if len(outcome.calls) < wanted:
                found.append(f"{where} out of time after {len(outcome.calls):,} steps.")
            if outcome.dropped:
                found.append(
                    f"{where} {outcome.dropped:,} of {outcome.points:,} points dropped."
                )
            if not outcome.is_quiet:
                found.append(f"{where} still at work when its processor was read.")
    return found


def quantile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def in_microseconds(seconds: float) -> str:
    value = seconds * MICROSECONDS
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004 - digits worth reading
    return f"{value:,.{digits}f}"


def _of_a_point(outcome: Outcome) -> str:
    middle, slow = (
        in_microseconds(quantile(outcome.calls, part) / 1e9 / outcome.width)
        for part in (0.5, 0.99)
    )
    return f"{middle} / {slow}"
