"""Becomes the web server; a team runs as many as it needs."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tracker import processes
from tracker.embedded.ports import refuse_used_port
from tracker.management.starting import refuse_newer_database
from tracker.statuses import DATABASE_AWAY


class Command(BaseCommand):
    help = "Run the web server alone, as a part of a team's installation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workers", type=int, default=2, help="processes")
        # manage.py turned them into settings; here they are only explained.
        parser.add_argument("--port", type=int, help="where to listen")
        parser.add_argument("--bind", help="the address to listen on")

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_used_port(settings.BIND, settings.PORT)
        # Without the database it starts all the same, and /readyz reports that.
        with suppress(*DATABASE_AWAY):
            refuse_newer_database()
        command = processes.web(
            bind=settings.BIND, port=settings.PORT, workers=options["workers"]
        )
        os.execv(command[0], command)
