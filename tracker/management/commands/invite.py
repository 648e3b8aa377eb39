"""Invites a person by email, or prints a link for several people."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.invitations import (
    InvitationRequest,
    invitation_url,
    invite,
)
from tracker.actions.people.mail import can_mail
from tracker.actions.people.roles import role_named
from tracker.management.people import (
    add_data_folder,
    add_workspace,
    refusals_in_words,
    server_url,
    the_project,
    the_workspace,
)


class Command(BaseCommand):
    help = "Print an invitation link; with an address, also email it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        add_workspace(parser)
        parser.add_argument("email", nargs="?", default="")
        parser.add_argument(
            "--link", action="store_true", help="create a link that anyone can use"
        )
        parser.add_argument("--role", default="member", help="default: member")
        parser.add_argument(
            "--project",
            default="",
            help="invite to this project only, with the role in it",
        )
        parser.add_argument("--expires-days", type=int, default=7, help="1 to 30")
        parser.add_argument(
            "--uses", type=int, default=1, help="number of uses of a link; 0: unlimited"
        )

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["email"]) == options["link"]:
            raise CommandError("Pass an email address, or --link.")
        with refusals_in_words():
            workspace = the_workspace(options["workspace"])
            project = options["project"] and the_project(workspace, options["project"])
            request = InvitationRequest(
                role_named(options["role"]),
                project or None,
                options["email"],
                options["expires_days"],
                options["uses"] or None,
            )
            secret = invite(workspace, request, COMMAND)
        if options["email"] and can_mail():
            self.stderr.write(f"The link was also emailed to {options['email']}.")
        self.stdout.write(invitation_url(secret, server_url()))
