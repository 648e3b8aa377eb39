"""Finds projects by the names that scripts use, and makes those that are missing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from django.utils.text import slugify

from tracker.errors import NotFound
from tracker.models import Member, Project, ProjectMember, Role, Workspace

SLUG_LENGTH = 180
MARK_LENGTH = 8
# Of these, a slug changes only the case and the spaces.
FAITHFUL = re.compile(r"[A-Za-z0-9 _-]+")


def find_or_make_project(workspace: Workspace, name: str, user_id: int) -> Project:
    """Return the project of that name or slug, making it if there is none."""
    found = project_named(workspace, name)
    if found is not None:
        return found

    for slug in possible_slugs(name):
        new = Project(
            workspace=workspace,
            name=name,
            slug=slug,
            owner_id=user_id or None,
            is_open=workspace.projects_are_open,
            retention_days=workspace.retention_days,
            gpu_hour_price=workspace.gpu_hour_price,
            currency=workspace.currency,
        )
        Project.objects.bulk_create([new], ignore_conflicts=True)
        made = Project.objects.filter(workspace=workspace, slug=slug, name=name).first()
        if made is not None:
            if made.owner_id == user_id and not made.is_open:
                let_maker_in(made, user_id)
            return made
    raise NotFound("project")


def project_named(workspace: Workspace, name: str) -> Project | None:
    projects = Project.objects.filter(workspace=workspace)
    return projects.filter(name=name).first() or projects.filter(slug=name).first()


def let_maker_in(project: Project, user_id: int) -> None:
    """Give whoever made a closed project a role in it."""
    member = Member.objects.get(workspace_id=project.workspace_id, user_id=user_id)
    ProjectMember.objects.bulk_create(
        [ProjectMember(project=project, member=member, role=Role.ADMIN)],
        ignore_conflicts=True,
    )


def possible_slugs(name: str) -> Iterator[str]:
    """Yield a readable slug if it says the whole name, then one no other name has."""
    readable = slugify(name)[:SLUG_LENGTH].strip("-_")
    # A slug also finds its project; that of C++ must not be what people call C.
    if readable and len(name) <= SLUG_LENGTH and FAITHFUL.fullmatch(name):
        yield readable
    mark = hashlib.sha256(name.encode()).hexdigest()[:MARK_LENGTH]
    yield f"{readable or 'project'}-{mark}"
