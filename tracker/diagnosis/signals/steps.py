"""Signals that are measured per step, on one rank or on all."""

from __future__ import annotations

from tracker.diagnosis.signals.signal import (
    LEARNING_RATE,
    LOADER,
    LOSS,
    PART,
    PHASE,
    VALIDATION,
    Kind,
    Signal,
    per_step,
)


def _traced(name: str, path: str, unit: str, description: str) -> Signal:
    return Signal(
        name,
        f"step/trace/{path}",
        unit,
        Kind.PER_STEP,
        description,
        "seamark import trace FILE",
    )


STEPS = (
    per_step("step_seconds", "step/seconds", "s", "Wall time of one step."),
    per_step(
        "data_wait_seconds",
        "step/data_wait_seconds",
        "s",
        "Time waiting for the batch, part of the step's wall time.",
    ),
    per_step("step_examples", "step/examples", "examples", "Examples in the batch."),
    _traced(
        "exposed_wait_seconds",
        "exposed_wait_seconds",
        "s",
        "Time waiting for the batch while no kernel ran, from a profiler trace.",
    ),
    _traced(
        "exposed_communication_seconds",
        "exposed_communication_seconds",
        "s",
        "Time in collectives while no other kernel ran, from a profiler trace.",
    ),
    _traced(
        "exposed_copy_seconds",
        "exposed_copy_seconds",
        "s",
        "Time of copies to the GPU while no kernel ran, from a profiler trace.",
    ),
    _traced(
        "traced_kernels",
        "kernels",
        "kernels",
        "Kernels started in a step, from a profiler trace; 0 for other steps.",
    ),
    _traced(
        "traced_idle_seconds",
        "gpu_idle_seconds",
        "s",
        "Time of a step in which the GPU was idle, from a profiler trace.",
    ),
    _traced(
        "traced_longest_gap_seconds",
        "longest_gap_seconds",
        "s",
        "Longest time without a kernel in a step, from a profiler trace.",
    ),
    Signal(
        "phase_seconds",
        "step/phase/<name>_seconds",
        "s",
        Kind.PHASES,
        "Time that the script spent in each named phase of a step.",
        PHASE,
    ),
    Signal(
        "device_phase_seconds",
        "step/device/<name>_seconds",
        "s",
        Kind.PHASES,
        "Time that the GPU spent on each named phase of a step; NaN where unknown.",
        PHASE,
    ),
    Signal(
        "spans",
        "step/phase/<name>_seconds",
        "s",
        Kind.SPANS,
        "Phases outside of steps, such as an evaluation, each with its end time.",
        'with run.phase("evaluate"):',
    ),
    Signal(
        "request_parts",
        "step/nested/<name>/<part>_seconds",
        "s",
        Kind.PARTS,
        "Time of other phases within requests of a service, at the end of each request.",
        PART,
    ),
    Signal(
        "losses",
        "",
        "",
        Kind.TRACKED,
        "Losses that the run logs, by path.",
        LOSS,
    ),
    Signal(
        "evaluations",
        "",
        "",
        Kind.TRACKED,
        "Evaluation metrics that the run logs, by path.",
        VALIDATION,
    ),
    Signal(
        "learning_rates",
        "",
        "",
        Kind.TRACKED,
        "Learning rates that the run logs, by path.",
        LEARNING_RATE,
    ),
    Signal(
        "ranks",
        "step/seconds",
        "s",
        Kind.RANKS,
        "Steps of all ranks side by side.",
        LOADER,
    ),
)
