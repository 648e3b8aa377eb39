"""Runs `manage.py demo` several times and prints the findings of its last run.

python -m evaluation.demo_check                       five times
python -m evaluation.demo_check --neighbor periodic   next to another program
python -m evaluation.demo_check --times 2 --port 8791

The last run has every fix, so each problem that it shows is a false accusation, except
that other programs use the machine. Each time the demo gets a new data folder, which is
kept if a run was accused. The exit code is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

from evaluation.machine import busy_seconds
from evaluation.neighbors import NEIGHBORS, neighbor
from evaluation.recordings import HERE
from evaluation.verdicts import NEIGHBORS as OTHERS_USE_IT
from evaluation.verdicts import STATEMENTS

MANAGE = HERE.parent / "manage.py"
LAST_RUN = "larger-batch"
MAX_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class LastRun:
    """Rules that the page of the last run shows as problems; `main` is its first."""

    shown: list[str]
    main: str

    @property
    def accusations(self) -> list[str]:
        true = STATEMENTS | {OTHERS_USE_IT}
        named = dict.fromkeys([*self.shown, *filter(None, [self.main])])
        return [rule for rule in named if rule not in true]


def main() -> None:
    options = parse()
    if options.report:
        print(json.dumps(asdict(report())))
        return
    accused = 0
    with neighbor(options.neighbor):
        for number in range(1, options.times + 1):
            began, busy = time.monotonic(), busy_seconds()
            folder = tempfile.mkdtemp(prefix="seamark-demo-")
            last = run_demo(folder, options.port, options.epochs)
            seconds = time.monotonic() - began
            cores = (busy_seconds() - busy) / seconds
            accused += bool(last.accusations)
            print(
                f"{options.neighbor or 'no neighbor'} {number}: {seconds:.0f} s,"
                f" {cores:.1f} busy cores; main finding: {last.main or 'none'};"
                f" accused of: {', '.join(last.accusations) or 'nothing'}",
                flush=True,
            )
            if last.accusations:
                print(f"its data: {folder}", flush=True)
            else:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"{accused} of {options.times} accused")
    sys.exit(1 if accused else 0)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=8, help="per run")
    parser.add_argument("--neighbor", choices=["", *NEIGHBORS], default="")
    parser.add_argument("--port", type=int, default=8790)
    parser.add_argument("--report", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def run_demo(folder: str, port: int, epochs: int) -> LastRun:
    """Run the demo in an empty data folder and read its last run.

    Raises:
        RuntimeError: The demo failed.
    """
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("SEAMARK_")},
        "SEAMARK_DATA": folder,
    }
    command = [sys.executable, str(MANAGE), "demo", "--exit"]
    command += ["--epochs", str(epochs), "--port", str(port), "--data", folder]
    _output_of(command, environment)
    module = [sys.executable, "-m", "evaluation.demo_check", "--report"]
    return LastRun(**json.loads(_output_of(module, environment)))


def _output_of(command: list[str], environment: dict[str, str]) -> str:
    process = subprocess.Popen(
        command,
        cwd=MANAGE.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    try:
        output, errors = process.communicate(timeout=MAX_SECONDS)
    finally:
        # The server and the scripts of a demo that was interrupted.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {errors[-1500:]}")
    return output


def report() -> LastRun:
    """Read the last run of the installation that SEAMARK_DATA names."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
    import django  # noqa: PLC0415

    django.setup()
    from tracker.models import Run  # noqa: PLC0415
    from tracker.queries.diagnoses.diagnoses import (  # noqa: PLC0415
        diagnoses_of,
        every_finding,
        main_findings,
    )
    from web.pages.run.stage_sections import is_sure  # noqa: PLC0415

    run = Run.objects.get(name=LAST_RUN)
    main = main_findings([run.id]).get(run.id)
    found = [f for d in diagnoses_of(run) for f in every_finding(d.findings)]
    shown = [f.rule for f in found if not f.explained_by and is_sure(f)]
    return LastRun(shown, main.rule if main else "")


if __name__ == "__main__":
    main()
