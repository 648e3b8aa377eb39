"""Records a case: runs its job with the agent offline, and keeps its upload data.

python -m evaluation.synthetic.record no-workers --seed 1 python -m
evaluation.synthetic.record --all --seeds 1 2 3 python -m evaluation.synthetic.record
--gpu --to FOLDER      on a machine with a GPU python -m evaluation.synthetic.record
--gpu --plan           how long that takes

Needs Linux and two idle cores; for GPU jobs four cores, PyTorch, and an unused GPU. The
CPU use of other programs is among the samples, and score.py reports it.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from evaluation.recordings import (
    SYNTHETIC,
    Recording,
    exists,
    frames_of,
    write_recording,
)
from evaluation.synthetic.faults import CASES, Case, find_case
from evaluation.synthetic.job import Job

CORES = {0, 1}
GPU_CORES = 4
LIGHT_AT_ONCE = 4
HIGHEST_PRIORITY = -20
LONGEST_SECONDS = 1_000.0
_CPU_GROUPS = Path("/sys/fs/cgroup/cpu")  # version 1
_GROUPS = Path("/sys/fs/cgroup")  # version 2
_PERIOD = 100_000  # microseconds
_COMPUTE = "while True: pass"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="that need no GPU")
    parser.add_argument("--gpu", action="store_true", help="that one GPU is enough for")
    parser.add_argument("--long", action="store_true", help="and take minutes each")
    parser.add_argument("--seeds", "--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--missing", action="store_true", help="only what is missing")
    parser.add_argument(
        "--to", type=Path, default=SYNTHETIC, help="a folder to write to"
    )
    parser.add_argument(
        "--plan", action="store_true", help="say what would be recorded"
    )
    parser.add_argument(
        "--most-seconds",
        type=float,
        default=float("inf"),
        help="begin nothing that would not be done by then",
    )
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--seconds", type=float, help="of each GPU job's loop")
    options = parser.parse_args()
    if options.names and (options.all or options.gpu):
        parser.error("names are recorded without --all and --gpu")
    cases = [find_case(name) for name in options.names]
    if options.all:
        cases += [case for case in CASES if not case.needs_gpu]
    if options.gpu:
        cases += [c for c in CASES if c.gpu and (options.long or not c.gpu.is_long)]
    wanted = [
        (case, seed)
        for seed in options.seeds
        for case in cases
        if not (options.missing and exists(case.name, seed, options.to))
    ]
    # Where time is short, more are recorded so.
    wanted.sort(key=lambda given: given[0].gpu.planned_seconds if given[0].gpu else 0.0)
    if options.plan:
        print(plan(wanted))
        return
    come_first()
    # Those without a GPU are kept to two of them.
    usable = sorted(os.sched_getaffinity(0))
    record_on_cpus([(c, s) for c, s in wanted if not c.needs_gpu], options.to)
    record_on_gpu(
        [(c, s) for c, s in wanted if c.gpu],
        options.to,
        cores=usable[:GPU_CORES],
        most_seconds=options.most_seconds,
        arguments=["--device", options.device]
        + (["--seconds", str(options.seconds)] if options.seconds else []),
    )


Wanted = Sequence[tuple[Case, int]]


def plan(wanted: Wanted) -> str:
    """Print the duration of recordings on a GPU, one after the other."""
    rows = [(case.name, case.gpu) for case, _ in wanted if case.gpu]
    lines = [
        f"{name:28} {on.start_seconds:5.0f} s to start, {on.seconds:5.0f} s of the loop"
        for name, on in rows
    ]
    total = sum(on.planned_seconds for _, on in rows)
    return "\n".join([*lines, f"{len(rows)} recordings, {total:.0f} s together"])


def record_on_cpus(wanted: Wanted, folder: Path) -> None:
    if not wanted:
        return
    os.sched_setaffinity(0, CORES)
    light = [(c, s) for c, s in wanted if c.is_light]
    with ThreadPoolExecutor(LIGHT_AT_ONCE) as pool:
        list(pool.map(lambda given: tell(given[0], given[1], folder), light))
    for case, seed in wanted:
        if not case.is_light:
            tell(case, seed, folder)


def record_on_gpu(
    wanted: Wanted,
    folder: Path,
    *,
    cores: Sequence[int],
    most_seconds: float,
    arguments: list[str],
) -> None:
    """One after the other, as they share the card, and the shortest first."""
    if not wanted:
        return
    os.sched_setaffinity(0, cores)
    began = time.monotonic()
    for case, seed in wanted:
        spent = time.monotonic() - began
        if case.gpu and spent + case.gpu.planned_seconds > most_seconds:
            print(f"{case.name} {seed}: no time left", file=sys.stderr, flush=True)
            continue
        tell(case, seed, folder, arguments)
        took = time.monotonic() - began - spent
        print(f"{case.name} {seed}: {took:.1f} s", flush=True)


def tell(
    case: Case, seed: int, folder: Path = SYNTHETIC, arguments: Sequence[str] = ()
) -> None:
    try:
        size = write_recording(run_job(case, seed, arguments), folder)
    except Exception as error:  # noqa: BLE001 - the rim: the others are still recorded
        print(f"{case.name} {seed}: {error}", file=sys.stderr, flush=True)
        return
    print(f"{case.name} {seed}: {size:,} bytes", flush=True)


def run_job(case: Case, seed: int, arguments: Sequence[str] = ()) -> Recording:
    """Run the job and return the upload data of its processes.

    Raises:
        ValueError: It failed, or did not fail as intended.
        subprocess.TimeoutExpired: It took too long, and was killed.
    """
    with ExitStack() as stack:
        wanted = case.job_of(seed)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        given = stack.enter_context(cpu_quota(wanted.quota_cores))
        given += stack.enter_context(remote_folder(wanted))
        stack.enter_context(neighbors(wanted.neighbors))
        trainer = "gpu.trainer" if case.gpu else "trainer"
        seconds = case.gpu.sample_seconds if case.gpu else wanted.sample_seconds
        job = subprocess.Popen(
            [
                *(sys.executable, "-m", f"evaluation.synthetic.{trainer}"),
                *(case.name, "--seed", str(seed), *given, *arguments),
            ],
            env={
                **os.environ,
                "SEAMARK_SPOOL": folder,
                "SEAMARK_MODE": "offline",
                "SEAMARK_SAMPLE_SECONDS": f"{seconds:g}",
            },
            stderr=subprocess.PIPE,
            text=True,
            # A group of its own, so that its workers end with it.
            process_group=0,
        )
        stack.callback(end_group, job)
        most = case.gpu.most_seconds if case.gpu else LONGEST_SECONDS
        _, errors = job.communicate(timeout=most)
        if not ended_as_meant(case, job.returncode, errors, arguments):
            raise ValueError(f"exit code {job.returncode}: {errors[-2000:]}")
        spools = frames_of(Path(folder))
    return Recording(
        case=case.name,
        seed=seed,
        recorded_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        cores=len(os.sched_getaffinity(0)),
        spools=spools,
    )


def ended_as_meant(
    case: Case, code: int, errors: str, arguments: Sequence[str] = ()
) -> bool:
    """Return whether a job ended well, or with its intended error.

    In a trial without a GPU, an out-of-memory job may end well, too.
    """
    if case.gpu is None or not case.gpu.fails_with:
        return code == 0
    return case.gpu.fails_with in errors if code else "cpu" in arguments


def end_group(job: subprocess.Popen[str]) -> None:
    """Kill the remaining processes of a job and its workers."""
    with suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGKILL)
    job.wait()


def come_first() -> None:
    """Have the kernel prefer this session's processes; needs root, and is no must.

    Where sessions share the cores in equal parts (autogroups), it is the session's
    number that counts, not the processes'.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_PRIORITY)
        Path("/proc/self/autogroup").write_text(str(HIGHEST_PRIORITY))


@contextmanager
def neighbors(count: int) -> Iterator[None]:
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
    """Mount files with slow reads, like a network file system; needs root."""
    if not job.remote:
        yield []
        return
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "evaluation.synthetic.remote", folder),
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
    """Make a control group like a container's, and return its name; needs root."""
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
        # Other programs get little CPU time, as if the machine were idle.
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
