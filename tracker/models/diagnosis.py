"""What the rules said about a stage, and each finding's history."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.run import Run, Stage


class Diagnosis(models.Model):
    """The newest outcome of asking all rules about one stage."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="diagnoses")
    stage = models.OneToOneField(Stage, models.CASCADE, related_name="diagnosis")
    diagnosed_at = models.DateTimeField()
    # True once the stage had ended when it was asked.
    is_final = models.BooleanField(default=False)
    # The steady window judged, in microseconds since 1970; None: no steady state.
    window_start = models.BigIntegerField(null=True)
    window_end = models.BigIntegerField(null=True)
    step_count = models.PositiveBigIntegerField(default=0)
    healthy = models.JSONField(default=list)  # names of rules that saw no fault
    unanswered = models.JSONField(default=dict)  # rule name → signals it lacked
    failed = models.JSONField(default=list)  # names of rules that broke
    # Of the rules and their limits, as tracker.queries.diagnoses.rules_version says; "": an older
    # version of the tracker did not say.
    rules_version = models.CharField(max_length=40, default="")
    # Seconds by tracker.diagnosis.breakdown.categories.Use, with the number of GPUs and their energy;
    # None: the stage has no beginning or no end yet.
    ledger = models.JSONField(null=True)
    # In the steady window, whole steps; None: not measured.
    steps_per_second = models.FloatField(null=True)
    examples_per_second = models.FloatField(null=True)
    median_step_seconds = models.FloatField(null=True)
    data_wait_share = models.FloatField(null=True)


class Finding(models.Model):
    """One rule's claim about one scope of a run; kept after it clears."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="findings")
    stage = models.ForeignKey(Stage, models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=100)
    # What the claim speaks about inside the stage: "" for all of it, or "gpu/0".
    scope = models.CharField(max_length=100, default="")
    is_open = models.BooleanField(default=True)
    is_primary = models.BooleanField(default=False)
    # Name of the rule whose finding this one is a symptom of; "" for a root cause.
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
    # A person's word that it is no fault here; it stays when the rule looks again.
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
            # The main finding of each run of a runs table.
            models.Index(fields=["run", "is_open"], name="finding_open"),
        ]
