"""The results of the rules for a stage, and each finding's history."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.run import Run, Stage


class Diagnosis(models.Model):
    """The latest result of running all rules on one stage."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="diagnoses")
    stage = models.OneToOneField(Stage, models.CASCADE, related_name="diagnosis")
    diagnosed_at = models.DateTimeField()
    # True if the stage had ended at the time of the diagnosis.
    is_final = models.BooleanField(default=False)
    # The evaluated steady window, in microseconds since 1970; None: no steady state.
    window_start = models.BigIntegerField(null=True)
    window_end = models.BigIntegerField(null=True)
    step_count = models.PositiveBigIntegerField(default=0)
    healthy = models.JSONField(default=list)  # names of rules without a finding
    unanswered = models.JSONField(default=dict)  # rule name → missing signals
    failed = models.JSONField(default=list)  # names of rules that raised an exception
    # Version of the rules and their limits, from tracker.queries.diagnoses.rules_version;
    # "": stored by an older version of the tracker.
    rules_version = models.CharField(max_length=40, default="")
    # Seconds by tracker.diagnosis.breakdown.categories.Use, with the number of GPUs and
    # their energy; None: the stage has no start or end yet.
    ledger = models.JSONField(null=True)
    # Full steps in the steady window; None: not measured.
    steps_per_second = models.FloatField(null=True)
    examples_per_second = models.FloatField(null=True)
    median_step_seconds = models.FloatField(null=True)
    data_wait_share = models.FloatField(null=True)


class Finding(models.Model):
    """A rule's finding for one scope of a run; kept after it clears."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="findings")
    stage = models.ForeignKey(Stage, models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=100)
    # The part of the stage that the finding is about: "" for all of it, or "gpu/0".
    scope = models.CharField(max_length=100, default="")
    is_open = models.BooleanField(default=True)
    is_primary = models.BooleanField(default=False)
    # Name of the rule whose finding explains this one; "" for a root cause.
    explained_by = models.CharField(max_length=100, default="")
    severity = models.CharField(max_length=10)
    confidence = models.FloatField()
    title = models.CharField(max_length=300)
    # tracker.diagnosis.engine.finding.Finding as JSON.
    body = models.JSONField()
    opened_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True)
    history = models.JSONField(default=list)
    # Dismissed by a user as not a fault; stays dismissed in later diagnoses.
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    dismissed_reason = models.CharField(max_length=500, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["stage", "rule", "scope"], name="finding_once_per_scope"
            )
        ]
        indexes: ClassVar = [
            # The main finding of each run in a runs table.
            models.Index(fields=["run", "is_open"], name="finding_open"),
        ]
