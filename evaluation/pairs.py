"""Compares predictions of findings with the measured speedups of their fixes.

python -m evaluation.pairs --record    run each fault and its fix, one after
                                                 the other, and keep both
python -m evaluation.pairs             replay them, and print the table

A pair is the same job twice: with the fault, and with the recommended fix. The speed is
the number of steps per second from the first step to the last, including pauses.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from evaluation.recordings import HERE, read_recording, write_recording
from evaluation.synthetic.faults import FIXED, FixedCase
from evaluation.synthetic.record import LIGHT_AT_ONCE, come_first, run_job

FOLDER = HERE / "tune" / "pairs"
# Two runs of one job differ by so much on a machine that is shared.
NOISE = 0.03

HEAD = """# Predicted and measured speedups

Printed by `python -m evaluation.pairs` on {today:%d %B %Y}.
Each pair is a real job run twice with the agent offline: with a fault, and with the recommended fix; `--record` runs them again.
Speeds are steps per second from the first step to the last. Predictions come from the first run alone: *likely* is the usual speedup of such fixes,
*at most* its upper bound. Pairs differ by {noise:.0%} without any change; larger differences count.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """`likely` and `bound` are NaN if the finding has no prediction."""

    name: str
    rule: str
    likely: float
    bound: float
    achieved: float

    @property
    def is_promised(self) -> bool:
        return not math.isnan(self.bound)

    @property
    def is_within_bound(self) -> bool:
        return self.achieved <= self.bound * (1 + NOISE)

    @property
    def is_inside(self) -> bool:
        return self.is_within_bound and self.achieved >= self.likely * (1 - NOISE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="faults; by default all with a fix")
    parser.add_argument("--record", action="store_true", help="run the pairs anew")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    chosen = [c for c in FIXED if not options.names or c.fault.name in options.names]
    if options.record:
        record(chosen, options.seeds)
        return

    # Here: it loads Django, which the help does not need.
    from evaluation import replay  # noqa: PLC0415

    replay.prepare()
    sys.stdout.write(page([pair for case in chosen for pair in replay_pairs(case)]))


def record(cases: list[FixedCase], seeds: list[int]) -> None:
    come_first()
    light = [(case, seed) for case in cases for seed in seeds if case.is_light]
    with ThreadPoolExecutor(LIGHT_AT_ONCE) as pool:
        list(pool.map(lambda given: _record(*given), light))
    for case in cases:
        for seed in seeds:
            if not case.is_light:
                _record(case, seed)


def _record(case: FixedCase, seed: int) -> None:
    try:
        for one in (case.fault, case):
            write_recording(run_job(one, seed), FOLDER)
    except (OSError, ValueError) as error:
        print(f"{case.name} {seed}: {error}", file=sys.stderr, flush=True)
    else:
        print(f"{case.name} {seed}", flush=True)


def replay_pairs(case: FixedCase) -> list[Pair]:
    from evaluation.replay import NUMBERS, ingest, promise_of  # noqa: PLC0415

    pairs = []
    for path in sorted(FOLDER.glob(f"{case.fault.name}-[0-9].msgpack.zst")):
        before = read_recording(path)
        after = FOLDER / f"{case.name}-{before.seed}.msgpack.zst"
        if not after.exists():
            continue
        numbers = (case.fault.expects, *case.fault.also)
        rules = [rule for rule, number in NUMBERS.items() if number in numbers]
        promise = promise_of(ingest(before), rules)
        cured = promise_of(ingest(read_recording(after)), rules)
        pairs.append(
            Pair(
                name=f"{case.fault.name} {before.seed}",
                rule=promise.rule,
                likely=promise.likely,
                bound=promise.bound,
                achieved=cured.speed / promise.speed,
            )
        )
    return pairs


def page(pairs: list[Pair]) -> str:
    head = HEAD.format(today=datetime.now(UTC).date(), noise=NOISE)
    return f"{head}\n{table(pairs)}"


def table(pairs: list[Pair]) -> str:
    """Return a summary of the pairs, and a row for each."""
    promised = [pair for pair in pairs if pair.is_promised]
    within = sum(pair.is_within_bound for pair in promised)
    inside = sum(pair.is_inside for pair in promised)
    rows = "\n".join(
        f"| {p.name} | {p.rule or 'none'} | {_factor(p.likely)} |"
        f" {_factor(p.bound)} | {_factor(p.achieved)} | {_verdict(p)} |"
        for p in pairs
    )
    return f"""|  |  |
| --- | --- |
| pairs with a prediction | {len(promised)} of {len(pairs)} |
| measured speedup at most the upper bound | {within} of {len(promised)} |
| measured speedup between likely and the upper bound | {inside} of {len(promised)} |

| pair | finding | likely | at most | achieved | |
| --- | --- | --: | --: | --: | --- |
{rows}
"""


def _factor(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _verdict(pair: Pair) -> str:
    if not pair.is_promised:
        return "no prediction"
    if not pair.is_within_bound:
        return "**beyond the bound**"
    return "inside" if pair.is_inside else "less than likely"


if __name__ == "__main__":
    main()
