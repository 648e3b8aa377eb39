"""Replays records of a real PyTorch job, from ingest to diagnosis."""

from __future__ import annotations

from uuid import uuid4

import pytest
import zstandard

from tests.builders import actor_of
from tests.slow.recordings.record import RECORDING
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.ingest.write import store_batch
from tracker.models import Attribute, Diagnosis, Finding, Run, State
from tracker.queries.series.series import read_points

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]

LARGEST = 2**26  # bytes
SPOOL = uuid4()


@pytest.fixture
def run(member):
    frames = zstandard.ZstdDecompressor().decompress(
        RECORDING.read_bytes(), max_output_size=LARGEST
    )
    for _ in range(2):
        # A batch that comes twice is stored once.
        store_batch(actor_of(member), SPOOL, frames)
    return Run.objects.get()


def test_steps_phases_and_facts_are_stored(run):
    stored = {each.path: each for each in Attribute.objects.all()}
    facts = "monitoring/train/facts"

    assert run.state == State.FINISHED
    for name in ("seconds", "data_wait_seconds", "phase/forward_seconds"):
        assert len(read_points(run, f"monitoring/train/step/{name}").values) == 600
    assert stored[f"{facts}/framework"].text == "pytorch"
    assert stored[f"{facts}/loader_workers"].number == 1
    assert stored[f"{facts}/loader_prefetch_factor"].number == 2
    assert stored[f"{facts}/model/class"].text == "Sequential"


def test_the_fault_that_the_job_was_built_to_have_is_found(run):
    diagnose_run(run.id)

    primary = Finding.objects.get(run=run, is_primary=True)
    assert primary.rule == "too-few-loader-workers"
    finding = primary.body["judgement"]["finding"]
    codes = [each["code"] for each in finding["recommendations"]]
    assert "DataLoader(dataset, num_workers=2, persistent_workers=True)" in codes
    assert finding["gain"]["bound"] > 1.3
    assert Diagnosis.objects.get(run=run).is_final
