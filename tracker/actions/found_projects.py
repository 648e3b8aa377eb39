"""Finds projects by the names that scripts use, and creates missing ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from django.utils.text import slugify

from tracker.errors import NotFound
from tracker.models import Member, Project, ProjectMember, Role, Workspace

SLUG_LENGTH = 180
MARK_LENGTH = 8
# For names of these characters, a slug changes only case and spaces.
FAITHFUL = re.compile(r"[A-Za-z0-9 _-]+")


def find_or_make_project(workspace: Workspace, name: str, user_id: int) -> Project:
    """Return the project with that name or slug; create it if missing."""
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
    """Give the creator of a closed project a role in it."""
    member = Member.objects.get(workspace_id=project.workspace_id, user_id=user_id)
    ProjectMember.objects.bulk_create(
        [ProjectMember(project=project, member=member, role=Role.ADMIN)],
        ignore_conflicts=True,
    )


def possible_slugs(name: str) -> Iterator[str]:
    """Yield the readable slug if it is lossless, then one unique to the name."""
    readable = slugify(name)[:SLUG_LENGTH].strip("-_")
    # A slug also finds its project: that of C++ must not be the name C.
    if readable and len(name) <= SLUG_LENGTH and FAITHFUL.fullmatch(name):
        yield readable
    mark = hashlib.sha256(name.encode()).hexdigest()[:MARK_LENGTH]
    yield f"{readable or 'project'}-{mark}"
