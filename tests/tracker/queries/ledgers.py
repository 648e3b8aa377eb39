"""Stores diagnoses with a time breakdown, like the rules do."""

from __future__ import annotations

from django.utils import timezone

from tracker.actions.runs.run_summaries import LEDGERS, gather
from tracker.models import Diagnosis, Run


def add_ledger(
    run: Run, *, gpus: int = 1, energy: float | None = None, **seconds: float
) -> None:
    """Add a diagnosis with a time breakdown to a run's only stage."""
    Diagnosis.objects.create(
        run=run,
        stage=run.stages.get(),
        diagnosed_at=timezone.now(),
        ledger={**seconds, "gpus": gpus, "energy_joules": energy},
    )
    gather([run.id], LEDGERS)
