"""A run, the stages it is made of, and the spools its processes write through."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.actor import Actor
from tracker.models.project import Project


class State(models.TextChoices):
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CRASHED = "crashed"
    # Told to end before it was done, and ended in order.
    PREEMPTED = "preempted"


class RunQuerySet(models.QuerySet["Run"]):
    def readable_by(self, actor: Actor) -> Self:
        if actor.grant is not None:
            # Of a comparison's link, also those of projects beside the link's own.
            return self.filter(
                project__in=Project.objects.beside(actor.grant.project_id).of_link(
                    actor
                ),
                id__in=actor.grant.of("run"),
            )
        return self.filter(project__in=Project.objects.readable_by(actor))

    def not_in_trash(self) -> Self:
        return self.filter(trashed_at=None)

    def in_trash(self) -> Self:
        """What can be restored; a run that is being deleted is nowhere."""
        return self.filter(trashed_at__isnull=False, purging_at=None)


class Run(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="runs")
    # Whose token or session it was made with.
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    # Chosen by the user; every script that uses it joins the same run.
    name = models.CharField(max_length=255)
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.RUNNING
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # By the clocks of the machines that log.
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Seconds in which at least one process ran, up to `active_since` while one still runs.
    active_seconds = models.FloatField(null=True)
    active_since = models.DateTimeField(null=True)
    # By the server's clock: when anything last arrived.
    last_seen_at = models.DateTimeField(auto_now_add=True)
    trashed_at = models.DateTimeField(null=True)
    # Once set, the run is being deleted, piece by piece, and nothing brings it back.
    purging_at = models.DateTimeField(null=True)
    # When a process first said that it logs again what an earlier one had logged.
    rewound_at = models.DateTimeField(null=True)
    # The user who made it declared, before it finished, that processes resume it.
    is_resumable = models.BooleanField(default=False, db_default=False)
    # Retention spares pinned runs, and nobody can move them to the trash.
    pinned_at = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name"], name="run_name_once_per_project"
            )
        ]
        indexes: ClassVar = [
            # The runs table, newest first.
            models.Index(fields=["project", "-created_at"], name="run_newest"),
            # The runs table in the order they started, and how many there are. To SQLite
            # an index is enough only if it also holds what its condition is about.
            models.Index(
                fields=["project", "started_at", "id", "trashed_at"],
                condition=models.Q(trashed_at__isnull=True),
                name="run_shown",
            ),
            # What is left out of it: few.
            models.Index(
                fields=["project", "trashed_at", "id"],
                condition=models.Q(trashed_at__isnull=False),
                name="run_trashed",
            ),
            # Finding runs whose processes fell silent.
            models.Index(fields=["state", "last_seen_at"], name="run_silent"),
        ]

    def __str__(self) -> str:
        return self.name


class Stage(models.Model):
    """A part of a run with a beginning and an end, often a script of its own."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="stages")
    name = models.CharField(max_length=100)
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.RUNNING
    )
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Why it failed: the exception of the first process that did.
    failure = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "name"], name="stage_name_once_per_run"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.name}"


class Spool(models.Model):
    """One process's numbered sequence of frames, and how far it is stored."""

    id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="spools")
    stage = models.ForeignKey(Stage, models.CASCADE, related_name="spools")
    rank = models.PositiveIntegerField(default=0)
    host = models.CharField(max_length=255)
    process_id = models.PositiveBigIntegerField()
    # Started by another process of the run, which sees how it ends, and may end it: a
    # worker of a pool is terminated once its work is done.
    is_helper = models.BooleanField(default=False, db_default=False)
    agent_version = models.CharField(max_length=50)
    # The highest frame number stored; written with the frames it counts.
    last_number = models.PositiveBigIntegerField(default=0)
    # CRC-32s of the last frames stored, the newest last: frames that come again must
    # be the same.
    recent_checksums = models.BinaryField(default=b"")
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.RUNNING
    )
    failure = models.TextField(default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField()
    # When others said that it is gone, by our clock: it may say that it is not.
    said_gone_at = models.DateTimeField(null=True)
    # Set if it joined a finished run without the right to reopen it: it may not change
    # attributes with ids up to this one.
    closed_attributes = models.BigIntegerField(null=True)
    # Messages refused so far by reason, and points the agent says it dropped.
    refused = models.JSONField(default=dict)
    dropped_points = models.PositiveBigIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            # Finding processes that fell silent. Each batch changes when a process was
            # last seen, so that is not in it.
            models.Index(
                fields=["run"],
                condition=models.Q(state=State.RUNNING),
                name="spool_running",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Reopening(models.Model):
    """A process that joined a run after it had finished."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="reopenings")
    spool = models.OneToOneField(Spool, models.CASCADE, related_name="reopening")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    token = models.ForeignKey(
        "tracker.Token", models.SET_NULL, null=True, related_name="+", db_index=False
    )
    # False: it may add to the run, and change nothing that was there.
    may_change = models.BooleanField()
    # Most often the next script of a pipeline, which reopens nothing.
    is_new_stage = models.BooleanField()
    joined_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.run} at {self.joined_at}"
