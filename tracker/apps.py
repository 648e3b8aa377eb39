"""Django application config of the tracker."""

from __future__ import annotations

from django.apps import AppConfig


class TrackerConfig(AppConfig):
    name = "tracker"
    default_auto_field = "django.db.models.BigAutoField"
