"""Becomes the web server; a team runs as many as it needs."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tracker import processes


class Command(BaseCommand):
    help = "Run the web server alone, as a part of a team's installation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workers", type=int, default=2, help="processes")

    def handle(self, *args: Any, **options: Any) -> None:
        command = processes.web(
            bind=settings.BIND, port=settings.PORT, workers=options["workers"]
        )
        os.execv(command[0], command)
