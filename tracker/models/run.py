"""A run, its stages, and the spools of its processes."""

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
    # Ended in order after a termination signal.
    PREEMPTED = "preempted"


class RunQuerySet(models.QuerySet["Run"]):
    def readable_by(self, actor: Actor) -> Self:
        if actor.grant is not None:
            # A link to a comparison may show runs of several projects.
            return self.filter(
                project__in=Project.objects.beside(actor.grant.project_id).of_link(
                    actor
                ),
                id__in=actor.grant.of("run"),
            )
        return self.filter(project__in=Project.objects.readable_by(actor))

    def not_in_trash(self) -> Self:
        return self.filter(trashed_at=None)

    def launched_as(self, name: str) -> Self:
        """Return the runs that scripts began under this name, the oldest first."""
        named = models.Q(name=name) | models.Q(launch_name=name)
        return self.filter(named).order_by("created_at", "id")

    def in_trash(self) -> Self:
        """Return runs that can be restored, without those that are being deleted."""
        return self.filter(trashed_at__isnull=False, purging_at=None)


class Run(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="runs")
    # The user of the token or session that created it.
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    # The run of the same project that this one is a part of: a sweep, a search.
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, related_name="children", db_index=False
    )
    # Chosen by the user; scripts that use it at the same time join the same run.
    name = models.CharField(max_length=255)
    # The name that its scripts give, if the run was numbered because they ran before.
    launch_name = models.CharField(max_length=255, default="", db_default="")
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.RUNNING
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # By the clocks of the logging machines.
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Seconds in which at least one process ran, up to `active_since` while one is
    # running.
    active_seconds = models.FloatField(null=True)
    active_since = models.DateTimeField(null=True)
    # By the server's clock: the last time that anything arrived.
    last_seen_at = models.DateTimeField(auto_now_add=True)
    trashed_at = models.DateTimeField(null=True)
    # Set: the run is being deleted and cannot be restored.
    purging_at = models.DateTimeField(null=True)
    # When a process first reported that it logs steps again.
    rewound_at = models.DateTimeField(null=True)
    # Its creator declared, before it finished, that processes resume it.
    is_resumable = models.BooleanField(default=False, db_default=False)
    # Pinned runs are exempt from retention and cannot be trashed.
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
            # The runs table by start time, and the number of runs. SQLite can use a
            # covering index only if it also has the columns of its condition.
            models.Index(
                fields=["project", "started_at", "id", "trashed_at"],
                condition=models.Q(trashed_at__isnull=True),
                name="run_shown",
            ),
            # The few runs that run_shown excludes.
            models.Index(
                fields=["project", "trashed_at", "id"],
                condition=models.Q(trashed_at__isnull=False),
                name="run_trashed",
            ),
            # Finds runs with silent processes.
            models.Index(fields=["state", "last_seen_at"], name="run_silent"),
            # The runs that scripts began under one name.
            models.Index(
                fields=["project", "launch_name"],
                condition=~models.Q(launch_name=""),
                name="run_launches",
            ),
            # The children of a run, and whether a project has any.
            models.Index(
                fields=["project", "parent"],
                condition=models.Q(parent__isnull=False),
                name="run_children",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Stage(models.Model):
    """A part of a run with a start and an end, often a separate script."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="stages")
    name = models.CharField(max_length=100)
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.RUNNING
    )
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # The exception of the first process that failed.
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
    """One process's numbered sequence of frames, and its stored position."""

    id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="spools")
    stage = models.ForeignKey(Stage, models.CASCADE, related_name="spools")
    rank = models.PositiveIntegerField(default=0)
    host = models.CharField(max_length=255)
    process_id = models.PositiveBigIntegerField()
    # Started by another process of the run, which sees its exit status and may kill it:
    # a worker of a pool is terminated when its work is done.
    is_helper = models.BooleanField(default=False, db_default=False)
    agent_version = models.CharField(max_length=50)
    # The highest stored frame number; written with the frames.
    last_number = models.PositiveBigIntegerField(default=0)
    # CRC-32s of the last stored frames, newest last, to check repeated frames.
    recent_checksums = models.BinaryField(default=b"")
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.RUNNING
    )
    failure = models.TextField(default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField()
    # When the process was reported gone, by our clock; it may contradict this.
    said_gone_at = models.DateTimeField(null=True)
    # Set if it joined a finished run without the permission to reopen it: it may not
    # change attributes with ids up to this one.
    closed_attributes = models.BigIntegerField(null=True)
    # Rejected messages by reason, and points that the agent reported as dropped.
    refused = models.JSONField(default=dict)
    dropped_points = models.PositiveBigIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            # Finds silent processes. Without the time a process was last seen, which
            # each batch changes.
            models.Index(
                fields=["run"],
                condition=models.Q(state=State.RUNNING),
                name="spool_running",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Fork(models.Model):
    """A run that continues another one of its project from a step.

    The series of `source` are copied, so later changes to it have no effect.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="fork")
    # None once it is deleted.
    source = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")
    # The last step of `source` that belongs to the run.
    step = models.FloatField()
    # Series up to this path, in order of paths, are copied.
    copied_path = models.CharField(max_length=1024, default="")
    is_copied = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.run} at step {self.step:g}"


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
    # False: it may add to the run but not change it.
    may_change = models.BooleanField()
    # Usually the next script of a pipeline, which reopens nothing.
    is_new_stage = models.BooleanField()
    joined_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.run} at {self.joined_at}"
