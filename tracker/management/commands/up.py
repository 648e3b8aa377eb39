"""Starts the server on this machine and stops it at Ctrl-C."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tracker.embedded.refusal import Refusal
from tracker.embedded.server import EmbeddedServer


class Command(BaseCommand):
    help = "Start the server on this machine."
    # The server's own processes run them; here they would only delay the start.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        # manage.py has turned them into settings; they are listed here for --help.
        parser.add_argument("--port", type=int, help="where to listen")
        parser.add_argument("--bind", help="the address to listen on")
        parser.add_argument("--data", help="the folder that holds everything")

    def handle(self, *args: Any, **options: Any) -> None:
        # SIGINT too, because background jobs of a shell start with it ignored.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        try:
            self.serve()
        except Refusal as refusal:
            sys.exit(str(refusal))
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")

    def serve(self) -> None:
        server = EmbeddedServer(
            settings.DATA_FOLDER,
            settings.PORT,
            bind=settings.BIND,
            url=settings.PUBLIC_URL,
            say=self.stdout.write,
        )
        with server:
            self.stdout.write(f"Seamark runs at {server.url}")
            self.stdout.write(
                f"Sign in (once, within the hour): {server.sign_in_link()}"
            )
            self.stdout.write(
                f"Its data is in {settings.DATA_FOLDER}; Ctrl-C stops it."
            )
            self.stdout.flush()
            while True:
                signal.pause()
