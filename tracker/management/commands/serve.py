"""Runs the web server; a team may run several."""

from __future__ import annotations

import logging
import os
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from tracker.embedded.ports import refuse_used_port
from tracker.integrity.connections import read_capacity, remedy, shortage
from tracker.management.starting import refuse_newer_database
from tracker.server import processes
from tracker.server.statuses import DATABASE_AWAY

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Run only the web server, for team installations."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--workers", type=int, default=processes.WEB_PROCESSES, help="processes"
        )
        # manage.py has turned them into settings; they are listed here for --help.
        parser.add_argument("--port", type=int, help="port to listen on")
        parser.add_argument("--bind", help="address to listen on")

    def handle(self, *args: Any, **options: Any) -> None:
        workers = options["workers"]
        refuse_used_port(settings.BIND, settings.PORT)
        # It also starts without the database, and /readyz reports that.
        with suppress(*DATABASE_AWAY):
            refuse_newer_database()
        if connection.vendor == "postgresql":
            check_connections(max(workers, settings.WEB_PROCESSES))
        command = processes.web(bind=settings.BIND, port=settings.PORT, workers=workers)
        os.execv(command[0], command)


def check_connections(web_processes: int) -> None:
    """Raise CommandError if the web processes may need too many connections."""
    try:
        capacity = read_capacity()
    except DatabaseError as error:
        # The web server returns 503 until the database is reachable.
        logger.warning("max_connections was not checked: %s", error)
        return
    finally:
        connection.close()
    if capacity is None:
        return
    numbers = {"web_processes": web_processes, "each": settings.DATABASE_CONNECTIONS}
    if reason := shortage(capacity, **numbers):
        raise CommandError(f"{reason}. To fix it: {remedy(capacity, **numbers)}.")
