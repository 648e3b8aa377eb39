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

MAX_CORES = 0.01
MAX_CORES_A_GPU = 0.005
RELEASE = 0.8
CRITICAL_CORES = 0.10
PERCENTILE = 95.0
# Share of samples to ignore, for example at the start or during uploads.
HIGHEST_SHARE = 0.10


def check(
    agent_cpu_share: Samples,
    *,
    agent_tick_late_seconds: Samples | None = None,
    gpus: Gpus | None = None,
    already_open: bool = False,
) -> Answer:
    used = _usual(agent_cpu_share.values)
    most = MAX_CORES + MAX_CORES_A_GPU * len(gpus or {})
    if not used >= (RELEASE * most if already_open else most):
        return None
    late = (
        percentile(agent_tick_late_seconds, PERCENTILE)
        if (agent_tick_late_seconds is not None)
        else None
    )
    return Finding(
        severity=Severity.WARNING if used >= CRITICAL_CORES else Severity.NOTICE,
        summary=(
            f"The threads of the agent use {small_percent(used)} of a core."
            + (
                f" Monitoring ticks are up to {duration(late)} late."
                if late is not None and late > 0
                else ""
            )
        ),
        evidence=_evidence(used, most, late),
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


def _usual(values: Array) -> float:
    """Return the mean without the highest samples, because the agent works more at its start."""
    kept = len(values) - max(1, round(HIGHEST_SHARE * len(values)))
    return average(np.sort(values)[: max(1, kept)])


def _evidence(used: float, most: float, late: float | None) -> tuple[Evidence, ...]:
    share = Evidence(
        "agent_cpu_share",
        "CPU use of the agent, mean without its highest tenth",
        used,
        "cores",
        most,
        Side.ABOVE,
        release=RELEASE * most,
    )
    if late is None:
        return (share,)
    percentile_of = f"delay of a monitoring tick, {ordinal(PERCENTILE)} percentile"
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
