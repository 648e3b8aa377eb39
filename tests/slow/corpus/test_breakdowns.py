"""Time breakdowns of jobs that ran on a real GPU."""

from uuid import uuid4

import pytest

from evaluation.recordings import all_recordings, read_recording
from tests.builders import actor_of
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.ingest.write import store_batch
from tracker.models import Project, Run
from tracker.queries.hardware.gpu_hours import most_wasted

pytestmark = pytest.mark.django_db

WASTEFUL, HEALTHY = "eager-overhead-1", "healthy-gpu-checkpoints-1"


def test_a_job_whose_gpu_idles_inside_steps_wastes_more_than_a_healthy_one(member):
    for path in all_recordings():
        if path.name.partition(".")[0] in (WASTEFUL, HEALTHY):
            for body in read_recording(path).bodies():
                store_batch(actor_of(member), uuid4(), body)
    for run in Run.objects.all():
        diagnose_run(run.id)

    found = most_wasted(Project.objects.get())

    assert len(found) == 2
    wasteful, healthy = (each.ledger for each in found)
    assert WASTEFUL.startswith(found[0].name.split("/")[-1])
    assert wasteful.computing_share < 0.05
    assert healthy.computing_share > 0.75
