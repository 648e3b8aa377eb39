"""The ladder schemas of the API."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ninja import Field, Schema
from pydantic.config import JsonDict

from tracker.actions.ladders import NAME_LENGTH, NOTE_LENGTH, RUNGS_AT_MOST

# For the description only: the action validates with better error messages.
NAME: JsonDict = {
    "minLength": 1,
    "maxLength": NAME_LENGTH,
    "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$",
}
NOTE: JsonDict = {"maxLength": NOTE_LENGTH, "pattern": r"^[^\x00]*$"}
RUNGS: JsonDict = {"minItems": 1, "maxItems": RUNGS_AT_MOST}


class RungIn(Schema):
    run: str = Field(description="The run's id or name.")
    note: str = Field(
        "",
        description="The change since the previous step.",
        json_schema_extra=NOTE,
    )


class LadderIn(Schema):
    name: str = Field(json_schema_extra=NAME)
    rungs: list[RungIn] = Field(
        description="The baseline first; each run once.", json_schema_extra=RUNGS
    )


class RungLabelOut(Schema):
    label: str
    state: str


class LadderSummaryOut(Schema):
    id: UUID
    name: str
    created_at: datetime
    rungs: list[RungLabelOut]


class LaddersOut(Schema):
    ladders: list[LadderSummaryOut]


class StageTimeOut(Schema):
    name: str
    state: str
    seconds: float | None


class ValueChangeOut(Schema):
    """Null: absent in that run."""

    path: str
    before: float | int | bool | str | list[str] | datetime | None
    after: float | int | bool | str | list[str] | datetime | None


class PartOut(Schema):
    name: str
    seconds: float


class StepOut(Schema):
    """The steady part of the stage; `parts` are means that add up to `mean_seconds`."""

    step_count: int
    is_steady: bool
    median_seconds: float
    mean_seconds: float
    parts: list[PartOut]
    steps_per_second: float
    examples_per_step: float | None
    examples_per_second: float | None
    cpu_cores: float | None
    cpu_percent: float | None
    gpu_percent: float | None


class ChangeOut(Schema):
    """Throughput after divided by throughput before, with its 95 % interval."""

    ratio: float
    low: float
    high: float
    verdict: str
    materiality: str = Field(description="material, moderate or none")
    is_rough: bool = Field(description="One run has fewer than 150 steady steps.")
    text: str


class RungFindingOut(Schema):
    stage: str
    rule: str
    title: str
    severity: str


class FindingChangesOut(Schema):
    """`found` were not checked before; `unjudged` could not be checked again."""

    gone: list[RungFindingOut]
    new: list[RungFindingOut]
    kept: list[RungFindingOut]
    found: list[RungFindingOut]
    unjudged: list[RungFindingOut]


class PredictionOut(Schema):
    """The predicted speedup of fixing the step's finding, and whether it is fixed."""

    rule: str
    title: str
    bound: float | str
    likely: float | str
    is_fixed: bool | None


class LevelOut(Schema):
    """The loss of two runs after `at` examples or seconds, with its standard error."""

    at: float | str
    before: float | str
    after: float | str
    noise: float | str
    is_worse: bool


class LearnedOut(Schema):
    path: str
    at_equal_examples: LevelOut | None
    at_equal_time: LevelOut | None


class LeftOut(Schema):
    """The combined prediction for the last step's findings; null if unknown.

    `unanswered` counts rules of its stage without enough data.
    """

    likely_share: float | str
    titles: list[str]
    advises_stop: bool
    unanswered: int


class RungOut(Schema):
    """Null if unknown; `why_no_change` is the reason for a missing verdict."""

    position: int
    run_id: UUID
    run: str
    state: str
    label: str
    note: str
    total_seconds: float | None
    stages: list[StageTimeOut]
    changed_params: list[ValueChangeOut]
    changed_machine: list[ValueChangeOut]
    step: StepOut | None
    against_previous: ChangeOut | None
    against_baseline: ChangeOut | None
    why_no_change: str
    gpu_count: int | None
    quality: float | int | bool | str | list[str] | datetime | None
    is_diagnosed: bool
    findings: FindingChangesOut
    predicted: PredictionOut | None
    outcome: str | None
    learned: LearnedOut | None
    is_faster_but_worse: bool


class LadderOut(Schema):
    """`summary` is null while no step can be compared with the baseline."""

    id: UUID
    name: str
    stage: str | None
    quality_path: str | None
    summary: str | None
    left: LeftOut | None
    rungs: list[RungOut]
