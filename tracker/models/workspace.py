"""Workspaces, their members and the members' roles."""

from __future__ import annotations

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower


class Role(models.TextChoices):
    """A member's permissions; a project can give a member a different role."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"
    # Sees only the projects to which they were added.
    GUEST = "guest"


READING = (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.VIEWER)
WRITING = (Role.OWNER, Role.ADMIN, Role.MEMBER)
MANAGING = (Role.OWNER, Role.ADMIN)


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def of_user(self, user_id: int, *roles: Role) -> Self:
        """Return the workspaces in which the user is an active member with one of the
        roles.
        """
        members = Member.objects.active().filter(user_id=user_id)
        if roles:
            members = members.filter(role__in=roles)
        return self.filter(id__in=members.values("workspace"))


class Workspace(models.Model):
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200, unique=True)
    description = models.TextField(default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)
    # Defaults for new projects; see the fields of the same names there.
    retention_days = models.PositiveIntegerField(null=True)
    gpu_hour_price = models.FloatField(null=True)
    currency = models.CharField(max_length=8, default="", db_default="")
    projects_are_open = models.BooleanField(default=True, db_default=True)
    # True: members without a second factor must set one up before opening a page.
    requires_second_factor = models.BooleanField(default=False, db_default=False)

    objects = WorkspaceQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class MemberQuerySet(models.QuerySet["Member"]):
    def active(self) -> Self:
        return self.filter(is_active=True, user__is_active=True)


class Member(models.Model):
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="members", related_query_name="member"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    # False: the member has no access; their belongings stay.
    is_active = models.BooleanField(default=True, db_default=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    objects = MemberQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "user"], name="member_once_per_workspace"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"


class Invitation(models.Model):
    """Lets people with its link join a workspace, or one project of it."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    # With a project, `role` is the role in it, and the guest sees nothing else.
    project = models.ForeignKey(
        "tracker.Project", models.CASCADE, null=True, related_name="invitations"
    )
    # Empty: anyone with the link may use it.
    email = models.EmailField(default="", db_default="")
    # True: the secret was sent to that address only.
    is_mailed = models.BooleanField(default=False, db_default=False)
    # Only the SHA-256 digest of the secret is stored.
    digest = models.CharField(max_length=64, unique=True)
    # None: any number.
    max_uses = models.PositiveIntegerField(null=True, default=1)
    use_count = models.PositiveIntegerField(default=0, db_default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(Lower("email"), name="invitation_of_address"),
        ]

    def __str__(self) -> str:
        return f"{self.email or 'a link'} to {self.workspace}"
