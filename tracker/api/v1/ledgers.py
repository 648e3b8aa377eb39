"""Time breakdowns of stages, runs and projects."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema

from tracker.access.projects import readable_project
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.diagnosis.breakdown.categories import Ledger
from tracker.queries.diagnoses.time_breakdowns import LedgerView
from tracker.queries.hardware.gpu_hours import (
    Group,
    GroupHours,
    hours_by,
    most_wasted,
    total_hours,
    trend_of,
)

GPU_SECONDS, SECONDS = "GPU-seconds", "seconds"
MAX_DAYS = 36_500

router = Router(tags=["projects"], auth=ReaderAuth())


class LedgerOut(Schema):
    """Seconds by category: GPU-seconds, or stage seconds without GPUs.

    The seconds add up to the total time. `computing` and `idle_in_steps` are measured
    GPU activity; without a measurement that time is `unattributed`. `energy_joules`
    covers the stages whose GPUs all report energy; null without any.
    """

    gpus: int
    unit: str
    seconds: dict[str, float | str]
    energy_joules: float | str | None


class PricedLedgerOut(LedgerOut):
    """The cost is null without a price of the project."""

    money: float | str | None
    currency: str


class ProjectSharesOut(Schema):
    """Seconds of all GPUs by category. The cost is null without a price of the project."""

    unit: str
    seconds: dict[str, float | str]
    energy_joules: float | str | None
    money: float | str | None
    currency: str


class MemberLedgerOut(Schema):
    """The name is empty for runs without a known creator."""

    member: str
    runs: int
    ledger: ProjectSharesOut


class GroupLedgerOut(Schema):
    """The name is empty for runs without a known machine or GPU type."""

    name: str
    runs: int
    ledger: ProjectSharesOut


class RunLedgerOut(Schema):
    """`finding` is the title of the main finding; empty without one."""

    run_id: UUID
    name: str
    finding: str
    ledger: ProjectSharesOut


class PeriodOut(Schema):
    """Runs that started from `start` on (UTC); `ledger` is null without GPU time."""

    start: date
    days: int
    ledger: ProjectSharesOut | None


class ProjectLedgerOut(Schema):
    """`ledger` is null if no stage that held a GPU was diagnosed.

    `runs` are the 20 with the most wasted GPU time.
    """

    ledger: ProjectSharesOut | None
    members: list[MemberLedgerOut]
    machines: list[GroupLedgerOut]
    gpus: list[GroupLedgerOut]
    periods: list[PeriodOut]
    runs: list[RunLedgerOut]


@router.get(
    "/projects/{slug:workspace}/{slug:project}/ledger", response=ProjectLedgerOut
)
def read_ledger(
    request: ApiRequest,
    workspace: str,
    project: str,
    days: Annotated[int | None, Query(ge=1, le=MAX_DAYS)] = None,
) -> HttpResponse:
    """The time breakdown of all runs, or of those started in the last `days`."""
    found = readable_project(request.auth, workspace, project)
    now = timezone.now()
    since = None if days is None else now - timedelta(days=days)
    total = total_hours(found, since=since)
    trend = trend_of(found, since=since, now=now)
    return json_response(
        {
            "ledger": None if total is None else _shares(total),
            "members": [
                {
                    "member": each.name,
                    "runs": each.run_count,
                    "ledger": _shares(each.ledger),
                }
                for each in hours_by(found, Group.MEMBER, since=since)
            ],
            "machines": _groups(hours_by(found, Group.MACHINE, since=since)),
            "gpus": _groups(hours_by(found, Group.GPU, since=since)),
            "periods": [
                {
                    "start": each.start,
                    "days": 7 if trend.is_weekly else 1,
                    "ledger": None if each.ledger is None else _shares(each.ledger),
                }
                for each in trend.periods
            ],
            "runs": [
                {
                    "run_id": each.run_id,
                    "name": each.name,
                    "finding": each.finding,
                    "ledger": _shares(each.ledger),
                }
                for each in most_wasted(found, since=since)
            ],
        }
    )


def _groups(groups: list[GroupHours]) -> list[dict[str, object]]:
    return [
        {"name": each.name, "runs": each.run_count, "ledger": _shares(each.ledger)}
        for each in groups
    ]


def plain_ledger(ledger: Ledger | None) -> dict[str, object] | None:
    """Return a stage's ledger as JSON."""
    if ledger is None:
        return None
    return {
        "gpus": ledger.gpus,
        "unit": GPU_SECONDS if ledger.gpus else SECONDS,
        "seconds": {use.value: number(each) for use, each in ledger.seconds.items()},
        "energy_joules": number(ledger.energy_joules),
    }


def priced_ledger(ledger: LedgerView | None) -> dict[str, object] | None:
    """Return a run's ledger as JSON, with its cost."""
    if ledger is None:
        return None
    return {"gpus": ledger.gpus, **_shares(ledger)}


def _shares(ledger: LedgerView) -> dict[str, object]:
    return {
        "unit": GPU_SECONDS if ledger.gpus else SECONDS,
        "seconds": {part.use: number(part.seconds) for part in ledger.parts},
        "energy_joules": number(ledger.energy_joules),
        "money": number(ledger.money),
        "currency": ledger.currency,
    }
