"""Starts the server on this machine."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tracker.server.processes import ROOT


class Command(BaseCommand):
    help = "Start the server on this machine."
    # The server's own processes run them; here they would only delay the start.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        # manage.py has turned them into settings; they are listed here for --help.
        parser.add_argument("--port", type=int, help="port to listen on")
        parser.add_argument("--bind", help="address to listen on")
        parser.add_argument("--data", help="data folder")

    def handle(self, *args: Any, **options: Any) -> None:
        # A process without Django takes a third of the memory.
        server = [sys.executable, "-m", "tracker.embedded"]
        where = [settings.DATA_FOLDER.resolve(), settings.PORT, settings.BIND]
        os.chdir(ROOT)
        os.execv(sys.executable, [*server, *map(str, where), settings.PUBLIC_URL])
