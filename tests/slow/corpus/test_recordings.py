from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import msgspec
import pytest

from evaluation.recordings import (
    PARTS,
    all_recordings,
    path_of,
    read_recording,
    recordings_of,
)
from evaluation.synthetic.faults import find_case
from tests.builders import actor_of
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.diagnosis.analysis.stage_phases import find_regimes
from tracker.diagnosis.engine.measurements import Steps, clean
from tracker.ingest.write import store_batch
from tracker.models import Finding, Run, Stage, State
from tracker.queries.diagnoses.signals import read_measurements

LARGEST = 2**20
LARGEST_TOGETHER = 10 * 2**20
LARGEST_SCRIPTS = 16 * 2**20


def test_every_recording_is_small_and_anonymous():
    scripts = [path for part in PARTS for path in recordings_of(part)]
    for path in (*all_recordings(), *scripts):
        recording = read_recording(path)
        messages = [
            message
            for frames in recording.spools
            for _, payload in frames
            for message in msgspec.msgpack.decode(payload)
        ]
        named = [m for m in messages if str(m.get("path", "")).endswith("/facts/host")]
        assert path.stat().st_size < LARGEST, path
        assert path.name == recording.file_name
        assert {m["host"] for m in messages if m["t"] == "open"} == {"trainer"}, path
        assert {m["value"] for m in named} == {"trainer"}, path


def test_every_synthetic_recording_is_of_a_case():
    for path in all_recordings():
        recording = read_recording(path)
        case = find_case(recording.case)
        assert path == path_of(recording.case, recording.seed)
        assert not case.needs_gpu or case.gpu, path


def test_recordings_together_are_small():
    scripts = [path for part in PARTS for path in recordings_of(part)]
    assert sum(path.stat().st_size for path in all_recordings()) < LARGEST_TOGETHER
    assert sum(path.stat().st_size for path in scripts) < LARGEST_SCRIPTS


@pytest.fixture
def replay(member):
    def run(case, seed=1):
        for body in read_recording(path_of(case, seed)).bodies():
            store_batch(actor_of(member), uuid4(), body)
        stored = Run.objects.get()
        diagnose_run(stored.id)
        return stored

    return run


@pytest.mark.django_db
def test_a_job_without_workers_needs_some(replay):
    run = replay("no-workers")

    assert run.state == State.FINISHED
    assert (
        Finding.objects.get(run=run, is_primary=True).rule == "too-few-loader-workers"
    )


@pytest.mark.django_db
def test_a_healthy_job_has_no_main_finding(replay):
    run = replay("healthy-usual")

    assert not Finding.objects.filter(run=run, is_primary=True, confidence__gte=0.5)


@pytest.mark.django_db
def test_ranks_are_one_run(replay):
    replay("straggler")

    assert Run.objects.count() == 1


def regimes_without_steps(run, stage):
    """Return the phases of a stage as detected without step times."""
    measured = read_measurements(Stage.objects.get(run=run, name=stage))
    measured = clean(replace(measured, steps=Steps.none()))
    span = measured.span()
    assert span is not None
    return [regime.seconds / span.seconds for regime in find_regimes(measured)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("case", "stage"),
    [
        ("bursts", "train"),
        ("costly-preparation", "train"),
        ("neighbors", "train"),
        ("no-workers", "train"),
        ("quota", "train"),
        ("too-many-threads", "train"),
        ("gap-between-stages", "preprocess"),
    ],
)
def test_a_job_that_does_one_thing_is_one_regime(replay, case, stage):
    assert regimes_without_steps(replay(case), stage) == [pytest.approx(1, abs=0.2)]


@pytest.mark.django_db
def test_a_job_that_sleeps_most_of_the_time_does_not_work(replay):
    # Less than a fifth of its cores, and no GPU: the activity is not visible.
    assert regimes_without_steps(replay("healthy-long-steps"), "train") == []
