"""Mounts the API and the pages."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("api/", include("tracker.api.urls")),
    path("", include("web.urls")),
]
