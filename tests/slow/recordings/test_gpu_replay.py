"""Replays records of real PyTorch jobs on a GPU, from ingest to diagnosis."""

from __future__ import annotations

from uuid import uuid4

import pytest

from evaluation.recordings import path_of, read_recording
from tests.builders import actor_of
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.ingest.write import store_batch
from tracker.models import Attribute, Finding, Run, State
from tracker.queries.series.series import read_points

pytestmark = pytest.mark.django_db


@pytest.fixture
def replayed(member):
    """Return a function that stores and diagnoses a recording of the corpus."""

    def replay(case):
        for body in read_recording(path_of(case, 1)).bodies():
            store_batch(actor_of(member), uuid4(), body)
        run = Run.objects.get()
        diagnose_run(run.id)
        return run

    return replay


def values(run, path):
    return read_points(run, f"monitoring/train/{path}").values


def findings(run):
    return Finding.objects.filter(run=run, is_open=True)


def test_a_training_with_loader_workers_has_its_times_on_the_gpu_and_no_fault(
    replayed,
):
    run = replayed("healthy-gpu-convolutions")

    steps = len(values(run, "step/seconds"))
    device = sum(
        values(run, f"step/device/{phase}_seconds").mean()
        for phase in ("copy", "forward", "backward", "optimizer")
    )
    facts = {
        a.path.removeprefix("monitoring/train/facts/"): a
        for a in Attribute.objects.filter(path__startswith="monitoring/train/facts/")
    }
    assert run.state == State.FINISHED
    assert steps > 100
    # The program is ahead of the GPU, which works all the time.
    assert device == pytest.approx(values(run, "step/seconds")[1:].mean(), rel=0.1)
    assert values(run, "gpu/0/gpm/tensor_active_percent").mean() > 50
    assert facts["loader_workers"].number == 3
    assert facts["torch/autocast"].text == "bfloat16"
    assert facts["gpu/0/uuid"].text == "GPU-00000000-0000-0000-0000-000000000000"
    assert set(findings(run).values_list("rule", flat=True)) == {"gpu-is-the-limit"}


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        ("float32", "mixed-precision-is-not-used"),
        ("eager-overhead", "launching-work-limits-the-gpu"),
        ("pageable-copies", "copies-to-the-gpu-take-long"),
        ("device-leak", "memory-ran-out"),
        ("out-of-memory", "memory-ran-out"),
        ("nearly-full", "gpu-memory-is-nearly-full"),
        ("copies-of-a-model", "model-is-in-memory-several-times"),
    ],
)
def test_the_fault_that_a_job_on_a_gpu_was_given_is_found(replayed, case, rule):
    run = replayed(case)

    assert findings(run).get(is_primary=True).rule == rule


def test_where_memory_ran_out_the_run_says_what_filled_it(replayed):
    run = replayed("device-leak")

    report = "monitoring/train/out_of_memory"
    found = {a.path: a.number for a in Attribute.objects.filter(run=run)}
    assert run.state == State.FAILED
    assert (
        found[f"{report}/activations_bytes"] > 0.9 * found[f"{report}/allocated_bytes"]
    )
