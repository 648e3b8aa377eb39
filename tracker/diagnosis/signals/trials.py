"""Results of `run.probe`, which measures parts of the training separately."""

from __future__ import annotations

from tracker.diagnosis.signals.signal import fact

SYNTHETIC = "run.probe.synthetic(step, batch)"
LOADER = "run.probe.loader(loader)"
CACHED = "run.probe.cached(loader)"
BATCH = "run.probe.batch(step, make_batch)"
WORKERS = "run.probe.workers(make_loader)"

TRIALS = (
    fact(
        "probe_step_seconds",
        "probe/synthetic/step_seconds",
        "s",
        "Time of a step on one repeated batch: the floor for any loader.",
        SYNTHETIC,
    ),
    fact(
        "probe_loader_seconds",
        "probe/loader/batch_seconds",
        "s",
        "Time of a batch from the loader alone: the floor for any model.",
        LOADER,
    ),
    fact(
        "probe_prepare_seconds",
        "probe/cached/batch_seconds",
        "s",
        "Time to load a batch again right after it was loaded.",
        CACHED,
    ),
    fact(
        "probe_fetch_seconds",
        "probe/cached/fetch_seconds",
        "s",
        "Additional time of the first load of the same batch.",
        CACHED,
    ),
    fact(
        "probe_batch_base_seconds",
        "probe/batch/base_seconds",
        "s",
        "Part of the step time that does not depend on the batch size.",
        BATCH,
    ),
    fact(
        "probe_batch_seconds_per_example",
        "probe/batch/seconds_per_example",
        "s",
        "Additional step time per example of a batch.",
        BATCH,
    ),
    fact(
        "probe_batch_largest",
        "probe/batch/largest",
        "examples",
        "Largest batch that fits in memory.",
        BATCH,
    ),
    fact(
        "probe_workers_best",
        "probe/workers/best",
        "processes",
        "Smallest number of loader workers that is nearly as fast as the best.",
        WORKERS,
    ),
    fact(
        "probe_workers_seconds",
        "probe/workers/batch_seconds",
        "s",
        "Time of a batch from the loader alone with that many workers.",
        WORKERS,
    ),
)
