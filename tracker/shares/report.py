"""Share links to a report's newest version; drafts and older versions are for members."""

from __future__ import annotations

from collections.abc import Collection

from django.urls import reverse

from tracker.errors import InvalidInput, NotFound
from tracker.models import Project, Report
from tracker.shares.kind import Chosen, Kind, Shared, as_id, things_of


def choose(project: Project, of: str) -> Chosen:
    report = Report.objects.filter(project=project, id=as_id(of, "report")).first()
    if report is None:
        raise NotFound("report")
    if not report.version:
        raise InvalidInput("the report", "has no version yet; save one to share it")
    return Chosen(str(report.id))


def read(project: Project, chosen: Collection[Chosen]) -> dict[str, Shared]:
    reports = Report.objects.filter(project=project, id__in=things_of(chosen))
    return {
        str(report_id): Shared(name, {"report": frozenset({report_id})})
        for report_id, name in reports.values_list("id", "name")
    }


def address(_project: Project, shared: Shared, _query: str) -> str:
    (report_id,) = shared.things["report"]
    return reverse("report", args=[report_id])


REPORT = Kind(
    name="report",
    noun="report",
    contents="Its text and what the widgets in it show, and nothing else of their runs."
    " Drafts, older versions and comments are not shown.",
    choose=choose,
    read=read,
    address=address,
    can_freeze=True,
)
