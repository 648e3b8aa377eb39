"""The server's limits, for agents."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Schema

from tracker.api.auth import CallerAuth
from tracker.ingest.limits import LIMITS

router = Router(tags=["agents"])


class LimitsOut(Schema):
    body_bytes: int
    unpacked_bytes: int
    frame_bytes: int
    messages: int
    points: int
    records: int
    rewinds: int
    run_rewinds: int
    series_rewinds: int
    bad_paths: int
    path_characters: int
    path_bytes: int
    project_characters: int
    run_characters: int
    stage_characters: int
    host_characters: int
    agent_characters: int
    file_name_characters: int
    media_type_characters: int
    string_characters: int
    record_characters: int
    histogram_bins: int
    set_strings: int
    set_string_characters: int
    attributes: int
    part_bytes: int
    # Maximum size of one file, and of all files of a workspace; 0: no limit.
    file_bytes: int
    workspace_bytes: int


@router.get("/limits", response=LimitsOut, auth=CallerAuth())
def read_limits(request: HttpRequest) -> dict[str, int]:  # noqa: ARG001 - ninja gives it
    """The largest accepted body, batch, path and value."""
    return asdict(LIMITS) | {
        "file_bytes": settings.LARGEST_FILE_BYTES,
        "workspace_bytes": settings.WORKSPACE_FILE_BYTES,
    }
