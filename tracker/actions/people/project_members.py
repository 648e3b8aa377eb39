"""Sets project roles, and opens projects to the whole workspace."""

from __future__ import annotations

from django.db import transaction

from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.mail import queue_mail
from tracker.actions.people.roles import IN_PROJECT
from tracker.errors import InvalidInput
from tracker.models import Member, Project, ProjectMember, Role
from tracker.models.workspace import MANAGING

HAS_ALL_PROJECTS = (
    "is an owner or admin of the workspace, with that role in all projects"
)


def set_project_role(
    project: Project,
    member: Member,
    role: Role,
    audit: AuditContext,
    *,
    by_invitation: bool = False,
) -> None:
    """Add a member of the workspace to the project, or change their role in it."""
    if role not in IN_PROJECT:
        raise InvalidInput("role", "in a project is viewer, member or admin")
    if member.role in MANAGING:
        if by_invitation:
            return
        raise InvalidInput(member.user.display_name, HAS_ALL_PROJECTS)
    with transaction.atomic():
        found, is_new = ProjectMember.objects.get_or_create(
            project=project, member=member, defaults={"role": role}
        )
        before = found.role
        if not is_new:
            if before == role:
                return
            found.role = role
            found.save(update_fields=["role"])
        audit.note(
            Action.MEMBER_ADDED if is_new else Action.ROLE_CHANGED,
            member.user,
            project.workspace,
            project=project.name,
            after=role.value,
            **({} if is_new else {"before": before}),
        )
        if not by_invitation:
            _mail(project, member, role, audit, is_new=is_new)


def remove_project_member(
    project: Project, member: Member, audit: AuditContext
) -> None:
    """Remove the member's role in the project; idempotent."""
    with transaction.atomic():
        deleted, _ = ProjectMember.objects.filter(
            project=project, member=member
        ).delete()
        if deleted:
            audit.note(
                Action.MEMBER_REMOVED,
                member.user,
                project.workspace,
                project=project.name,
            )


def set_project_open(project: Project, audit: AuditContext, *, is_open: bool) -> None:
    """Open the project to the workspace, or close it to all but chosen members."""
    with transaction.atomic():
        changed = Project.objects.filter(id=project.id).exclude(is_open=is_open)
        if changed.update(is_open=is_open):
            audit.note(
                Action.PROJECT_CHANGED, project, project.workspace, is_open=is_open
            )


def _mail(
    project: Project, member: Member, role: Role, audit: AuditContext, *, is_new: bool
) -> None:
    if not member.user.email or member.user_id == audit.user_id:
        return
    queue_mail(
        member.user.email,
        "added_to_project" if is_new else "role_changed",
        {
            "name": member.user.display_name,
            "workspace": project.workspace,
            "project": project,
            "role": role.value,
            "by": audit.name,
        },
    )
