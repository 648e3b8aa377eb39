"""Jobs that have no fault, each of them like one in one respect."""

from __future__ import annotations

from evaluation.synthetic.job import Job

MIB = 1 << 20

# Name, description, whether it is mostly asleep, and the job.
HEALTHY_JOBS = (
    ("usual", "2 workers that keep up", True, Job()),
    (
        "no-workers",
        "0 workers, and preparation that costs 2 % of a step",
        True,
        Job(workers=0, prepare_cpu=0.0006),
    ),
    ("short-steps", "steps of 10 ms", True, Job(device=0.010, prepare_cpu=0.001)),
    ("long-steps", "steps of 150 ms", True, Job(device=0.150, prepare_cpu=0.010)),
    (
        "uneven-steps",
        "steps whose length varies by 40 %, as with sentences",
        True,
        Job(device_spread=0.4),
    ),
    (
        "busy-workers",
        "workers that use 60 % of a core and keep up",
        False,
        Job(prepare_cpu=0.020, device=0.035),
    ),
    (
        "epochs",
        "epochs of 200 steps with workers that live on, short evaluations",
        True,
        Job(epoch_steps=200, evaluate=0.15),
    ),
    (
        "checkpoints",
        "a checkpoint of 10 ms each 100 steps",
        True,
        Job(checkpoint_every=100, checkpoint=0.005, checkpoint_bytes=65_536),
    ),
    (
        "large-from-the-start",
        "700 MB allocated at the start, and no more",
        True,
        Job(allocates_bytes=700_000_000),
    ),
    (
        "quota-not-reached",
        "a CPU quota of 1.5 cores of which a third is used",
        False,
        Job(quota_cores=1.5, prepare_cpu=0.008),
    ),
    (
        "cached-files",
        "many small files that the page cache holds",
        True,
        Job(files=40),
    ),
    (
        "computes-on-the-cpu",
        "the training process computes on one core, all the time",
        False,
        Job(device=0.004, step_cpu=0.026, prepare_cpu=0.003),
    ),
    (
        "balanced-ranks",
        "4 ranks that wait for each other, equally fast",
        True,
        Job(workers=0, prepare_cpu=0.0002, ranks=4),
    ),
    (
        "service",
        "a service that loads its model once",
        True,
        Job(kind="serve"),
    ),
)
