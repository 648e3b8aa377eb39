"""The corpus: one line of thought per fault, and jobs that have none.

Rules are named by their number in the catalog, which each states in its last line, so
that a recording is labeled before the rule that it is for exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evaluation.synthetic.gpu.cases import (
    GPU_FAULTS,
    GPU_HEALTHY,
    NOT_ON_ONE_GPU,
    OnGpu,
)
from evaluation.synthetic.healthy import HEALTHY_JOBS
from evaluation.synthetic.job import Job

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Case:
    """`expects` is the primary cause; `also` lists further correct answers.

    `gpu` is the setup on one GPU, `lacks` the reason that one GPU is not enough; a case
    with neither needs no GPU.
    """

    name: str
    injected: str
    expects: str = ""  # empty: healthy
    also: tuple[str, ...] = ()
    job: Job = field(default_factory=Job)
    # Mostly asleep: several of these may be recorded at the same time.
    is_light: bool = False
    gpu: OnGpu | None = None
    lacks: str = ""

    @property
    def needs_gpu(self) -> bool:
        return self.gpu is not None or bool(self.lacks)

    @property
    def is_healthy(self) -> bool:
        return not self.expects

    def job_of(self, seed: int) -> Job:
        return self.job.varied(seed)


@dataclass(frozen=True, slots=True)
class FixedCase(Case):
    """A fault's job with the fault cured, and the same in everything else."""

    fault: Case = field(default_factory=lambda: Case("", ""))
    change: Mapping[str, object] = field(default_factory=dict)

    def job_of(self, seed: int) -> Job:
        return replace(self.fault.job.varied(seed), **self.change)


FAULTS = (
    Case(
        "no-workers",
        "real CPU work in the data set, 0 workers, a core idle",
        "D3",
        ("D5",),
        Job(workers=0, prepare_cpu=0.020),
    ),
    Case(
        "one-worker",
        "real CPU work in the data set, 1 worker, a core idle",
        "D3",
        (),
        Job(workers=1, prepare_cpu=0.050, device=0.020),
    ),
    Case(
        "waiting-data-set",
        "the data set sleeps (an emulated remote source), 0 workers",
        "D3",
        ("D1", "D8"),
        Job(workers=0, prepare_sleep=0.020),
    ),
    Case(
        "waiting-source",
        "the data set sleeps (an emulated remote source), 2 workers that only wait",
        "D1",
        ("D3", "D8"),
        Job(workers=2, prepare_sleep=0.100, device=0.020),
    ),
    Case(
        "costly-preparation",
        "real CPU work in the data set, as many workers as cores",
        "D2",
        ("D15", "D4"),
        Job(workers=2, prepare_cpu=0.080, device=0.020),
    ),
    Case(
        "quota",
        "4 workers under a real CPU quota of 1 core",
        "D4",
        (),
        Job(workers=4, prepare_cpu=0.040, device=0.020, quota_cores=1.0),
    ),
    Case(
        "too-many-threads",
        "2 workers with 6 computing threads each, on 2 cores",
        "D4",
        ("D2",),
        Job(workers=2, prepare_cpu=0.015, prepare_threads=6, device=0.020),
    ),
    Case(
        "threads-share-one-core",
        "plain Python in the data set, 2 threads of the training process",
        "D5",
        ("D2", "D3"),
        Job(workers=2, loads_in_threads=True, prepare_cpu=0.045, device=0.020),
    ),
    Case(
        "storage-throughput",
        "large files read from the disk again each time, by 2 workers",
        "D6",
        ("D9",),
        Job(files=6, file_bytes=8 * MIB, files_there=48, cold="always", device=0.010),
    ),
    Case(
        "small-files",
        "800 files of 4 KiB a batch, read from the disk again each time",
        "D7",
        ("D6", "D9"),
        Job(files=800, cold="always", device=0.015),
    ),
    Case(
        "remote-storage",
        "files on a mounted file system (FUSE) whose every read takes 6 ms",
        "D8",
        ("D7",),
        Job(files=8, file_bytes=65_536, remote=0.006, device=0.010),
        is_light=True,
    ),
    Case(
        "cold-cache",
        "a first epoch from the disk, and the next ones from the page cache",
        "D9",
        ("D6", "D7"),
        Job(
            files=6,
            file_bytes=8 * MIB,
            files_there=48,
            cold="first epoch",
            epoch_steps=200,
            device=0.010,
        ),
    ),
    Case(
        "bursts",
        "each 4th batch costs 14 times as much, and little is prepared ahead",
        "D12",
        ("D14",),
        Job(prepare_cpu=0.009, slow_every=4, slow_factor=14.0, prefetch=1),
    ),
    Case(
        "epochs-restart-workers",
        "new worker processes for each epoch of 60 steps",
        "D13",
        (),
        Job(restarts_workers=True, epoch_steps=60),
    ),
    Case(
        "slow-start",
        "65 s before the first step (asleep, in a phase)",
        "T1",
        (),
        Job(start=65.0),
        is_light=True,
    ),
    Case(
        "stalls",
        "0.4 s of nothing after each 40th step, in no phase",
        "T2",
        (),
        Job(stall_every=40, stall=0.4),
        is_light=True,
    ),
    Case(
        "growing-steps",
        "the step's time grows by half until the end",
        "T3",
        (),
        Job(growth=0.5, seconds=30.0),
        is_light=True,
    ),
    Case(
        "checkpoint-stalls",
        "a checkpoint each 60 steps: 1 MiB to the disk, and 0.4 s asleep",
        "T4",
        ("T2",),
        Job(checkpoint_every=60, checkpoint=0.4),
        is_light=True,
    ),
    Case(
        "long-evaluation",
        "1 s of evaluation after each epoch of 60 steps (asleep)",
        "T5",
        (),
        Job(epoch_steps=60, evaluate=1.0),
        is_light=True,
    ),
    Case(
        "divergence",
        "a learning rate of 2: the loss overflows and is NaN",
        "T7",
        ("P8",),
        Job(learning_rate=2.0),
        is_light=True,
    ),
    Case(
        "host-leak",
        "150 kB kept for ever at each step, for 10.5 minutes",
        "M5",
        ("M4",),
        Job(leak_bytes=150_000, device=0.200, seconds=630.0, sample_seconds=4.0),
        is_light=True,
    ),
    Case(
        "synchronizing-log",
        "8 ms in the phase log at each step (asleep: an emulated synchronization)",
        "C10",
        (),
        Job(log=0.008),
        is_light=True,
    ),
    Case(
        "neighbors",
        "2 other processes that compute all the time, on 2 cores",
        "H9",
        ("D2",),
        Job(prepare_cpu=0.030, device=0.020, neighbors=2),
    ),
    Case(
        "straggler",
        "4 ranks that wait for each other; rank 2 takes half as long again",
        "G3",
        (),
        Job(workers=0, prepare_cpu=0.0002, ranks=4, slow_rank=2, slow_rank_factor=1.5),
        is_light=True,
    ),
    Case(
        "model-loaded-per-request",
        "a service that loads its model for every request",
        "I1",
        (),
        Job(kind="serve", loads_per_request=True, load_model=0.15),
        is_light=True,
    ),
    Case(
        "cold-first-request",
        "a service that loads its model in the first request, which takes 20 times as"
        " long besides",
        "I4",
        ("I6",),
        Job(kind="serve", first_request_factor=20.0, loads_in_first_request=True),
        is_light=True,
    ),
    Case(
        "gap-between-stages",
        "62 s of nothing between preprocessing and training",
        "P2",
        (),
        Job(gap=62.0),
        is_light=True,
    ),
    *(
        Case(name, injected, expects, also, gpu=gpu)
        for name, injected, expects, also, gpu in GPU_FAULTS
    ),
    *(
        Case(name, injected, expects, lacks=lacks)
        for name, injected, expects, lacks in NOT_ON_ONE_GPU
    ),
)

