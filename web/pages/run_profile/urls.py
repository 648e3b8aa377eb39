"""URLs of a run's profile."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.run_profile import profile

urlpatterns: list[URLPattern] = [
    path("runs/<uuid:run_id>/profile", profile.profile, name="run-profile"),
]
