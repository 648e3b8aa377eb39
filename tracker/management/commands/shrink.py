"""Rewrites an older SQLite file so that it reclaims space from then on."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tracker.embedded.data_folder import running_url
from tracker.embedded.sqlite.space import rewrite, space

MIB = 1024 * 1024
# The copy, and the write-ahead log through which it is written back.
COPIES = 2


class Command(BaseCommand):
    help = "Shrink the SQLite file by reclaiming the space of deleted data."

    def handle(self, *args: Any, **options: Any) -> None:
        before = space()
        if before is None:
            self.stdout.write(
                "PostgreSQL reuses the space of deleted rows automatically; there is "
                "nothing to do."
            )
            return
        if running_url(settings.DATA_FOLDER) is not None:
            sys.exit("A server is running on this data folder; stop it first.")
        available = shutil.disk_usage(settings.DATABASES["default"]["NAME"]).free
        needed = COPIES * (before.total - before.free)
        if available < needed:
            sys.exit(
                f"This needs {needed // MIB} MiB of free disk space, but only {available // MIB} MiB are free; nothing was changed."
            )
        rewrite()
        after = space()
        assert after is not None
        self.stdout.write(
            f"{before.total // MIB} MiB before, {after.total // MIB} MiB now; space is "
            "reclaimed automatically from now on."
        )
