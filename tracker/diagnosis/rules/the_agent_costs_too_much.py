"""The agent uses too much CPU.

## Detection
CPU time of the agent's own threads of at least 1 % of a core, plus half a percent per GPU for
the driver calls that read its metrics.

## Why it matters
Monitoring must not change the measured values. A training loop that waits for its Python
thread loses the time that the agent uses.

## Limitations
Most of it can come from the script: metrics that are logged at every step of a fast loop, or
large histograms.
Late samples show that the machine is busy rather than that the agent is; they are displayed,
but raise no finding.

Catalogue: P9, our own overhead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average, margin_above, percentile
from tracker.diagnosis.engine.finding import (
    ALONE,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import usual_gain
from tracker.diagnosis.engine.wording import duration, ordinal, small_percent
from tracker.diagnosis.hardware.gpu_peers import Gpus
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    max_cores: float = 0.01
    max_cores_a_gpu: float = 0.005
    release: float = 0.8
    critical_cores: float = 0.10
    percentile: float = 95.0
    # Share of samples to ignore, for example at the start or during uploads.
    highest_share: float = 0.10


def check(
    agent_cpu_share: Samples,
    *,
    agent_tick_late_seconds: Samples | None = None,
    gpus: Gpus | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    used = _usual(agent_cpu_share.values, limits)
    most = limits.max_cores + limits.max_cores_a_gpu * len(gpus or {})
    if not used >= (limits.release * most if already_open else most):
        return None
    late = (
        percentile(agent_tick_late_seconds, limits.percentile)
        if (agent_tick_late_seconds is not None)
        else None
    )
    return Finding(
        severity=Severity.WARNING if used >= limits.critical_cores else Severity.NOTICE,
        summary=(
            f"The threads of the agent use {small_percent(used)} of a core."
            + (
                f" Monitoring ticks are up to {duration(late)} late."
                if late is not None and late > 0
                else ""
            )
        ),
        evidence=_evidence(used, most, late, limits),
        recommendations=(
            Recommendation(
                "Log less often if steps are short.",
                code="if step % 10 == 0: run.log(metrics)",
            ),
            Recommendation(
                "Measure the hardware less often.",
                suggested="every 5 seconds",
                code="SEAMARK_SAMPLE_SECONDS=5 python train.py",
            ),
        ),
        disproof=(
            "Run some minutes without the agent: if steps are as fast as before, it"
            " uses only idle cores."
        ),
        gain=_gain(used),
        quality=agent_cpu_share.quality,
        margin=margin_above(used, most),
        corroboration=ALONE,
    )


def _usual(values: Array, limits: Limits) -> float:
    """Return the mean without the highest samples, because the agent works more at its start."""
    kept = len(values) - max(1, round(limits.highest_share * len(values)))
    return average(np.sort(values)[: max(1, kept)])


def _evidence(
    used: float, most: float, late: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    share = Evidence(
        "agent_cpu_share",
        "CPU use of the agent, mean without its highest tenth",
        used,
        "cores",
        most,
        Side.ABOVE,
        release=limits.release * most,
    )
    if late is None:
        return (share,)
    percentile_of = (
        f"delay of a monitoring tick, {ordinal(limits.percentile)} percentile"
    )
    return share, Evidence("agent_tick_late_seconds", percentile_of, late, "s")


def _gain(used: float) -> Gain:
    """Return the gain, assuming that all of this time is taken from the training thread."""
    share = min(0.5, used)
    return usual_gain(
        share,
        f"At most, the training thread loses the {small_percent(share)} of a core"
        " that the agent uses; usually other cores are idle.",
        recovers="that",
    )
