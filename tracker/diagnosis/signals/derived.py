"""What is worked out from other data: signals without a path of their own."""

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
        "Utilization of the busiest GPU at each reading.",
    ),
    Signal("step_times", "", "µs", Kind.TIMES, "When each step ended.", LOADER),
    Signal(
        "requests",
        "",
        "s",
        Kind.SPANS,
        "Requests of a service, with what they wait for and are made of.",
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
    fact("logging_ranks", "", "ranks", "Processes of the stage that log."),
    fact(
        "same_stage_runs",
        "",
        "runs",
        "Runs of the project that did the same before: this stage, by the same script"
        " with the same arguments.",
        INIT,
    ),
    fact(
        "same_stage_seconds",
        "",
        "s",
        "Time that these runs spent on this stage.",
        INIT,
    ),
    per_step(
        "step_end_seconds", "", "s", "When each step ended, in seconds since 1970."
    ),
    per_step(
        "gap_before_step_seconds",
        "",
        "s",
        "Time since the step before had ended: between epochs, the first batch's too.",
    ),
    fact(
        "best_read_bytes_per_second",
        "",
        "B/s",
        "Best read rate that runs of this project had on this host.",
    ),
    fact("stage_name", "", WORD, "Name of the stage."),
    fact("stage_state", "", WORD, "State of the stage, such as running or failed."),
    fact(
        "stage_share_of_run",
        "",
        "",
        "Share of the run's time that this stage took.",
    ),
    fact("stage_seconds", "", "s", "How long the stage has run."),
    fact(
        "gap_before_stage_seconds",
        "",
        "s",
        "Time between the end of the stage before and the start of this one.",
    ),
    fact(
        "earlier_runs",
        "",
        "runs",
        "Latest runs of the project that had this stage, on GPUs like these.",
    ),
    fact(
        "earlier_runs_gpu_p95_percent",
        "",
        "%",
        "Their GPUs' use in the 95th percentile of each tick, mean; of the busiest.",
    ),
    fact(
        "earlier_runs_gpu_memory_share",
        "",
        "share",
        "The most of a GPU's memory that was in use in any of them.",
    ),
    fact(
        "silent_seconds",
        "",
        "s",
        "How long nothing has come from a stage that runs.",
    ),
)
