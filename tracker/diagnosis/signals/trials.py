"""What `run.probe` found when it tried parts of the training by themselves."""

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
        "Time of a step on one batch, repeated: no loader makes it shorter.",
        SYNTHETIC,
    ),
    fact(
        "probe_loader_seconds",
        "probe/loader/batch_seconds",
        "s",
        "Time of a batch from the loader alone: no model makes it shorter.",
        LOADER,
    ),
    fact(
        "probe_prepare_seconds",
        "probe/cached/batch_seconds",
        "s",
        "Time of a batch from the loader alone that was loaded just before.",
        CACHED,
    ),
    fact(
        "probe_fetch_seconds",
        "probe/cached/fetch_seconds",
        "s",
        "How much longer the batch took that had not been loaded before.",
        CACHED,
    ),
    fact(
        "probe_batch_base_seconds",
        "probe/batch/base_seconds",
        "s",
        "The part of a step's time that no batch size changes.",
        BATCH,
    ),
    fact(
        "probe_batch_seconds_per_example",
        "probe/batch/seconds_per_example",
        "s",
        "What each example of a batch adds to a step's time.",
        BATCH,
    ),
    fact(
        "probe_batch_largest",
        "probe/batch/largest",
        "examples",
        "The largest batch that fits into the memory.",
        BATCH,
    ),
    fact(
        "probe_workers_best",
        "probe/workers/best",
        "processes",
        "The fewest loader workers that are hardly slower than any number.",
        WORKERS,
    ),
    fact(
        "probe_workers_seconds",
        "probe/workers/batch_seconds",
        "s",
        "Time of a batch from the loader alone with so many workers.",
        WORKERS,
    ),
)
