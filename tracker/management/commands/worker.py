"""Runs a background worker; a team may run several."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand

from tracker.management.starting import wait_for_database
from tracker.server import processes


class Command(BaseCommand):
    help = "Run only the background worker, for team installations."

    def handle(self, *args: Any, **options: Any) -> None:
        wait_for_database()
        command = processes.worker()
        os.execv(command[0], command)
