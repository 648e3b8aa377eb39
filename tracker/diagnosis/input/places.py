"""Adds to findings the line of the script that takes the time, from the profile (pure)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tracker.diagnosis.analysis.code_profile import (
    START,
    STEPS,
    CallTree,
    parse_profile,
)
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.engine.finding import Evidence, Finding
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.input.activities import (
    CODE_PROFILE,
    DATA,
    FEWEST_SAMPLES,
    LOADER,
    kind_of_stack,
    place_of,
)

# A line with less of the samples is not worth a sentence.
NOTABLE_SHARE = 0.10

# The sentence that names a line begins with this; share links hide it.
THREAD_IS_IN = " The training thread is in "

Selects = Callable[[CallTree, int], bool]


def _of_kind(*kinds: PhaseKind) -> Selects:
    return lambda tree, position: kind_of_stack(tree, position) in kinds


def _loading(tree: CallTree, position: int) -> bool:
    stack = tree.stack(position)
    return any(node.where == LOADER for node in stack) or (
        kind_of_stack(tree, position) in DATA
    )


# Period and samples that belong to a rule; None: all samples.
PLACES: dict[str, tuple[str, Selects | None]] = {
    "data-wait-dominates": (STEPS, _loading),
    "too-few-loader-workers": (STEPS, _loading),
    "preprocessing-is-cpu-bound": (STEPS, _loading),
    "reads-are-small": (STEPS, _loading),
    "remote-storage-is-the-limit": (STEPS, _loading),
    "checkpoints-take-long": (STEPS, _of_kind(PhaseKind.CHECKPOINT)),
    "logging-interrupts-training": (STEPS, _of_kind(PhaseKind.LOG)),
    "evaluation-takes-long": (STEPS, _of_kind(PhaseKind.EVALUATE)),
    "model-is-loaded-per-request": (STEPS, _of_kind(PhaseKind.LOAD_MODEL)),
    "first-step-comes-late": (START, None),
    "step-time-is-in-no-phase": (STEPS, None),
    "steps-become-slower": (STEPS, None),
    "one-core-does-the-work": (STEPS, None),
    "gpu-and-cpu-are-both-idle": (STEPS, None),
    "gpu-utilization-is-low": (STEPS, None),
    "launching-work-limits-the-gpu": (STEPS, None),
}


def with_place(rule: str, finding: Finding, code_profile: object) -> Finding:
    """Return the finding with the line that has most of its samples, if one stands out."""
    if rule not in PLACES or not isinstance(code_profile, str):
        return finding
    period, selects = PLACES[rule]
    tree = parse_profile(code_profile).get(period)
    if tree is None or tree.samples < FEWEST_SAMPLES:
        return finding
    found = [
        i
        for i, node in enumerate(tree.nodes)
        if node.samples and (selects is None or selects(tree, i))
    ]
    place, samples = place_of(tree, found)
    share = samples / tree.samples
    is_of_profile = any(cited.signal == CODE_PROFILE for cited in finding.evidence)
    if share < NOTABLE_SHARE or is_of_profile:
        return finding
    during = "training" if period == STEPS else "the start"
    return replace(
        finding,
        summary=(
            f"{finding.summary}{THREAD_IS_IN}{place} for {percent(share)} of {during}."
        ),
        evidence=(
            *finding.evidence,
            Evidence(CODE_PROFILE, f"samples in {place}, share", share, "share"),
        ),
    )
