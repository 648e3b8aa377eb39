"""Prepares the data folder; `up` runs it first."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tracker.embedded.first_start import prepare


class Command(BaseCommand):
    help = "Bring the database up to date, make the owner and the agents' API key."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        for line in prepare(settings.PUBLIC_URL, settings.AGENT_FILE):
            self.stdout.write(line)
