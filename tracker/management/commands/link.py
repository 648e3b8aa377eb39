"""Prints a one-time sign-in link for the owner or another account."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.urls import reverse

from tracker.actions.access import found_installation, make_sign_in_link
from tracker.embedded.data_folder import running_url
from tracker.models import User
from tracker.queries.people.accounts import account_named


class Command(BaseCommand):
    help = "Print a one-time sign-in link that expires after an hour."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        # manage.py has turned it into a setting; it is listed here for --help.
        parser.add_argument("--data", help="data folder of the server")
        parser.add_argument(
            "--user", help="email address or username; default: the first owner"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # In a team installation no server runs here, and the public URL is used.
        url = running_url(settings.DATA_FOLDER) or settings.PUBLIC_URL
        try:
            secret = make_sign_in_link(_user(options["user"]))
        except DatabaseError as error:
            sys.exit(f"Cannot use the database ({error}); start the server first.")
        self.stdout.write(url + reverse("sign-in-link", args=[secret]))


def _user(name: str | None) -> User:
    if not name:
        return found_installation().user
    user = account_named(name)
    if user is None or not user.is_active or user.is_service:
        raise CommandError(f"No active user has the address or username {name}.")
    return user
