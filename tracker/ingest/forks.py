"""Makes a run a fork of the run that its first message names."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tracker.actions.forks import fork_run
from tracker.ingest.batch import Batch
from tracker.ingest.refusal import Refusal
from tracker.models import Run


def note_fork(run_id: UUID, batch: Batch) -> Batch:
    """Fork the run if its opening requests it; report why it cannot be forked."""
    opening = batch.opening
    if opening is None or opening.fork_from is None:
        return batch
    run = Run.objects.get(id=run_id)
    reason = fork_run(run, opening.fork_from, opening.fork_step)
    if reason is None:
        return batch
    refusal = Refusal(1, 0, "invalid_fork", reason)
    return replace(batch, refusals=(*batch.refusals, refusal))
