"""Measures capacity per core and gigabyte, and derives that of 1, 10 and 100 machines.

    python -m benchmarks.growth

Prints a page of Markdown.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from benchmarks.growth.installation import POSTGRESQL, SQLITE
from benchmarks.growth.measures import Plan, measure
from benchmarks.growth.page import page
from benchmarks.peers.__main__ import machine

BOTH = (SQLITE, POSTGRESQL)


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    # So that SIGTERM stops all started processes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = Plan.quick() if options.quick else Plan()
    measured = {
        database: measure(database, plan) for database in options.databases or BOTH
    }
    printed = page(measured, plan, machine=machine(), when=datetime.now(UTC))
    print("\n".join(printed))


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
    options = parser.parse_args(arguments)
    if unknown := set(options.databases) - set(BOTH):
        parser.error(f"no such database: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    main(sys.argv[1:])
