"""Lists, creates and renames workspaces, and sets whether they require a second factor."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand

from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.workspaces import (
    WorkspaceRequest,
    change_workspace,
    create_workspace,
    stored_request,
)
from tracker.management.people import (
    add_data_folder,
    refusals_in_words,
    the_user,
    the_workspace,
)
from tracker.models import Workspace

FACTOR = {"required": True, "optional": False}


class Command(BaseCommand):
    help = "List, create and rename workspaces; require a second factor."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="list all workspaces, one per line")
        create = actions.add_parser("create", help="create one and print its URL name")
        create.add_argument("name")
        create.add_argument(
            "--owner", required=True, help="email address or username of an account"
        )
        rename = actions.add_parser(
            "rename", help="change the name; the URL stays the same"
        )
        rename.add_argument("workspace", help="URL name")
        rename.add_argument("name")
        factor = actions.add_parser(
            "second-factor", help="require a second factor, or not"
        )
        factor.add_argument("workspace", help="URL name")
        factor.add_argument("factor", choices=FACTOR)

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_in_words():
            getattr(self, options["action"].replace("-", "_"))(options)

    def list(self, _options: dict[str, Any]) -> None:
        for each in Workspace.objects.order_by("slug"):
            factor = "required" if each.requires_second_factor else "optional"
            self.stdout.write(f"{each.slug}\t{each.name}\tsecond factor: {factor}")

    def create(self, options: dict[str, Any]) -> None:
        owner = the_user(options["owner"])
        request = WorkspaceRequest(options["name"])
        self.stdout.write(create_workspace(request, owner.id, COMMAND).slug)

    def rename(self, options: dict[str, Any]) -> None:
        self._change(options["workspace"], name=options["name"])

    def second_factor(self, options: dict[str, Any]) -> None:
        required = FACTOR[options["factor"]]
        self._change(options["workspace"], requires_second_factor=required)

    def _change(self, slug: str, **changed: Any) -> None:
        workspace = the_workspace(slug)
        change_workspace(
            workspace, replace(stored_request(workspace), **changed), COMMAND
        )
        self.stdout.write(f"Changed {workspace.slug}.")
