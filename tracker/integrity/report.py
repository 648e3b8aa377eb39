"""Reports problems: one per line, or all at once as JSON."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tracker.integrity.problem import Problem, Severity
from tracker.integrity.run import Seen

# Problems listed per kind; the rest are counted.
LISTED = 100
PROGRESS_SECONDS = 5.0

Show = Callable[[str], object]


class Report:
    def __init__(self, *, show: Show, show_progress: Show, as_json: bool) -> None:
        """`show` prints the report, `show_progress` prints progress."""
        self.seen = Seen()
        self.rows: dict[str, int] = {}
        self._show = show
        self._show_progress = show_progress
        self._as_json = as_json
        self._listed: list[dict[str, Any]] = []
        self._codes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._severities: Counter[Severity] = Counter()
        self._repaired = 0
        self._reported_at = time.monotonic()

    @property
    def exit_code(self) -> int:
        met = (severity for severity, count in self._severities.items() if count)
        return max(met, default=Severity.NOTE)

    def add(self, problem: Problem, *, is_repaired: bool = False) -> None:
        if is_repaired:
            self._repaired += 1
        else:
            self._severities[problem.severity] += 1
        self._codes[problem.code] += 1
        self._counts[problem.code] += 1
        if self._counts[problem.code] > LISTED:
            return
        if self._as_json:
            self._listed.append(_as_json(problem, is_repaired=is_repaired))
        else:
            self._show(_line(problem, is_repaired=is_repaired))

    def add_unlisted(self, code: str, severity: Severity, count: int) -> None:
        """Count problems of a kind whose later instances were not kept."""
        self._codes[code] += count
        self._severities[severity] += count

    def progress(self, total_runs: int) -> None:
        now = time.monotonic()
        if now - self._reported_at >= PROGRESS_SECONDS:
            self._reported_at = now
            self._show_progress(
                f"run {self.seen.runs:,} of {total_runs:,}, "
                f"{self.seen.points:,} points read"
            )

    def finish(self) -> int:
        """Print the rest, and return the exit code."""
        if self._as_json:
            self._show(json.dumps(self._summary(), default=str, indent=2))
            return self.exit_code
        for code, count in sorted(self._codes.items()):
            if count > LISTED:
                self._show(f"{count - LISTED:,} more of the kind {code}")
        for name, count in self.rows.items():
            self._show(f"{name:14} {count:>14,} rows")
        seen = self.seen
        self._show(
            f"read {seen.points:,} points in {seen.chunks:,} chunks and "
            f"{seen.journal_entries:,} journal entries of {seen.runs:,} runs; "
            f"{seen.unreadable_points:,} more cannot be read"
        )
        if seen.record_chunks:
            self._show(
                f"read {seen.records:,} records in {seen.record_chunks:,} chunks; "
                f"{seen.unreadable_records:,} more cannot be read"
            )
        self._show(self._verdict())
        return self.exit_code

    def _verdict(self) -> str:
        repaired = f"{self._repaired:,} repaired. " if self._repaired else ""
        errors = self._severities[Severity.ERROR]
        warnings = self._severities[Severity.WARNING]
        if not errors and not warnings:
            return f"{repaired}No problems found."
        return (
            f"{repaired}{errors:,} error{'s' * (errors != 1)} and "
            f"{warnings:,} warning{'s' * (warnings != 1)}."
        )

    def _summary(self) -> dict[str, Any]:
        return {
            "exit_code": self.exit_code,
            "errors": self._severities[Severity.ERROR],
            "warnings": self._severities[Severity.WARNING],
            "notes": self._severities[Severity.NOTE],
            "repaired": self._repaired,
            "kinds": dict(sorted(self._codes.items())),
            "problems": self._listed,
            "read": asdict(self.seen),
            "rows": self.rows,
        }


def _line(problem: Problem, *, is_repaired: bool) -> str:
    mark = "REPAIRED" if is_repaired else problem.severity.name
    # Names are chosen by users and must not start new lines.
    text = (
        f"{mark:8} {problem.where}: {problem.what} → {problem.advice} [{problem.code}]"
    )
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _as_json(problem: Problem, *, is_repaired: bool) -> dict[str, Any]:
    return {
        "severity": problem.severity.name.lower(),
        "code": problem.code,
        "where": problem.where,
        "what": problem.what,
        "advice": problem.advice,
        "run_id": problem.run_id and str(problem.run_id),
        "is_repairable": problem.repair is not None,
        "is_repaired": is_repaired,
    }
