"""What is worked out from other data: signals without a path of their own."""

from __future__ import annotations

from tracker.diagnosis.signals.signal import WORD, fact, per_step, sampled

DERIVED = (
    sampled(
        "busiest_gpu_percent",
        "",
        "%",
        "Utilization of the busiest GPU at each reading.",
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
        "silent_seconds",
        "",
        "s",
        "How long nothing has come from a stage that runs.",
    ),
)
