"""Records jobs: runs each script with the agent offline and keeps its upload data.

`--missing` records all jobs without a recording, in both modes or in the one that
`--mode` names; names of jobs record these again; `--list` prints what `--missing` would
record.

Scripts run at normal priority, one at a time. `alone` waits until other programs use
less than a tenth of a core, and repeats disturbed jobs; `neighbors` runs a program next
to the job. Some scripts need NumPy, scikit-learn or PyTorch: `--python` names an
interpreter that has them and the agent's requirements.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from evaluation.jobs import MODES, Job, jobs_of
from evaluation.machine import busy_seconds, wait_until_quiet
from evaluation.neighbors import neighbor
from evaluation.recordings import (
    HERE,
    PARTS,
    Recording,
    frames_of,
    write_recording,
)

DISTURBED_CORES = 0.15
# A job that hangs is killed so long after its start.
HANGS_SECONDS = 40.0


def main() -> None:
    options = parse()
    wanted = missing(options)
    if options.list:
        print("\n".join(f"{job.part} {job.name} {mode}" for job, mode in wanted))
        return
    end = time.monotonic() + options.most_seconds
    for position, (job, mode) in enumerate(wanted, start=1):
        if time.monotonic() > end:
            break
        print(f"[{position}/{len(wanted)}] {job.name} {mode}: ", end="", flush=True)
        try:
            print(record(job, mode, options), flush=True)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            print(f"failed: {error}", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="jobs to record again")
    parser.add_argument("--missing", action="store_true", help="all without recording")
    parser.add_argument("--list", action="store_true", help="print, record nothing")
    parser.add_argument("--part", choices=PARTS, action="append", help="by default all")
    parser.add_argument("--mode", choices=MODES, action="append")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument(
        "--patience", type=float, default=600.0, help="seconds to wait for quiet"
    )
    parser.add_argument(
        "--longest", type=float, default=240.0, help="seconds until a job is killed"
    )
    parser.add_argument(
        "--most-seconds", type=float, default=math.inf, help="start no job after that"
    )
    parser.add_argument("--attempts", type=int, default=3, help="of mode alone")
    return parser.parse_args()


def missing(options: argparse.Namespace) -> list[tuple[Job, str]]:
    """Return the jobs and modes without recordings, mode by mode."""
    jobs = [job for part in options.part or PARTS for job in jobs_of(part)]
    if options.names:
        jobs = [job for job in jobs if job.name in options.names]
    return [
        (job, mode)
        for mode in options.mode or MODES
        for job in jobs
        if mode in job.modes and (options.names or not job.recording(mode).exists())
    ]


def record(job: Job, mode: str, options: argparse.Namespace) -> str:
    """Record a job and describe the result.

    The least disturbed attempt is kept, with the CPU use of other programs during it.

    Raises:
        ValueError: The job did not end as expected.
    """
    best: Recording | None = None
    for _ in range(options.attempts if mode == "alone" else 1):
        if mode == "alone":
            wait_until_quiet(options.patience)
        with neighbor(job.neighbor if mode == "neighbors" else ""):
            made = run_script(job, mode, options.python, options.longest)
        if best is None or _foreign(made) < _foreign(best):
            best = made
        if mode == "alone" and _foreign(best) <= DISTURBED_CORES:
            break
    assert best is not None
    size = write_recording(best, job.recording(mode).parent)
    return f"{size:,} bytes, others used {_foreign(best):.2f} cores"


def _foreign(recording: Recording) -> float:
    return recording.foreign_cores or 0.0


class Script(Protocol):
    """A script to record; one that `fails` exits with a code other than 0."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def arguments(self) -> tuple[str, ...]: ...
    @property
    def fails(self) -> bool: ...
    @property
    def hangs(self) -> bool: ...


def run_script(
    job: Script, mode: str, python: str, longest_seconds: float = 240.0
) -> Recording:
    """Run a script like its user, and return the upload data of its processes."""
    with tempfile.TemporaryDirectory(prefix="job-") as folder:
        spool, work = Path(folder, "spool"), Path(folder, "work")
        work.mkdir()
        # Outside of the repository, whose Git state the agent would record.
        script = shutil.copy(job.path, work)
        paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        began, busy = time.monotonic(), busy_seconds()
        own = time.process_time()
        process = subprocess.Popen(
            [python, script, *job.arguments],
            cwd=work,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "SEAMARK_SPOOL": str(spool),
                "SEAMARK_MODE": "offline",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        errors, used = _end_of(process, job, longest_seconds)
        seconds = time.monotonic() - began
        foreign = busy_seconds() - busy - used - (time.process_time() - own)
        if not job.hangs and bool(process.returncode) != job.fails:
            raise ValueError(f"exit code {process.returncode}: {errors[-1500:]}")
        spools = frames_of(spool)
    return Recording(
        case=job.name,
        seed=0,
        recorded_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        cores=len(os.sched_getaffinity(0)),
        spools=spools,
        mode=mode,
        foreign_cores=round(max(0.0, foreign / seconds), 3),
    )


def _end_of(
    process: subprocess.Popen[str], job: Script, longest_seconds: float
) -> tuple[str, float]:
    """Wait for a job; return its errors and the CPU seconds of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        _, errors = process.communicate(
            timeout=HANGS_SECONDS if job.hangs else longest_seconds
        )
    except subprocess.TimeoutExpired:
        if not job.hangs:
            raise
        errors = ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return errors, user + system


if __name__ == "__main__":
    main()
