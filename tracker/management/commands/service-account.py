# ruff: noqa: N999 - the name of a command
"""Lists, creates and deletes service accounts, which have keys and cannot sign in."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.service_accounts import (
    ROLES,
    create_service_account,
    delete_service_account,
    service_role_named,
)
from tracker.errors import NotFound
from tracker.management.people import (
    add_data_folder,
    add_projects,
    add_workspace,
    refusals_in_words,
    the_member,
    the_project,
    the_workspace,
)
from tracker.queries.people.keys import service_accounts


class Command(BaseCommand):
    help = "List, create and delete service accounts."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        actions = parser.add_subparsers(dest="action", required=True)
        add_workspace(
            actions.add_parser("list", help="list all accounts, one per line")
        )
        create = actions.add_parser("create", help="create one and print its username")
        create.add_argument("name")
        create.add_argument(
            "--role", choices=[r.value for r in ROLES], default="member"
        )
        add_projects(create)
        add_workspace(create)
        delete = actions.add_parser("delete", help="delete an account and its keys")
        delete.add_argument("username")
        add_workspace(delete)

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_in_words():
            getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        for account in service_accounts(the_workspace(options["workspace"])):
            projects = account.projects
            fields = (
                account.user.username,
                account.user.display_name,
                account.role,
                "all" if projects is None else ",".join(each.slug for each in projects),
                f"keys: {account.key_count}",
            )
            self.stdout.write("\t".join(fields))

    def create(self, options: dict[str, Any]) -> None:
        workspace = the_workspace(options["workspace"])
        slugs = options["projects"]
        member = create_service_account(
            workspace,
            options["name"],
            service_role_named(options["role"]),
            COMMAND,
            projects=slugs and [the_project(workspace, slug) for slug in slugs],
        )
        self.stdout.write(member.user.username)

    def delete(self, options: dict[str, Any]) -> None:
        workspace = the_workspace(options["workspace"])
        member = the_member(workspace, options["username"])
        if not member.user.is_service:
            raise NotFound("service account")
        delete_service_account(member, COMMAND)
        self.stdout.write(f"Deleted {member.user.display_name}.")
