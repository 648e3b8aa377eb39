"""Health checks: liveness and readiness."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from tracker.api.answers import json_response
from tracker.queries.health import (
    has_current_schema,
    missing_processes,
    unknown_migrations,
    work_lag_seconds,
)
from tracker.server.statuses import DATABASE_AWAY

# Due work is claimed within seconds, unless there is no worker.
WORKER_LAG_SECONDS = 60.0
START_SECONDS = 60.0

_started_at = time.monotonic()


# Exempt from CSRF, so that an unsupported method returns 405.
@csrf_exempt
@require_safe
def read_liveness(_request: HttpRequest) -> HttpResponse:
    return json_response({"status": "alive"})


@csrf_exempt
@require_safe
def read_readiness(_request: HttpRequest) -> HttpResponse:
    try:
        is_newer = bool(unknown_migrations())
        is_current = has_current_schema()
        missing = read_missing() if is_current else []
        lag_seconds = work_lag_seconds() if is_current else 0.0
    except DATABASE_AWAY:
        return _unready("the database is not reachable")
    if is_newer:
        return _unready("the database is newer than this version")
    if not is_current:
        return _unready("the database lacks migrations")

    # Without a worker, the server still accepts batches and renders pages. A failed
    # check would take it out of service, so the status stays 200.
    is_behind = lag_seconds > WORKER_LAG_SECONDS
    return json_response(
        {
            "status": "degraded" if missing or is_behind else "ready",
            "background_work": "behind" if is_behind else "on time",
            "missing": missing,
        }
    )


def read_missing() -> Sequence[str]:
    """Return missing processes, after the time that they need to start."""
    is_starting = time.monotonic() - _started_at < START_SECONDS
    return [] if is_starting else missing_processes()


def _unready(reason: str) -> HttpResponse:
    response = json_response({"status": "not ready", "reason": reason})
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return response
