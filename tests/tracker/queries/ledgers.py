"""Diagnoses that hold a ledger, as the rules would have left them."""

from __future__ import annotations

from django.utils import timezone

from tracker.actions.gathering import LEDGERS, gather
from tracker.models import Diagnosis, Run


def add_ledger(
    run: Run, *, gpus: int = 1, energy: float | None = None, **seconds: float
) -> None:
    """Say what the time of a run's only stage went into."""
    Diagnosis.objects.create(
        run=run,
        stage=run.stages.get(),
        diagnosed_at=timezone.now(),
        ledger={**seconds, "gpus": gpus, "energy_joules": energy},
    )
    gather([run.id], LEDGERS)
