"""Startup checks: the database is reachable and has a known version."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from django.db import connection

from tracker.embedded.refusal import Refusal
from tracker.queries.health import has_current_schema, unknown_migrations
from tracker.server.statuses import DATABASE_AWAY

RETRY_SECONDS = 1.0


def refuse_newer_database() -> None:
    """Raise Refusal if the database has migrations that this version lacks.

    The older code could fail on it, or write rows that the newer code cannot read.
    """
    unknown = unknown_migrations()
    if unknown:
        raise Refusal(
            f"The database is newer than this version of Seamark, which lacks "
            f"{', '.join(unknown)}. Install the newer version again, or restore a "
            "backup from before the update."
        )


def wait_for_database() -> None:
    """Return when the database is reachable and has all migrations of this version."""
    is_reported = False
    while not _is_ready():
        if not is_reported:
            sys.stderr.write("Waiting for the database and its migrations.\n")
            sys.stderr.flush()
            is_reported = True
        time.sleep(RETRY_SECONDS)


def _is_ready() -> bool:
    with suppress(*DATABASE_AWAY):
        refuse_newer_database()
        return has_current_schema()
    connection.close()
    return False
