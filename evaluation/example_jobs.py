"""Records jobs that are the examples of rule pages, and do not count in any score.

python -m evaluation.example_jobs            list the jobs and their rules
python -m evaluation.example_jobs --record   run them, and keep their upload data

They cover rules whose fault no job of the part tune has.
"""

from __future__ import annotations

import argparse
import sys

from evaluation.programs import PROGRAMS
from evaluation.recordings import HERE
from evaluation.scripts import Script, record

FOLDER = HERE / "tune" / "examples"
# The rule that each job is an example of.
JOBS = {
    "unnamed_metrics": "step-time-is-in-no-phase",
    "missing_weights": "model-could-not-be-loaded",
    "prefetch_thread": "one-core-does-the-work",
    "uneven_shards": "one-loader-worker-is-slow",
    "many_metrics": "the-agent-costs-too-much",
    "exchange_gradients": "communication-dominates",
    "nightly_runs": "slower-than-earlier-runs",
    "prepare_each_time": "preprocessing-is-repeated-across-runs",
    "more_ranks": "ranks-scale-poorly",
}
FAILING = {"missing_weights"}
# Recordings for another purpose.
OTHERS = {"decode_pictures": "host-memory-is-unused"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="jobs; by default all")
    parser.add_argument("--record", action="store_true", help="run them again")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    chosen = [name for name in JOBS if not options.names or name in options.names]
    if options.record:
        record(map(script_of, chosen), options.python)
        return
    for name in chosen:
        print(f"{name}: {JOBS[name]}")


def script_of(name: str) -> Script:
    return Script(FOLDER / f"{name}.py", fails=name in FAILING)


def rules_by_script() -> dict[Script, str]:
    """Return the scripts with the rule that each is an example of."""
    found = {script_of(name): rule for name, rule in JOBS.items()}
    programs = {program.script: program.before for program in PROGRAMS}
    return found | {programs[name]: rule for name, rule in OTHERS.items()}


if __name__ == "__main__":
    main()
