"""Lists, creates, deactivates and reactivates accounts."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from tracker.actions.people.accounts import create_account, make_reset_link
from tracker.actions.people.activation import deactivate_account, reactivate_account
from tracker.actions.people.addresses import confirm_address
from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.members import add_member
from tracker.management.people import (
    add_data_folder,
    add_workspace,
    refusals_in_words,
    the_user,
    the_workspace,
)
from tracker.models import Role, User


class Command(BaseCommand):
    help = "List, create, deactivate and reactivate accounts."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="list all accounts, one per line")
        create = actions.add_parser(
            "create", help="create an account and add it as a member"
        )
        create.add_argument("email")
        create.add_argument("--name", required=True)
        create.add_argument("--role", choices=Role.values, default=Role.MEMBER)
        create.add_argument(
            "--password-stdin",
            action="store_true",
            help="read the password from standard input",
        )
        add_workspace(create)
        for action, text in {
            "deactivate": "end the account's sessions and block sign-in and API keys",
            "reactivate": "undo that",
            "confirm-email": "confirm the address that a user entered on their profile",
            "password-link": "print a one-time password reset link that expires in 24 hours",
        }.items():
            actions.add_parser(action, help=text).add_argument(
                "who", help="email address or username"
            )

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_in_words():
            getattr(self, options["action"].replace("-", "_"))(options)

    def list(self, _options: dict[str, Any]) -> None:
        for user in User.objects.order_by("username"):
            state = "active" if user.is_active else "deactivated"
            kind = "service account" if user.is_service else "person"
            fields = user.username, user.email, user.display_name, kind, state
            self.stdout.write("\t".join(fields))

    def create(self, options: dict[str, Any]) -> None:
        workspace = the_workspace(options["workspace"])
        password = _password(from_input=options["password_stdin"])
        with transaction.atomic():
            user = create_account(
                options["email"], options["name"], password, email_is_verified=True
            )
            add_member(workspace, user, Role(options["role"]), COMMAND)
        self.stdout.write(
            f"Added {user.username} to {workspace.slug} as {options['role']}."
        )

    def deactivate(self, options: dict[str, Any]) -> None:
        user = the_user(options["who"])
        deactivate_account(user, COMMAND)
        self.stdout.write(f"Deactivated {user.username}.")

    def reactivate(self, options: dict[str, Any]) -> None:
        user = the_user(options["who"])
        reactivate_account(user, COMMAND)
        self.stdout.write(f"Activated {user.username}.")

    def confirm_email(self, options: dict[str, Any]) -> None:
        user = the_user(options["who"])
        confirm_address(user, user.pending_email)
        self.stdout.write(f"Confirmed {user.pending_email} for {user.username}.")

    def password_link(self, options: dict[str, Any]) -> None:
        self.stdout.write(make_reset_link(the_user(options["who"])))


def _password(*, from_input: bool) -> str:
    """Return the password; empty without a terminal."""
    if from_input:
        password = sys.stdin.readline().rstrip("\n")
    elif sys.stdin.isatty():
        password = getpass.getpass("Password (empty: none): ")
        if password != getpass.getpass("Again: "):
            raise CommandError("The passwords differ.")
    else:
        return ""
    return password
