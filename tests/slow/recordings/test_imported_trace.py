"""A trace of a job that has a fault, from its import to its diagnosis."""

from __future__ import annotations

from uuid import uuid4

import pytest

from seamark.commands import main
from seamark.queue.spool_reader import find_spools
from tests.agent.importers.traces import SEVERAL, steps_of, write_trace
from tests.builders import actor_of
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.ingest.write import store_batch
from tracker.models import Finding, Run, Stage, State

pytestmark = pytest.mark.django_db

MOST = 2**26  # bytes


@pytest.fixture
def imported(tmp_path, member, monkeypatch):
    """Return a function that imports a trace and stores it as the server does."""
    monkeypatch.setenv("SEAMARK_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("SEAMARK_MODE", "offline")

    def store(events):
        path = write_trace(tmp_path / "worker0.pt.trace.json.gz", events)
        assert main(["import", "trace", str(path), "--run", "traced"]) == 0
        (spool,) = find_spools(tmp_path / "spool")
        frames = spool.frames_from(1, most_bytes=MOST)
        body = b"".join(frame.to_bytes() for frame in frames)
        store_batch(actor_of(member), uuid4(), body)
        run = Run.objects.get()
        diagnose_run(run.id)
        return run

    return store


def test_that_nobody_but_training_loads_is_found(imported):
    run = imported(steps_of(6, step=100, wait=40, work=60))

    primary = Finding.objects.get(run=run, is_primary=True)
    assert primary.rule == "too-few-loader-workers"
    finding = primary.body["judgement"]["finding"]
    assert finding["gain"]["bound"] == pytest.approx(1 / 0.6)
    assert "The number of cores is unknown." in finding["summary"]


def test_a_loader_that_keeps_up_is_no_fault(imported):
    run = imported(steps_of(6, step=60, wait=0.1, work=59, loader=SEVERAL))

    rules = set(Finding.objects.filter(run=run).values_list("rule", flat=True))
    assert not rules & {"too-few-loader-workers", "data-wait-dominates"}


def test_the_run_was_when_the_trace_was(imported):
    run = imported(steps_of(6))

    stage = Stage.objects.get(run=run)
    assert (stage.name, run.state) == ("trace", State.FINISHED)
    assert run.started_at.year == run.ended_at.year == 2023
    assert (run.ended_at - run.started_at).total_seconds() < 1
