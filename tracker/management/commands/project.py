"""Lists, creates, archives and deletes projects, and moves runs between them."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from tracker.actions import projects as actions
from tracker.actions.people.audit_context import COMMAND
from tracker.actions.runs.moves import move_run
from tracker.errors import NotFound
from tracker.management.people import (
    add_data_folder,
    add_workspace,
    refusals_in_words,
    the_project,
    the_workspace,
)
from tracker.models import Run
from tracker.queries.people.workspaces import projects_of

CHANGES = {
    "archive": "make a project read-only",
    "restore": "open it again",
    "delete": "permanently delete a project with all its runs",
}


class Command(BaseCommand):
    help = "List, create, archive and delete projects; move runs between them."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        parts = parser.add_subparsers(dest="action", required=True)
        add_workspace(parts.add_parser("list", help="list all projects, one per line"))
        create = parts.add_parser("create", help="create one and print its URL name")
        create.add_argument("name")
        create.add_argument("--description", default="")
        create.add_argument(
            "--closed", action="store_true", help="visible to selected members only"
        )
        add_workspace(create)
        for action, text in CHANGES.items():
            one = parts.add_parser(action, help=text)
            one.add_argument("project", help="URL name, as in the page's URL")
            add_workspace(one)
            if action == "delete":
                one.add_argument(
                    "--yes", action="store_true", help="do not ask for confirmation"
                )
        move = parts.add_parser("move-run", help="move ended runs to another project")
        move.add_argument("to", help="URL name of the target project")
        move.add_argument("runs", nargs="+", type=UUID, help="run ids")
        move.add_argument(
            "--rename", action="store_true", help="add a number to names that are taken"
        )
        add_workspace(move)

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_in_words():
            getattr(self, options["action"].replace("-", "_"), self._change)(options)

    def list(self, options: dict[str, Any]) -> None:
        for project in projects_of(the_workspace(options["workspace"])):
            state = "archived" if project.archived_at else "active"
            seen_by = "workspace" if project.is_open else "chosen members"
            self.stdout.write(f"{project.slug}\t{project.name}\t{state}\t{seen_by}")

    def create(self, options: dict[str, Any]) -> None:
        workspace = the_workspace(options["workspace"])
        request = actions.ProjectRequest(options["name"], options["description"])
        is_open = workspace.projects_are_open and not options["closed"]
        made = actions.create_project(workspace, request, COMMAND, is_open=is_open)
        self.stdout.write(made.slug)

    def move_run(self, options: dict[str, Any]) -> None:
        workspace = the_workspace(options["workspace"])
        target = the_project(workspace, options["to"])
        for run_id in options["runs"]:
            runs = Run.objects.filter(id=run_id, project__workspace=workspace)
            run = runs.select_related("project").first()
            if run is None:
                raise NotFound(f"run as {run_id}")
            move_run(run, target, COMMAND, renames=options["rename"])
            self.stdout.write(f"Moved {run.name} to {target.slug}.")

    def _change(self, options: dict[str, Any]) -> None:
        project = the_project(the_workspace(options["workspace"]), options["project"])
        action = options["action"]
        if action == "delete" and not options["yes"]:
            typed = input(f"Type the project name to confirm ({project.name}): ")
            if typed.strip() != project.name:
                raise CommandError("The names differ; nothing was deleted.")
        change = {
            "archive": actions.archive_project,
            "restore": actions.restore_project,
            "delete": actions.delete_project,
        }[action]
        change(project, COMMAND)
        self.stdout.write(f"Done: {action} {options['project']}.")
