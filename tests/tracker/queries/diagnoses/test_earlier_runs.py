"""Data of the same stage in other runs of a project."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tests.tracker.queries.measured import finish, measure_loop
from tracker.actions.deletions import delete_made
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.models import Run, Stage, User, Work, WorkKind
from tracker.queries.diagnoses.earlier_runs import (
    read_earlier,
    read_learning,
    read_same_stages,
)
from tracker.queries.diagnoses.signals import read_measurements
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SCRIPT = {"source/text": "print(1)", "source/arguments": "python prep.py --size 8"}


@pytest.fixture
def project():
    return make_project(make_member("ada"))


def measured(project, name, *, ranks=None, stage="train", values=None, **loop) -> Run:
    run = make_run(project, name)
    measure_loop(run, stage=stage, **loop)
    stated = {
        f"monitoring/{stage}/{path}": value for path, value in (values or {}).items()
    }
    if ranks is not None:
        stated[f"monitoring/{stage}/facts/distributed/world_size"] = ranks
    if stated:
        write_values(run, stated, stage=stage)
    finish(run)
    compact_run(run.id)
    return run


def stage_of(run, name="train") -> Stage:
    return Stage.objects.select_related("run").get(run=run, name=name)


def newest(run) -> Stage:
    """Return the stage of a run, as if it had started after all others."""
    stage = stage_of(run)
    Stage.objects.exclude(pk=stage.pk).update(
        started_at=stage.started_at.replace(year=stage.started_at.year - 1)
    )
    return stage


def test_finds_the_run_on_the_fewest_ranks(project):
    measured(project, "one")
    measured(project, "two", ranks=2)
    eight = measured(project, "eight", ranks=8, step_seconds=0.2)

    found = read_earlier(newest(eight), 8.0)["run_of_fewer_ranks"]

    assert (found.name, found.ranks) == ("one", 1.0)
    assert found.examples_per_second == pytest.approx(160.0)
    assert found.parts["forward"] == pytest.approx(0.01)
    assert found.parts["data wait"] == pytest.approx(0.06)


@pytest.mark.parametrize(
    "values", [{"facts/gpu/0/name": "other"}, {"facts/model/parameters": 7}]
)
def test_another_gpu_or_model_is_not_compared(project, values):
    kept = {"facts/gpu/0/name": "this", "facts/model/parameters": 9}
    measured(project, "one", values=kept | values)
    eight = measured(project, "eight", ranks=8, values=kept)

    assert "run_of_fewer_ranks" not in read_earlier(newest(eight), 8.0)


def test_one_rank_has_nothing_to_compare(project):
    measured(project, "one")
    other = measured(project, "other")

    assert read_earlier(newest(other), None) == {}


def test_reads_what_the_rung_before_learned(project):
    runs = [measured(project, name) for name in ("first", "second")]
    write_series(runs[0], "train/loss", np.linspace(2, 1, 50))
    rung_requests = [RungRequest(str(run.id)) for run in runs]
    ladder = create_ladder(project, "faster", rung_requests)

    assert "rung_before" not in read_earlier(stage_of(runs[0]), None)
    found = read_earlier(stage_of(runs[1]), None)["rung_before"]
    assert found.name == "first"
    assert found.examples_per_second == pytest.approx(160.0)
    assert len(found.step_times) == len(found.step_examples) == 400
    assert found.losses["train/loss"].values[-1] == 1.0
    delete_made(ladder, user_id=User.objects.get().id)
    assert "rung_before" not in read_earlier(stage_of(runs[1]), None)


def test_runs_of_a_ladder_are_diagnosed_again(project):
    run = measured(project, "first")
    Work.objects.all().delete()

    create_ladder(project, "faster", [RungRequest(str(run.id))])

    assert Work.objects.filter(run=run, kind=WorkKind.DIAGNOSE).exists()


def test_a_run_without_steps_learned_nothing(project):
    assert read_learning(make_run(project, "empty"), "train") is None


def test_counts_runs_that_did_the_same(project):
    for name in ("a", "b"):
        measured(project, name, stage="prep", values=SCRIPT)
    other = SCRIPT | {"source/arguments": "python prep.py --size 9"}
    measured(project, "c", stage="prep", values=other)
    last = measured(project, "d", stage="prep", values=SCRIPT)
    stage = stage_of(last, "prep")
    before = stage.started_at.replace(year=stage.started_at.year - 1)
    Stage.objects.exclude(pk=stage.pk).update(
        started_at=before, ended_at=before + timedelta(minutes=1)
    )

    found = read_same_stages(stage)

    assert found["same_stage_runs"] == 2.0
    assert found["same_stage_seconds"] == 120.0


def test_unknown_scripts_are_not_the_same(project):
    run = measured(project, "a", stage="prep")

    assert read_same_stages(stage_of(run, "prep")) == {}


def test_counts_the_processes_that_log(project):
    run = measured(project, "a")

    assert read_measurements(stage_of(run)).facts["logging_ranks"] == 1.0
