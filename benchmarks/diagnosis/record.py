"""Records a case: runs its job with the agent offline, and keeps what it would send.

python -m benchmarks.diagnosis.record no-workers --seed 1
python -m benchmarks.diagnosis.record --all --seeds 1 2 3

Wants Linux and two cores with nothing else to do; how busy others kept the machine
meanwhile is among the readings, and score.py tells it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from agent.spool_reader import find_spools
from benchmarks.diagnosis.faults import CASES, Case, find_case
from benchmarks.diagnosis.job import Job
from benchmarks.diagnosis.recordings import (
    Recording,
    anonymous,
    exists,
    write_recording,
)

CORES = {0, 1}
LIGHT_AT_ONCE = 4
HIGHEST_PRIORITY = -20
LONGEST_SECONDS = 1_000.0
_MOST_BYTES = 64 * 2**20
_CPU_GROUPS = Path("/sys/fs/cgroup/cpu")  # version 1
_GROUPS = Path("/sys/fs/cgroup")  # version 2
_PERIOD = 100_000  # microseconds
_COMPUTE = "while True: pass"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="that need no GPU")
    parser.add_argument("--seeds", "--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--missing", action="store_true", help="only what is missing")
    options = parser.parse_args()
    cases = [find_case(name) for name in options.names]
    if options.all:
        cases = [case for case in CASES if not case.needs_gpu]
    wanted = [
        (case, seed)
        for seed in options.seeds
        for case in cases
        if not (options.missing and exists(case.name, seed))
    ]
    os.sched_setaffinity(0, CORES)
    come_first()
    light = [(c, s) for c, s in wanted if c.is_light]
    with ThreadPoolExecutor(LIGHT_AT_ONCE) as pool:
        list(pool.map(lambda given: tell(*given), light))
    for case, seed in wanted:
        if not case.is_light:
            tell(case, seed)


def tell(case: Case, seed: int) -> None:
    try:
        size = record(case, seed)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        print(f"{case.name} {seed}: {error}", file=sys.stderr, flush=True)
        return
    print(f"{case.name} {seed}: {size:,} bytes", flush=True)


def record(case: Case, seed: int) -> int:
    """Run the job, keep its spools, and return how many bytes they take."""
    return write_recording(run_job(case, seed))


def run_job(case: Case, seed: int) -> Recording:
    with ExitStack() as stack:
        wanted = case.job_of(seed)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        given = stack.enter_context(cpu_quota(wanted.quota_cores))
        given += stack.enter_context(remote_folder(wanted))
        stack.enter_context(neighbours(wanted.neighbours))
        job = subprocess.Popen(
            [
                *(sys.executable, "-m", "benchmarks.diagnosis.trainer"),
                *(case.name, "--seed", str(seed), *given),
            ],
            env={
                **os.environ,
                "SEAMARK_SPOOL": folder,
                "SEAMARK_MODE": "offline",
                "SEAMARK_SAMPLE_SECONDS": f"{wanted.sample_seconds:g}",
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        _, errors = job.communicate(timeout=LONGEST_SECONDS)
        if job.returncode:
            raise ValueError(f"exit code {job.returncode}: {errors[-2000:]}")
        spools = [
            [
                (frame.number, anonymous(frame.payload))
                for frame in spool.frames_from(1, most_bytes=_MOST_BYTES)
            ]
            for spool in find_spools(Path(folder))
        ]
    return Recording(
        case=case.name,
        seed=seed,
        recorded_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        cores=len(CORES),
        spools=spools,
    )


def come_first() -> None:
    """Have the kernel prefer this session's processes; needs root, and is no must.

    Where sessions share the cores in equal parts (autogroups), it is the session's
    number that counts, not the processes'.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_PRIORITY)
        Path("/proc/self/autogroup").write_text(str(HIGHEST_PRIORITY))


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Other programs that compute all the time."""
    programs = [
        subprocess.Popen([sys.executable, "-c", _COMPUTE]) for _ in range(count)
    ]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


@contextmanager
def remote_folder(job: Job) -> Iterator[list[str]]:
    """Files whose every read takes a while, as over a network; needs root."""
    if not job.remote:
        yield []
        return
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "benchmarks.diagnosis.remote", folder),
                *("--files", str(job.files_there), "--bytes", str(job.file_bytes)),
                *("--seconds", str(job.remote)),
            ],
            stdout=subprocess.PIPE,
        )
        try:
            if server.stdout is None or not server.stdout.readline():
                raise ValueError("the remote folder cannot be mounted")
            yield ["--data", folder]
        finally:
            server.terminate()
            server.wait()


@contextmanager
def cpu_quota(cores: float) -> Iterator[list[str]]:
    """Make a control group as a container's, and say which it is; needs root."""
    if not cores:
        yield []
        return
    name = f"seamark-corpus-{os.getpid()}"
    if (_GROUPS / "cgroup.controllers").exists():
        group = _GROUPS / name
        group.mkdir()
        (group / "cpu.weight").write_text("10000")
        (group / "cpu.max").write_text(f"{round(cores * _PERIOD)} {_PERIOD}")
    else:
        group = _CPU_GROUPS / name
        group.mkdir()
        # Whoever else computes gets little, as on a machine of its own.
        (group / "cpu.shares").write_text("65536")
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(round(cores * _PERIOD)))
    try:
        yield ["--group", str(group)]
    finally:
        time.sleep(0.5)
        group.rmdir()


if __name__ == "__main__":
    main()
