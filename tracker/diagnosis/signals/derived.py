"""Signals that are computed from other data and have no path."""

from __future__ import annotations

from tracker.diagnosis.signals.signal import (
    INIT,
    LADDER,
    LOADER,
    REQUEST,
    WORD,
    Kind,
    Signal,
    fact,
    per_step,
    sampled,
)

DERIVED = (
    sampled(
        "busiest_gpu_percent",
        "",
        "%",
        "Utilization of the busiest GPU in each sample.",
    ),
    Signal("step_times", "", "µs", Kind.TIMES, "End time of each step.", LOADER),
    Signal(
        "requests",
        "",
        "s",
        Kind.SPANS,
        "Requests of a service, with their phases.",
        REQUEST,
    ),
    Signal(
        "run_of_fewer_ranks",
        "",
        "",
        Kind.EARLIER,
        "An earlier run of the project with the same stage on fewer ranks.",
        LOADER,
    ),
    Signal(
        "rung_before",
        "",
        "",
        Kind.EARLIER,
        "The run before this one on a ladder.",
        LADDER,
    ),
    Signal(
        "same_name_runs",
        "",
        "",
        Kind.EARLIER,
        "The last runs of this name in the project, on the same hardware and with the"
        " same parameters.",
        LOADER,
    ),
    fact(
        "log_interval_steps",
        "",
        "steps",
        "Steps between logged points, if step times are known from these only.",
        LOADER,
    ),
    fact("logging_ranks", "", "ranks", "Processes of the stage that log."),
    fact(
        "same_stage_runs",
        "",
        "runs",
        "Runs of the project with this stage, the same script and the same arguments.",
        INIT,
    ),
    fact(
        "same_stage_seconds",
        "",
        "s",
        "Time of this stage in these runs.",
        INIT,
    ),
    per_step(
        "step_end_seconds", "", "s", "End time of each step, in seconds since 1970."
    ),
    per_step(
        "gap_before_step_seconds",
        "",
        "s",
        "Time since the end of the previous step; between epochs including the first batch.",
    ),
    fact(
        "best_read_bytes_per_second",
        "",
        "B/s",
        "Best read rate of runs of this project on this host.",
    ),
    fact("stage_name", "", WORD, "Name of the stage."),
    fact("stage_state", "", WORD, "State of the stage, such as running or failed."),
    fact(
        "stage_share_of_run",
        "",
        "",
        "Share of the run's time in this stage.",
    ),
    fact("stage_seconds", "", "s", "Duration of the stage so far."),
    fact(
        "gap_before_stage_seconds",
        "",
        "s",
        "Time between the end of the previous stage and the start of this one.",
    ),
    fact(
        "earlier_runs",
        "",
        "runs",
        "Latest runs of the project with this stage, on the same GPU model.",
    ),
    fact(
        "earlier_runs_gpu_p95_percent",
        "",
        "%",
        "95th percentile of GPU utilization in them, mean over samples; of the busiest GPU.",
    ),
    fact(
        "earlier_runs_gpu_memory_share",
        "",
        "share",
        "Highest share of GPU memory in use in any of them.",
    ),
    fact(
        "silent_seconds",
        "",
        "s",
        "Time since the last data of a running stage.",
    ),
)
