"""Goals for the cost of Seamark's agent, and their verdicts (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.ingest.tables import NO, YES, table
from benchmarks.sdk.entrants import (
    EACH_10_MS,
    FLOOD,
    NOTHING,
    ONE,
    ONE_AT_ONCE,
    OURS,
    SITUATIONS,
    TWENTY,
    Result,
)
from benchmarks.sdk.outcome import Outcome
from benchmarks.sdk.tables import MICROSECONDS, quantile

MILLION = 1_000_000
THOUSAND = 1_000.0
NOT_SHOWN = "not shown"
LABELS = {situation.key: situation.label for situation in SITUATIONS}
# Goals in microseconds per point, at the median and at p99.
CALLS: dict[str, tuple[float, float | None]] = {
    FLOOD: (0.3, 1.0),
    TWENTY: (0.3, 1.0),
    ONE: (2.0, None),
    ONE_AT_ONCE: (2.0, None),
}
# Microseconds per point on all cores, without the cost of a bare loop.
PROCESSOR = 2.0
IMPORT_MILLISECONDS, INIT_MILLISECONDS, EXIT_MILLISECONDS = 50.0, 100.0, 100.0
MEMORY_MEGABYTES = 20.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """A figure, its goal, and whether it is met; None: not enough data."""

    words: str
    value: str
    goal: str
    holds: bool | None


def verdicts(results: Sequence[Result]) -> list[Verdict]:
    """Compare Seamark's figures with its goals; empty if it was not measured."""
    complete = {result.label: result for result in results if not result.error}
    if OURS not in complete:
        return []
    ours, bare = complete[OURS], complete.get(NOTHING)
    peers = [one for label, one in complete.items() if label not in (OURS, NOTHING)]
    return [
        *_of_calls(ours),
        *_of_processors(ours, bare),
        *_of_the_whole(ours),
        *_beside_peers(ours, peers),
    ]


def goals_table(found: Sequence[Verdict]) -> str:
    words = {True: YES, False: NO, None: NOT_SHOWN}
    rows = [[one.words, one.value, one.goal, words[one.holds]] for one in found]
    return table(["Seamark", "value", "goal", "holds"], rows)


def ring_words(results: Sequence[Result]) -> str:
    """Return whether points were in mapped memory, which survives `kill -9`."""
    (ours,) = (result for result in results if result.label == OURS)
    without = [
        LABELS[key] for key, one in ours.outcomes.items() if one.has_ring is not True
    ]
    if not without:
        return "Seamark's ring of mapped memory was in use in all situations."
    return f"Seamark had no ring of mapped memory in: {'; '.join(without)}."


def _of_calls(ours: Result) -> Iterator[Verdict]:
    for key, (middle, slow) in CALLS.items():
        outcome = ours.outcomes[key]
        words = f"µs a point, {LABELS[key]}"
        yield _at_most(f"{words}: median", _of_a_point(outcome, 0.5), middle)
        if slow is not None:
            yield _at_most(f"{words}: p99", _of_a_point(outcome, 0.99), slow)


def _of_processors(ours: Result, bare: Result | None) -> Iterator[Verdict]:
    """Return the cost of the whole client, without that of a loop without logging."""
    for key in (FLOOD, TWENTY, EACH_10_MS):
        words = f"µs of processor a point, without *{NOTHING}*, {LABELS[key]}"
        if bare is None:
            yield Verdict(words, "", f"≤ {PROCESSOR:g}", None)
            continue
        value = _processor(ours.outcomes[key]) - _processor(bare.outcomes[key])
        yield _at_most(words, value, PROCESSOR)


def _of_the_whole(ours: Result) -> Iterator[Verdict]:
    everyone = ours.outcomes.values()
    imported = THOUSAND * median(one.imported for one in everyone)
    opened = THOUSAND * median(one.opened for one in everyone)
    closed = THOUSAND * ours.outcomes[EACH_10_MS].closed
    yield _at_most("ms of `import`", imported, IMPORT_MILLISECONDS)
    yield _at_most("ms of `init`", opened, INIT_MILLISECONDS)
    yield _at_most("ms of the end, with nothing to send", closed, EXIT_MILLISECONDS)
    flood = ours.outcomes[FLOOD]
    yield Verdict(
        f"MB of memory more after {flood.points:,} points",
        f"{flood.memory / 1e6:.1f}",
        f"≤ {MEMORY_MEGABYTES:g} at {MILLION:,}",
        flood.memory / 1e6 <= MEMORY_MEGABYTES if flood.points >= MILLION else None,
    )
    beside = sum(one.beside_ring if one.has_ring else one.points for one in everyone)
    yield Verdict(
        "points not in mapped memory, safe from `kill -9`, when their call returned",
        f"{beside:,}",
        "0",
        beside == 0,
    )


def _beside_peers(ours: Result, peers: Sequence[Result]) -> Iterator[Verdict]:
    """Median time of the fastest peer relative to Seamark."""
    for key, label in LABELS.items():
        words = f"times as long in the best peer, {label}"
        if not peers:
            yield Verdict(words, "", "> 1", None)
            continue
        best, least = min(
            ((peer.label, _of_a_point(peer.outcomes[key], 0.5)) for peer in peers),
            key=lambda named: named[1],
        )
        ratio = least / _of_a_point(ours.outcomes[key], 0.5)
        yield Verdict(words, f"{ratio:.1f} ({best})", "> 1", ratio > 1)


def _of_a_point(outcome: Outcome, part: float) -> float:
    return quantile(outcome.calls, part) / THOUSAND / outcome.width


def _processor(outcome: Outcome) -> float:
    return outcome.processor / outcome.points * MICROSECONDS


def _at_most(words: str, value: float, most: float) -> Verdict:
    return Verdict(words, f"{value:.3g}", f"≤ {most:g}", value <= most)
