"""Metric rules of users, and their incidents."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.project import Project
from tracker.models.run import Run


class RuleCondition(models.TextChoices):
    NOT_FINITE = "not-finite"
    ABOVE = "above"
    BELOW = "below"
    MEAN_ABOVE = "mean-above"
    MEAN_BELOW = "mean-below"
    NO_POINT = "no-point"


class RuleUnit(models.TextChoices):
    STEPS = "steps"
    MINUTES = "minutes"


class MetricRule(models.Model):
    """Notifies when a metric of a running run meets a condition."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="metric_rules")
    # None: every run of the project.
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="metric_rules")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="metric_rules"
    )
    # A path; each * matches any characters.
    path = models.CharField(max_length=1024)
    condition = models.CharField(max_length=12, choices=RuleCondition.choices)
    # The value to compare with; None if the condition needs none.
    limit = models.FloatField(null=True)
    # How long the condition must hold.
    duration = models.FloatField(default=0)
    unit = models.CharField(
        max_length=10, choices=RuleUnit.choices, default=RuleUnit.MINUTES
    )
    # True: also notifies the run's followers and the project's channels.
    is_shared = models.BooleanField(default=False)
    paused_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [
            # The rules to check.
            models.Index(
                fields=["project"],
                condition=models.Q(paused_at=None),
                name="metric_rule_active",
            )
        ]

    def __str__(self) -> str:
        return f"{self.path} {self.condition}"


class MetricIncident(models.Model):
    """A period in which a rule's condition held in a run."""

    rule = models.ForeignKey(MetricRule, models.CASCADE, related_name="incidents")
    run = models.ForeignKey(Run, models.CASCADE, related_name="+")
    path = models.CharField(max_length=1024)
    began_at = models.DateTimeField()
    # When the condition became false; the incident ends if it stays so for a while.
    clear_since = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["rule", "run"],
                condition=models.Q(ended_at=None),
                name="one_open_incident_per_rule_and_run",
            )
        ]

    def __str__(self) -> str:
        return f"{self.rule} in {self.run}"
