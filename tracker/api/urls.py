"""The routes of the API."""

from __future__ import annotations

from django.urls import path

from tracker.api.auth import described_to_callers
from tracker.api.description import DescribedAPI
from tracker.api.errors import use_our_errors
from tracker.api.strict_json import StrictParser
from tracker.api.v1 import (
    attributes,
    blobs,
    diagnoses,
    files,
    gone,
    ingest,
    ladders,
    ledgers,
    limits,
    me,
    metric_rules,
    points,
    projects,
    records,
    run_comments,
    run_moves,
    runs,
    series,
    trash,
)
from tracker.api.v1.people import (
    audit,
    invitations,
    keys,
    members,
    project_members,
    workspaces,
)

v1 = DescribedAPI(
    title="Seamark",
    version="1",
    description=(
        "Reads what agents logged and what was diagnosed."
        " Send an API key as `Authorization: Bearer <key>`."
        " NaN and infinities, which JSON cannot hold, are the texts"
        ' "NaN", "Infinity" and "-Infinity".'
        ' Every error is {"error": {"code", "message"}}.'
    ),
    urls_namespace="api-v1",
    docs_decorator=described_to_callers,
    parser=StrictParser(),
)
use_our_errors(v1)
for router in (
    me.router,
    projects.router,
    runs.router,
    run_comments.router,
    run_moves.router,
    metric_rules.router,
    attributes.router,
    files.router,
    series.router,
    points.router,
    records.router,
    diagnoses.router,
    ladders.router,
    ledgers.router,
    trash.router,
    limits.router,
    gone.router,
    members.router,
    invitations.router,
    keys.router,
    project_members.router,
    audit.router,
    workspaces.router,
):
    v1.add_router("", router)

urlpatterns = [
    path("v1/ingest/<uuid:spool_id>", ingest.receive_batch, name="ingest"),
    path("v1/blobs/<str:digest>", blobs.receive_part, name="blob"),
    path("v1/", v1.urls),
]
