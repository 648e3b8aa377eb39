"""Options and lookups shared by the commands about people."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from tracker.access.people import member_named, user_named
from tracker.embedded.data_folder import running_url
from tracker.errors import NotFound, TrackerError
from tracker.models import Member, Project, User, Workspace


def add_workspace(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", default="", help="URL name; not needed if there is only one"
    )


def add_projects(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--project",
        action="append",
        dest="projects",
        help="URL name; limit to these projects; may be repeated",
    )


def add_data_folder(parser: ArgumentParser) -> None:
    # manage.py has turned it into a setting; it is listed here for --help.
    parser.add_argument("--data", help="data folder of the server")


@contextmanager
def refusals_in_words() -> Iterator[None]:
    """Convert errors to one line without a traceback."""
    try:
        yield
    except TrackerError as error:
        raise CommandError(str(error)) from error
    except DatabaseError as error:
        message = f"Cannot use the database ({error}); start the server first."
        raise CommandError(message) from error


def the_workspace(slug: str) -> Workspace:
    if slug:
        found = Workspace.objects.filter(slug=slug).first()
        if found is None:
            raise NotFound("workspace")
        return found
    workspaces = list(Workspace.objects.order_by("slug")[:20])
    if len(workspaces) != 1:
        slugs = ", ".join(each.slug for each in workspaces)
        raise CommandError(f"Select one with --workspace: {slugs}.")
    return workspaces[0]


def the_project(workspace: Workspace, slug: str) -> Project:
    found = Project.objects.filter(workspace=workspace, slug=slug).first()
    if found is None:
        raise NotFound("project")
    return found


def the_member(workspace: Workspace, name: str) -> Member:
    return member_named(Member.objects.filter(workspace=workspace), name)


def the_user(name: str) -> User:
    return user_named(name)


def server_url() -> str:
    """Return the URL of the server on this machine, or else the public one."""
    return running_url(settings.DATA_FOLDER) or settings.PUBLIC_URL
