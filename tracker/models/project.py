"""Runs that are compared with each other."""

from __future__ import annotations

from typing import ClassVar, Self

from django.db import models

from tracker.actor import Actor
from tracker.models.workspace import Role, Workspace


class ProjectQuerySet(models.QuerySet["Project"]):
    def of_member(self, actor: Actor) -> Self:
        if actor.grant is not None:
            # Not even of the project that something is shared from.
            return self.none()
        projects = self.filter(workspace__member__user_id=actor.user_id)
        if actor.workspace_id is not None:
            projects = projects.filter(workspace_id=actor.workspace_id)
        return projects

    def readable_by(self, actor: Actor) -> Self:
        return self.of_member(actor) if actor.may_read else self.none()

    def beside(self, project_id: int) -> Self:
        """Return the project with the others of its workspace."""
        of_it = Workspace.objects.filter(projects=project_id)
        return self.filter(workspace__in=of_it)

    def writable_by(self, actor: Actor) -> Self:
        return self.of_member_as(actor, Role.OWNER, Role.EDITOR)

    def owned_by(self, actor: Actor) -> Self:
        return self.of_member_as(actor, Role.OWNER)

    def of_member_as(self, actor: Actor, *roles: Role) -> Self:
        return self.filter(
            workspace__in=Workspace.objects.filter(
                member__user_id=actor.user_id, member__role__in=roles
            )
        ).of_member(actor)


class Project(models.Model):
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="projects")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    # Runs silent for longer go to the trash; None keeps them for ever.
    retention_days = models.PositiveIntegerField(null=True)

    # What an hour of one GPU costs, in a currency that people name; None: not known.
    gpu_hour_price = models.FloatField(null=True)
    currency = models.CharField(max_length=8, default="")

    # What differs from the rules' own settings: name of a rule → whether it is off, and
    # its limits by name.
    rule_settings = models.JSONField(default=dict)

    # Paths of the metrics that people want to see first of every run, in that order.
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
