"""Creates workspaces, changes their settings, deletes empty ones."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.db import transaction

from tracker.actions.found_projects import possible_slugs
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.prices import checked_price
from tracker.actions.runs.trash import checked_retention
from tracker.errors import InvalidInput
from tracker.models import Member, Project, Role, Workspace
from tracker.texts import storable_part

NAME_LENGTH, DESCRIPTION_LENGTH = 200, 2_000


@dataclass(frozen=True, slots=True)
class WorkspaceRequest:
    """`retention_days` to `projects_are_open` are defaults for new projects."""

    name: str
    description: str = ""
    retention_days: int | None = None
    gpu_hour_price: float | None = None
    currency: str = ""
    projects_are_open: bool = True
    requires_second_factor: bool = False


def create_workspace(
    request: WorkspaceRequest, owner_id: int, audit: AuditContext
) -> Workspace:
    fields = _checked(request)
    with transaction.atomic():
        taken = set(Workspace.objects.values_list("slug", flat=True))
        slugs = [*possible_slugs(fields["name"])]
        slug = next((each for each in slugs if each not in taken), None)
        if slug is None:
            raise InvalidInput("name", "is taken by another workspace")
        workspace = Workspace.objects.create(slug=slug, **fields)
        Member.objects.create(workspace=workspace, user_id=owner_id, role=Role.OWNER)
        audit.note(Action.WORKSPACE_CREATED, workspace, workspace)
    return workspace


def change_workspace(
    workspace: Workspace, request: WorkspaceRequest, audit: AuditContext
) -> None:
    """Change the name and the defaults of new projects. The address stays."""
    fields = _checked(request)
    with transaction.atomic():
        Workspace.objects.filter(id=workspace.id).update(**fields)
        audit.note(Action.WORKSPACE_CHANGED, workspace, workspace, **fields)


def stored_request(workspace: Workspace) -> WorkspaceRequest:
    """Return the settings of a workspace, as a base for partial changes."""
    names = [field.name for field in fields(WorkspaceRequest)]
    return WorkspaceRequest(**{name: getattr(workspace, name) for name in names})


def delete_workspace(workspace: Workspace, audit: AuditContext) -> None:
    """Delete a workspace without projects, and its memberships and keys."""
    with transaction.atomic():
        Workspace.objects.select_for_update().get(id=workspace.id)
        if Project.objects.filter(workspace=workspace).exists():
            raise InvalidInput(
                "the workspace",
                "has projects, or some that are still being deleted; delete them first",
            )
        audit.note(Action.WORKSPACE_DELETED, workspace, workspace)
        workspace.delete()


# Any: the values of the row's fields.
def _checked(request: WorkspaceRequest) -> dict[str, Any]:
    name = " ".join(storable_part(request.name).split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise InvalidInput("name", f"must have 1 to {NAME_LENGTH} characters")
    price, currency = checked_price(request.gpu_hour_price, request.currency)
    return {
        "name": name,
        "description": storable_part(request.description).strip()[:DESCRIPTION_LENGTH],
        "retention_days": checked_retention(request.retention_days),
        "gpu_hour_price": price,
        "currency": currency,
        "projects_are_open": request.projects_are_open,
        "requires_second_factor": request.requires_second_factor,
    }
