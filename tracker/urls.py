"""Mounts the API and the pages."""

from __future__ import annotations

from django.urls import include, path

from tracker.api.v1 import health

urlpatterns = [
    path("livez", health.read_liveness, name="livez"),
    path("readyz", health.read_readiness, name="readyz"),
    path("api/", include("tracker.api.urls")),
    path("", include("web.urls")),
]

handler400 = "web.errors.bad_request"
handler403 = "web.errors.permission_denied"
handler404 = "web.errors.page_not_found"
handler500 = "web.errors.server_error"
