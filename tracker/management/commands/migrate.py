"""Django's migrate, except that it rejects a database with newer migrations."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from tracker.management.starting import refuse_newer_database


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        refuse_newer_database()
        super().handle(*args, **options)
