"""Preprocessing is repeated in every run.

## Detection
A preprocessing stage, by its name, that at least two earlier runs of the project have already
executed with the same script and the same arguments.

## Why it matters
Its result could be stored and reused, so that each run starts with its own work.

## Limitations
It is unknown whether the input was the same: new data under the same name look the same.
A script with random choices produces a different result each time.
If the arguments contain the name or the folder of the run, they differ, and the repetition is
not detected.

Catalogue: P3, same preprocessing repeated across runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.engine.finding import (
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, percent

SPAN = Span.STAGE

PREPARES = re.compile(
    r"prep|token|extract|convert|download|feature|data|decode|resize|shard", re.I
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Including this run.
    fewest_runs: int = 3
    shortest_seconds: float = 10.0
    smallest_share_of_run: float = 0.05
    warning_share_of_run: float = 0.30


def check(
    stage_name: str,
    *,
    same_stage_runs: float | None = None,
    stage_seconds: float | None = None,
    stage_share_of_run: float | None = None,
    same_stage_seconds: float | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if not PREPARES.search(stage_name):
        return None
    if same_stage_runs is None or stage_seconds is None:
        return Abstention(("same_stage_runs", "stage_seconds"))
    share = stage_share_of_run or 0.0
    runs = same_stage_runs + 1
    is_short = stage_seconds < limits.shortest_seconds
    if runs < limits.fewest_runs or is_short or share < limits.smallest_share_of_run:
        return None

    spent = stage_seconds + (same_stage_seconds or 0.0)
    return Finding(
        severity=(
            Severity.WARNING
            if share >= limits.warning_share_of_run
            else Severity.NOTICE
        ),
        summary=(
            f"{runs:g} runs of this project ran this stage with the same script"
            f" and arguments, {duration(spent)} in total. It is {percent(share)}"
            " of this run."
        ),
        evidence=(
            Evidence(
                "same_stage_runs",
                "runs of this stage, including this one",
                runs,
                "runs",
                float(limits.fewest_runs),
                Side.ABOVE,
            ),
            Evidence(
                "same_stage_seconds", "time of this stage in all runs", spent, "s"
            ),
            Evidence(
                "stage_share_of_run",
                "stage, share of the run",
                share,
                "share",
                limits.smallest_share_of_run,
                Side.ABOVE,
            ),
        ),
        recommendations=(
            Recommendation(
                "Store the result of this stage under a key made of its script, its"
                " arguments and its input, and skip the stage if the result exists.",
                current=f"done {runs:g} times",
                suggested="done once",
                code="if not (cache / key).exists(): preprocess(source, cache / key)",
            ),
        ),
        disproof=(
            "Compare the results of two of these runs: if they differ, the work was not the same."
        ),
        quality=SAMPLED,
        margin=margin_above(runs, limits.fewest_runs),
        corroboration=ALONE,
    )