HEALTHY = tuple(
    Case(f"healthy-{name}", told, job=job, is_light=is_light)
    for name, told, is_light, job in HEALTHY_JOBS
) + tuple(Case(f"healthy-{name}", told, gpu=gpu) for name, told, gpu in GPU_HEALTHY)

# The recommended fix as changes of the job, by the name of the fault.
FIXES: dict[str, dict[str, object]] = {
    "no-workers": {"workers": 1},
    "one-worker": {"workers": 2},
    "waiting-data-set": {"workers": 1},
    "waiting-source": {"workers": 6},
    "costly-preparation": {"prepare_cpu": 0.010},
    "quota": {"quota_cores": 0.0, "workers": 2},
    "storage-throughput": {"cold": "never"},
    "small-files": {"cold": "never", "files": 50},
    "remote-storage": {"remote": 0.0},
    "bursts": {"prefetch": 8},
    "epochs-restart-workers": {"restarts_workers": False},
    "stalls": {"stall_every": 0},
    "growing-steps": {"growth": 0.0},
    "checkpoint-stalls": {"checkpoint_every": 600},
    "long-evaluation": {"evaluate": 0.1},
    "synchronizing-log": {"log": 0.0},
    "straggler": {"slow_rank_factor": 1.0},
    "neighbors": {"neighbors": 0},
}

FIXED = tuple(
    FixedCase(
        f"{fault.name}-fixed",
        f"{fault.name}, cured",
        is_light=fault.is_light,
        fault=fault,
        change=FIXES[fault.name],
    )
    for fault in FAULTS
    if fault.name in FIXES
)

CASES = FAULTS + HEALTHY


def find_case(name: str) -> Case:
    """Return the case of that name."""
    for case in CASES + FIXED:
        if case.name == name:
            return case
    raise SystemExit(f"there is no {name!r}; there are {[c.name for c in CASES]}")
