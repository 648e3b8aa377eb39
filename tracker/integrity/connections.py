"""Checks PostgreSQL's connection limits and the server's role."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db import connection

from tracker.integrity.problem import Problem, Severity
from tracker.server.processes import MIN_DATABASE_CONNECTIONS

# Four workers with three connections each, plus migrations, backups and psql.
OTHER_CONNECTIONS = 16
CAPACITY = """
SELECT current_setting('max_connections')::int,
       current_setting('superuser_reserved_connections')::int
           + COALESCE(current_setting('reserved_connections', true)::int, 0),
       rolconnlimit, datconnlimit, rolsuper, pg_backend_pid()
  FROM pg_roles, pg_database
 WHERE rolname = current_user AND datname = current_database()
"""


@dataclass(frozen=True, slots=True)
class Capacity:
    """The connections that PostgreSQL allows our role to open."""

    most: int
    reserved: int
    # Limits of the role and of the database; -1 means none.
    role_limit: int = -1
    database_limit: int = -1
    is_superuser: bool = False

    @property
    def available(self) -> int:
        limits = [self.role_limit, self.database_limit]
        return min(
            [self.most - self.reserved, *(limit for limit in limits if limit >= 0)]
        )


def read_capacity() -> Capacity | None:
    """Return None behind a pooler such as PgBouncer, which has its own limits."""
    with connection.cursor() as cursor:
        cursor.execute(CAPACITY)
        *values, backend_pid = cursor.fetchone()
    # A pooler reports its own process ids.
    if backend_pid != connection.connection.info.backend_pid:
        return None
    return Capacity(*values)


def shortage(capacity: Capacity, *, web_processes: int, each: int) -> str | None:
    """Return the reason if there are too few connections; else None."""
    needed = web_processes * each + OTHER_CONNECTIONS
    if needed <= capacity.available:
        return None
    return (
        f"PostgreSQL allows {capacity.available} connections (max_connections is"
        f" {capacity.most}, {capacity.reserved} of them reserved), but {needed} may be"
        f" needed: {web_processes} web processes with {each} each and"
        f" {OTHER_CONNECTIONS} for workers, commands and backups"
    )


def remedy(capacity: Capacity, *, web_processes: int, each: int) -> str:
    most = web_processes * each + OTHER_CONNECTIONS + capacity.reserved
    fitting = (capacity.available - OTHER_CONNECTIONS) // web_processes
    advice = f"set max_connections to {most} or more"
    if capacity.available < capacity.most - capacity.reserved:
        advice += " and raise the CONNECTION LIMIT of the role and the database"
    if fitting >= MIN_DATABASE_CONNECTIONS:
        advice += f", or SEAMARK_DATABASE_CONNECTIONS to {fitting}"
    return f"{advice}; SEAMARK_WEB_PROCESSES is the number of web processes"


def capacity_problems(
    capacity: Capacity, *, web_processes: int, each: int
) -> Iterator[Problem]:
    reason = shortage(capacity, web_processes=web_processes, each=each)
    if reason is not None:
        yield Problem(
            Severity.WARNING,
            "postgresql-connections",
            "PostgreSQL",
            reason,
            remedy(capacity, web_processes=web_processes, each=each),
        )
    if capacity.is_superuser:
        yield Problem(
            Severity.WARNING,
            "postgresql-superuser",
            "PostgreSQL",
            "the server's role is a superuser: it can read and write files of the"
            " database server, and uses the connections reserved for administrators",
            "use a role that only owns the database; docs/how-to/team-server.md has"
            " the statements",
        )


def look_at_connections() -> Iterator[Problem]:
    if (capacity := read_capacity()) is not None:
        yield from capacity_problems(
            capacity,
            web_processes=settings.WEB_PROCESSES,
            each=settings.DATABASE_CONNECTIONS,
        )
