"""Projects: runs that are compared with each other, their members and bulk changes."""

from __future__ import annotations

from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.actor import Actor
from tracker.models.workspace import (
    MANAGING,
    READING,
    WRITING,
    Member,
    Role,
    Workspace,
)

# The role of a member in a project, in SQL; NULL: no role. For statements that have
# both tables under these names. Must match `of_member_as` below.
ROLE_IN_PROJECT = """
(CASE
  WHEN NOT member.is_active THEN NULL
  WHEN member.role IN ('owner', 'admin') THEN member.role
  ELSE COALESCE(
    (SELECT own.role FROM tracker_projectmember AS own
     WHERE own.project_id = project.id AND own.member_id = member.id),
    CASE WHEN project.is_open AND member.role <> 'guest' THEN member.role END)
END)
"""


class ProjectQuerySet(models.QuerySet["Project"]):
    def readable_by(self, actor: Actor) -> Self:
        return self._of_actor(actor, READING) if actor.may_read else self.none()

    def of_link(self, actor: Actor) -> Self:
        """Return the projects that the creator of the actor's share link may read."""
        if actor.grant is None:
            return self.none()
        return self.of_member_as(actor.grant.made_by, *READING)

    def beside(self, project_id: int) -> Self:
        """Return the project with the others of its workspace."""
        of_it = Workspace.objects.filter(projects=project_id)
        return self.filter(workspace__in=of_it)

    def writable_by(self, actor: Actor) -> Self:
        return self._of_actor(actor, WRITING)

    def managed_by(self, actor: Actor) -> Self:
        return self._of_actor(actor, MANAGING)

    def _of_actor(self, actor: Actor, roles: tuple[Role, ...]) -> Self:
        if actor.grant is not None:
            # Not even the project of the shared object.
            return self.none()
        projects = self.of_member_as(actor.user_id, *roles)
        if actor.workspace_id is not None:
            projects = projects.filter(workspace_id=actor.workspace_id)
        if actor.project_ids is not None:
            projects = projects.filter(id__in=actor.project_ids)
        return projects

    def of_member_as(self, user_id: int | models.OuterRef, *roles: Role) -> Self:
        """Return the projects in which the user has one of the roles.

        Owners and admins of a workspace have their role in all of its projects. Other
        members have the role that the project gives them; without one, in an open
        project, their role in the workspace.
        """
        members = Member.objects.active().filter(user_id=user_id)
        managers = members.filter(role__in=set(MANAGING) & set(roles))
        others = members.exclude(role__in=MANAGING)
        given = ProjectMember.objects.filter(
            member__user_id=user_id, member__is_active=True
        ).exclude(member__role__in=MANAGING)
        usual = others.filter(role__in=roles).exclude(role=Role.GUEST)
        return self.filter(deleted_at=None).filter(
            models.Q(workspace__in=managers.values("workspace"))
            | models.Q(id__in=given.filter(role__in=roles).values("project"))
            | models.Q(is_open=True, workspace__in=usual.values("workspace"))
            & ~models.Q(id__in=given.values("project"))
        )


class Project(models.Model):
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="projects")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    description = models.TextField(default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)
    # The responsible user; it grants no permissions.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    # False: only its own members and the workspace's owners and admins see it.
    is_open = models.BooleanField(default=True, db_default=True)
    # Set: the project is read-only.
    archived_at = models.DateTimeField(null=True)
    # Set: the project is hidden, and its rows are deleted in the background.
    deleted_at = models.DateTimeField(null=True)
    # Runs silent for longer go to the trash; None keeps them forever.
    retention_days = models.PositiveIntegerField(null=True)

    # Price of a GPU-hour in `currency`; None: unknown.
    gpu_hour_price = models.FloatField(null=True)
    currency = models.CharField(max_length=8, default="")
    # Emissions of the electricity in g CO₂e per kWh; None: unknown.
    carbon_intensity = models.FloatField(null=True)

    # Overrides of rules: rule name → whether it is off, and its limits by name.
    rule_settings = models.JSONField(default=dict)

    # Paths of the metrics shown first for every run, in that order.
    key_metrics = models.JSONField(default=list)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "slug"], name="project_slug_once_per_workspace"
            )
        ]

    def __str__(self) -> str:
        return self.name


class ProjectMember(models.Model):
    """The role that a project gives one member of its workspace."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="members")
    member = models.ForeignKey(Member, models.CASCADE, related_name="projects")
    role = models.CharField(
        max_length=10,
        choices=[
            (role.value, role.label) for role in (Role.ADMIN, Role.MEMBER, Role.VIEWER)
        ],
    )
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "member"], name="member_once_per_project"
            )
        ]

    def __str__(self) -> str:
        return f"{self.member} in {self.project}"


class BulkChange(models.Model):
    """The runs changed by one transaction of a bulk change; the last row marks the end.

    The client chooses the name beforehand, so that it can undo the change even if the
    response was lost.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    name = models.UUIDField()
    run_ids = models.JSONField(default=list)
    is_last = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "name"], name="bulk_change_name"),
            models.Index(fields=["made_at"], name="bulk_change_made"),
        ]

    def __str__(self) -> str:
        return str(self.name)
