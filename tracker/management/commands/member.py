"""Lists the members of a workspace, changes roles, and removes members."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from tracker.actions.people import members as actions
from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.roles import role_named
from tracker.management.people import (
    add_data_folder,
    add_workspace,
    refusals_in_words,
    the_member,
    the_workspace,
)
from tracker.models import Member, Role, Workspace
from tracker.queries.people.members import workspace_members

LEAVING = {
    "offboard": "permanently end sessions, keys, share links and invitations",
    "remove": "delete the membership and its keys",
}


class Command(BaseCommand):
    help = "List the members of a workspace, change roles, and remove members."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        actions_of = parser.add_subparsers(dest="action", required=True)
        listed = actions_of.add_parser("list", help="list all members, one per line")
        add_workspace(listed)
        for action, text in {
            "role": "change a member's role",
            "deactivate": "suspend a member's access until reactivated",
            "reactivate": "open it again",
            **LEAVING,
        }.items():
            one = actions_of.add_parser(action, help=text)
            one.add_argument("who", help="email address or username")
            add_workspace(one)
            if action == "role":
                one.add_argument("role", choices=Role.values)
            if action in LEAVING:
                one.add_argument(
                    "--transfer-to",
                    default="",
                    metavar="WHO",
                    help="member who takes over the projects, saved views and share links",
                )

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_in_words():
            workspace = the_workspace(options["workspace"])
            if options["action"] == "list":
                self._list(workspace)
            else:
                self._change(workspace, options)

    def _list(self, workspace: Workspace) -> None:
        for row in workspace_members(workspace):
            state = "active" if row.is_active else "deactivated"
            projects = ",".join(f"{each.slug}:{each.role}" for each in row.projects)
            person = row.person
            fields = (
                person.username,
                person.email,
                person.name,
                row.role,
                state,
                projects,
            )
            self.stdout.write("\t".join(fields))

    def _change(self, workspace: Workspace, options: dict[str, Any]) -> None:
        member = the_member(workspace, options["who"])
        action = options["action"]
        if action == "role":
            actions.change_role(member, role_named(options["role"]), COMMAND)
        elif action in LEAVING:
            leave = actions.offboard if action == "offboard" else actions.remove
            leave(member, COMMAND, _heir(workspace, options["transfer_to"]))
        elif action == "deactivate":
            actions.deactivate(member, COMMAND)
        else:
            actions.reactivate(member, COMMAND)
        self.stdout.write(f"Done: {action} {member.user.username}.")


def _heir(workspace: Workspace, name: str) -> Member | None:
    return the_member(workspace, name) if name else None
