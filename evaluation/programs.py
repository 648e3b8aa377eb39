"""Compares predictions of findings with the measured speedups of other programs.

python -m evaluation.programs --record    run each program and its fixed version
python -m evaluation.programs             replay them, and print the table

Unlike the pairs of evaluation/pairs.py, the fix is another program that does the same
work. The scripts need PyTorch and scikit-learn: `--python` names an interpreter that has
them and the agent's requirements. `chrt -r 5` keeps other programs off the cores.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from evaluation.pairs import Pair, table
from evaluation.recordings import HERE, read_recording
from evaluation.scripts import FIXED, Script, record

FOLDER = HERE / "tune" / "programs"


@dataclass(frozen=True, slots=True)
class Program:
    """A script with a fix; `rules` are those whose advice the fix follows."""

    script: str
    change: str
    rules: tuple[str, ...] = ()

    @property
    def before(self) -> Script:
        return Script(FOLDER / f"{self.script}.py")

    @property
    def after(self) -> Script:
        return Script(FOLDER / f"{self.script}.py", FIXED)


INPUT = ("too-few-loader-workers", "preprocessing-is-cpu-bound", "data-wait-dominates")
ONE_CORE = ("one-core-does-the-work",)
PROGRAMS = (
    Program("decode_pictures", "2 loader workers decode instead of none", INPUT),
    Program("read_records", "an array on disk instead of pickles", INPUT),
    Program("prepare_rows", "rows prepared per batch instead of one by one", INPUT),
    Program("pair_features", "NumPy instead of Python loops", ONE_CORE),
    Program("fit_doubles", "single instead of double precision"),
    Program("small_steps", "batches of 64 instead of 4", ONE_CORE),
    Program("save_weights", "checkpoints from a thread", ("checkpoints-take-long",)),
    Program("grow_forests", "scikit-learn with n_jobs=2", ONE_CORE),
    Program("log_weights", "each 50th step logs", ("logging-interrupts-training",)),
    Program("evaluate_items", "evaluation in batches", ("evaluation-takes-long",)),
    Program("short_epochs", "persistent workers", ("epochs-begin-slowly",)),
    Program("keep_history", "a sum instead of a list", ("steps-become-slower",)),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="scripts; by default all")
    parser.add_argument("--record", action="store_true", help="run them again")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    chosen = [p for p in PROGRAMS if not options.names or p.script in options.names]
    if options.record:
        scripts = [each for p in chosen for each in (p.before, p.after)]
        record(scripts, options.python)
        return

    # Here: it loads Django, which the help does not need.
    from evaluation import replay  # noqa: PLC0415

    replay.prepare()
    print(table([pair_of(program) for program in chosen]))


def pair_of(program: Program) -> Pair:
    from evaluation.replay import ingest, promise_of  # noqa: PLC0415

    before, after = (
        promise_of(ingest(read_recording(script.recording)), program.rules)
        for script in (program.before, program.after)
    )
    return Pair(
        name=f"{program.script}: {program.change}",
        rule=before.rule,
        likely=before.likely,
        bound=before.bound,
        achieved=after.speed / before.speed,
    )


if __name__ == "__main__":
    main()
