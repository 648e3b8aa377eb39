"""Time breakdowns of stages, runs and projects."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema

from tracker.access.objects import readable_project
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.diagnosis.breakdown.categories import Ledger
from tracker.queries.diagnoses.time_breakdowns import LedgerView, project_ledger

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


class RunLedgerOut(Schema):
    run_id: UUID
    name: str
    ledger: ProjectSharesOut


class ProjectLedgerOut(Schema):
    """`ledger` is null if no stage that held a GPU was diagnosed.

    `runs` are the 20 with the most wasted GPU time.
    """

    ledger: ProjectSharesOut | None
    members: list[MemberLedgerOut]
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
    since = None if days is None else timezone.now() - timedelta(days=days)
    hours = project_ledger(found, since=since)
    return json_response(
        {
            "ledger": None if hours.total is None else _shares(hours.total),
            "members": [
                {
                    "member": each.name,
                    "runs": each.run_count,
                    "ledger": _shares(each.ledger),
                }
                for each in hours.members
            ],
            "runs": [
                {
                    "run_id": each.run_id,
                    "name": each.name,
                    "ledger": _shares(each.ledger),
                }
                for each in hours.wasteful
            ],
        }
    )


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
