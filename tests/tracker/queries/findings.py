"""Stores findings like the rules do."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from tracker.actions.runs.run_summaries import FINDINGS, gather
from tracker.models import Finding, Run


# Any: fields of a finding.
def add_finding(run: Run, title: str, *, severity: str, **more: Any) -> None:
    """Add a finding to a run's only stage, as a cause without symptoms."""
    now = timezone.now()
    given = {"is_primary": True, "confidence": 0.9, "body": {}, **more}
    Finding.objects.create(
        run=run,
        stage=run.stages.get(),
        rule=title,
        title=title,
        severity=severity,
        opened_at=now,
        changed_at=now,
        **given,
    )
    gather([run.id], FINDINGS)
