"""Measures what a core and a gigabyte carry, and derives what 1, 10 and 100 machines would.

    python -m benchmarks.growth [--write]

Prints a page of Markdown, and with --write keeps it as docs/benchmarks/growth.md.
See docs/benchmarks.md for what is measured and why so.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.growth.installation import POSTGRESQL, SQLITE
from benchmarks.growth.measures import Plan, measure
from benchmarks.growth.page import page
from benchmarks.peers.__main__ import machine
from tracker.processes import ROOT

PAGE = ROOT / "docs/benchmarks/growth.md"
# Which engines would carry each size: words, not figures.
ENGINES = Path(__file__).with_name("engines.md")
BOTH = (SQLITE, POSTGRESQL)


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    # So that whatever was started is stopped, whoever ends this.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = Plan.quick() if options.quick else Plan()
    measured = {
        database: measure(database, plan) for database in options.databases or BOTH
    }
    written = page(measured, plan, machine=machine(), when=datetime.now(UTC))
    text = "\n".join([*written, "", *engines()])
    print(text)
    if options.write:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(f"{text}\n", encoding="utf-8")


def engines() -> Iterator[str]:
    yield from ENGINES.read_text(encoding="utf-8").splitlines()


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "databases", nargs="*", metavar="DATABASE", help=f"of {', '.join(BOTH)}; or all"
    )
    parser.add_argument(
        "--quick", action="store_true", help="short and noisy: does everything work?"
    )
    parser.add_argument("--write", action="store_true", help=f"keep the page as {PAGE}")
    options = parser.parse_args(arguments)
    if unknown := set(options.databases) - set(BOTH):
        parser.error(f"no such database: {', '.join(sorted(unknown))}")
    if options.write and (options.quick or options.databases):
        parser.error("the page is written of both databases, measured properly")
    return options


if __name__ == "__main__":
    main(sys.argv[1:])
