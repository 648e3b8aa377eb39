"""Prepares the data folder; `up` runs it first."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from tracker.actions.access import found_installation, make_sign_in_link
from tracker.embedded.first_start import prepare


class Command(BaseCommand):
    help = "Migrate the database and create the owner and the SDK's API key."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--link",
            action="store_true",
            help="print a sign-in link of the owner as the last line",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for line in prepare(settings.PUBLIC_URL, settings.AGENT_FILE):
            self.stdout.write(line)
        if options["link"]:
            secret = make_sign_in_link(found_installation().user)
            path = reverse("sign-in-link", args=[secret])
            self.stdout.write(settings.PUBLIC_URL + path)
