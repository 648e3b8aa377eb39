"""Replays all recordings through ingest and diagnosis, and says how right it is.

python -m benchmarks.diagnosis.score            print the tables
python -m benchmarks.diagnosis.score --write    and keep them as a page
python -m benchmarks.diagnosis.score no-workers -v    one case, with all findings
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.diagnosis.page import page
from benchmarks.diagnosis.recordings import all_recordings
from benchmarks.diagnosis.verdicts import Replayed, verdict_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "diagnosis.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases; by default all")
    parser.add_argument("--write", action="store_true", help="keep the page")
    parser.add_argument("-v", "--verbose", action="store_true", help="all findings")
    options = parser.parse_args()

    # Here: it loads Django, which the help does not need.
    from benchmarks.diagnosis.replay import NUMBERS, prepare, replay  # noqa: PLC0415

    prepare()
    replayed = []
    for path in all_recordings():
        name = path.name.partition(".")[0].rpartition("-")[0]
        if options.names and name not in options.names:
            continue
        replayed.append(replay(path))
        if options.verbose:
            tell(replayed[-1], NUMBERS.values())
    text = page(
        replayed,
        rules=sorted((number, rule) for rule, number in NUMBERS.items()),
        today=datetime.now(UTC).date(),
    )
    if not options.verbose:
        sys.stdout.write(text)
    if options.write:
        PAGE.write_text(text)


def tell(one: Replayed, known: Collection[str]) -> None:
    """Print everything that was found."""
    verdict = "healthy" if one.case.is_healthy else verdict_of(one, known)
    print(
        f"{one.name}: {verdict}, expects {one.case.expects or 'nothing'},"
        f" {one.steps} steps, others {one.other_cores} cores"
    )
    for each in one.found:
        mark = "*" if each.is_primary else " "
        because = f" (by {each.explained_by})" if each.explained_by else ""
        print(
            f"  {mark} {each.number:4} {each.rule} {each.confidence:.2f}"
            f" [{each.stage}]{because}\n        {each.summary}"
        )
    for rule in one.failed:
        print(f"  ! {rule} failed")


if __name__ == "__main__":
    main()
