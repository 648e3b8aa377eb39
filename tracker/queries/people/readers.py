"""The members who may read a project: those who can be notified and mentioned."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from tracker.models import Member, Project, ProjectMember, Role, User
from tracker.models.workspace import MANAGING, READING

# Offered while a name is typed.
MAX_NAMES = 8


def readers_of(project: Project) -> QuerySet[User]:
    """Return the people who may read the project; no service accounts.

    The same rule as `ProjectQuerySet.of_member_as`, which starts from the person.
    """
    members = Member.objects.active().filter(workspace=project.workspace_id)
    own = ProjectMember.objects.filter(project=project)
    may_read = Q(role__in=MANAGING) | Q(id__in=own.values("member"))
    if project.is_open:
        may_read |= Q(role__in=set(READING) - {Role.GUEST})
    readers = members.filter(may_read)
    return User.objects.filter(id__in=readers.values("user"), is_service=False)


def names_of_readers(project: Project, text: str) -> list[dict[str, str]]:
    """Return the first readers whose name or username begins with the text."""
    begins = Q(username__istartswith=text) | Q(name__istartswith=text)
    # A family name, too.
    begins |= Q(name__icontains=f" {text}")
    found = readers_of(project).filter(begins).order_by("username")[:MAX_NAMES]
    return [{"username": each.username, "name": each.display_name} for each in found]
