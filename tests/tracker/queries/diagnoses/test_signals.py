from __future__ import annotations

import numpy as np
import pytest

from tests.builders import SECOND, START, write_series, write_values
from tests.tracker.queries.measured import finish, measure_loop, measured_run
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.signals import Samples
from tracker.models import Stage
from tracker.queries.diagnoses.signals import read_measurements
from tracker.queries.series import series, thinned
from tracker.queries.series.series import read_points
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def stage_of(run, name="train") -> Stage:
    return Stage.objects.select_related("run").get(run=run, name=name)


def test_reads_steps_readings_and_facts():
    found = read_measurements(stage_of(measured_run(count=50)))

    assert len(found.steps) == 50
    assert found.steps.columns["data_wait_seconds"] == pytest.approx(0.06)
    assert found.samples["job_cpu_cores"].values.tolist() == [1.0] * 5
    assert found.facts["effective_cores"] == 4.0
    assert found.facts["framework"] == "plain"
    assert found.gpu_count == 0


def test_long_steps_are_read_as_short_ones_are(monkeypatch):
    run = measured_run(count=50)
    compact_run(run.id)
    whole = read_measurements(stage_of(run)).steps

    monkeypatch.setattr(series, "POINTS_AT_ONCE", 1)
    found = read_measurements(stage_of(run)).steps

    assert found.times.tolist() == whole.times.tolist()
    assert len(found.columns) == len(whole.columns) >= 3
    for name, column in whole.columns.items():
        assert found.columns[name].tolist() == column.tolist(), name
    assert found.phases["phase_seconds"]["forward"].tolist() == pytest.approx(
        whole.phases["phase_seconds"]["forward"].tolist()
    )


def test_reads_each_gpu():
    run = measured_run(count=20)
    for gpu in (0, 10):
        write_series(
            run, f"monitoring/train/gpu/{gpu}/utilization_percent", [gpu, 50.0]
        )
    write_values(run, {"monitoring/train/facts/gpu/10/memory_total_bytes": 80 * 2**30})

    found = read_measurements(stage_of(run))

    assert sorted(found.gpus) == [0, 10]
    used = found.gpus[10]["gpu_utilization_percent"]
    assert isinstance(used, Samples)
    assert used.values.tolist() == [10.0, 50.0]
    assert found.gpus[10]["gpu_memory_total_bytes"] == float(80 * 2**30)
    assert found.gpu_count == 2


def test_reads_only_its_own_stage_and_first_process():
    run = measured_run(count=20)
    other = ("monitoring/train-2", "monitoring/train/rank-1", "monitoring/trai")
    for prefix in other:
        write_series(run, f"{prefix}/job/memory_bytes", [1.0])

    assert "job_memory_bytes" not in read_measurements(stage_of(run)).samples


def test_a_stage_without_measurements_is_empty():
    run = measured_run(count=20)
    measure_loop(run, stage="infer")
    Stage.objects.create(run=run, name="report")

    found = read_measurements(stage_of(run, "report"))

    assert len(found.steps) == 0
    assert found.samples == {}
    assert found.gpu_count is None


@pytest.mark.parametrize(
    "value", ["many", True, ["a", "b"]], ids=["text", "boolean", "set"]
)
def test_a_fact_of_the_wrong_type_is_absent(value):
    run = measured_run(count=20)
    write_values(run, {"monitoring/train/facts/memory_limit_bytes": value})

    assert "memory_limit_bytes" not in read_measurements(stage_of(run)).facts


def test_a_series_where_a_fact_belongs_is_absent():
    run = measured_run(count=20)
    write_series(run, "monitoring/train/facts/batch_size", [1.0, 2.0])

    assert "batch_size" not in read_measurements(stage_of(run)).facts


def test_a_value_where_a_series_belongs_is_absent():
    run = measured_run(count=20)
    write_values(run, {"monitoring/train/job/memory_bytes": 5.0})

    assert "job_memory_bytes" not in read_measurements(stage_of(run)).samples


def test_steps_that_lack_a_wait_are_gaps():
    run = measured_run(count=20)
    write_series(
        run,
        "monitoring/train/step/seconds",
        [0.1],
        steps=[20],
        times=[START + 60 * SECOND],
    )

    waits = read_measurements(stage_of(run)).steps.columns["data_wait_seconds"]

    assert np.isnan(waits).tolist() == [False] * 20 + [True]


def test_the_share_of_a_stage_is_of_the_time_of_all():
    run = measured_run(count=20)
    measure_loop(run, stage="infer", count=20)
    finish(run)
    at = run.started_at
    assert at is not None
    train, infer = stage_of(run), stage_of(run, "infer")
    for stage, seconds in ((train, 75), (infer, 25)):
        Stage.objects.filter(pk=stage.pk).update(
            started_at=at,
            ended_at=at.fromtimestamp(at.timestamp() + seconds, at.tzinfo),
        )

    assert read_measurements(train).facts["stage_share_of_run"] == pytest.approx(0.75)


def test_the_share_is_unknown_where_no_stage_has_begun():
    run = measured_run(count=20)
    Stage.objects.filter(run=run).update(started_at=None)

    assert "stage_share_of_run" not in read_measurements(stage_of(run)).facts


def test_reads_phases_in_steps_apart_from_those_outside():
    run = measured_run(count=20)
    steps = read_points(run, "monitoring/train/step/seconds")
    path = "monitoring/train/step/phase/evaluate_seconds"
    write_series(
        run,
        path,
        [0.2, 5.0],
        steps=[3.0, 0.0],
        times=[int(steps.times[3]), START + 90 * SECOND],
    )

    found = read_measurements(stage_of(run))

    in_steps = found.steps.phases["phase_seconds"]["evaluate"]
    assert np.flatnonzero(np.isfinite(in_steps)).tolist() == [3]
    assert found.spans["evaluate"].values.tolist() == [5.0]


def test_reads_losses_even_where_they_are_not_finite():
    run = measured_run(count=20)
    write_series(run, "train/loss", [1.0, np.nan, np.inf])
    write_series(run, "train/glossary", [1.0])

    losses = read_measurements(stage_of(run)).losses

    assert set(losses) == {"train/loss"}
    assert np.isnan(losses["train/loss"].values[1])


def test_reads_evaluations_and_learning_rates():
    run = measured_run(count=20)
    for path in ("train/loss", "val/loss", "train/validator", "train/lr", "opt/color"):
        write_series(run, path, [1.0, 0.5])

    found = read_measurements(stage_of(run))

    assert set(found.evaluations) == {"val/loss"}
    assert set(found.learning_rates) == {"train/lr"}


def test_a_learning_rate_among_the_parameters_counts():
    run = measured_run(count=20)
    write_values(run, {"params/lr": 0.5, "params/color": 3.0})

    rates = read_measurements(stage_of(run)).learning_rates

    assert {path: rate.values.tolist() for path, rate in rates.items()} == {
        "params/lr": [0.5]
    }


def test_losses_and_steps_of_ranks_are_thinned_where_they_are_long(monkeypatch):
    monkeypatch.setattr(thinned, "MAX_CURVE_POINTS", 20)
    monkeypatch.setattr(thinned, "MAX_RANK_POINTS", 20)
    run = measured_run(count=400)
    write_series(run, "train/loss", np.linspace(2, 1, 400))
    for rank in (1, 2):
        path = f"monitoring/train/rank-{rank}/step/seconds"
        write_series(run, path, [0.1 * rank] * 400)
    while_it_runs = read_measurements(stage_of(run))
    finish(run)

    found = read_measurements(stage_of(run))

    # Recent steps are complete.
    assert while_it_runs.ranks.numbers[-360:].tolist() == list(range(40, 400))
    assert len(found.steps) == 400
    assert 20 <= len(found.losses["train/loss"].values) <= 30
    assert found.losses["train/loss"].values[[0, -1]].tolist() == [2, 1]
    assert 1 <= len(found.ranks.times) <= 40
    assert found.ranks.columns["step_seconds"][0, 2] == pytest.approx(0.2)


def test_reads_the_steps_of_all_ranks():
    run = measured_run(count=20)
    for rank in (1, 2):
        prefix = f"monitoring/train/rank-{rank}/step"
        write_series(run, f"{prefix}/seconds", [0.1 * rank] * 15)

    ranks = read_measurements(stage_of(run)).ranks

    assert ranks.ranks == (0, 1, 2)
    assert ranks.columns["step_seconds"].shape == (15, 3)
    assert ranks.columns["step_seconds"][0, 2] == pytest.approx(0.2)


def test_reads_how_long_each_rank_waited_for_a_core():
    run = measured_run(count=60)
    wait = "job/main_thread_core_wait_share"
    times = [START + second * SECOND for second in range(1, 7)]
    write_series(run, "monitoring/train/rank-1/step/seconds", [0.1] * 60)
    for rank, share in (("", 0.0), ("rank-1/", 0.5)):
        path = f"monitoring/train/{rank}{wait}"
        write_series(run, path, [share] * 6, times=times)

    waits = read_measurements(stage_of(run)).ranks.columns["core_wait_seconds"]

    assert waits.shape == (60, 2)
    assert waits[20].tolist() == pytest.approx([0.0, 0.05])


def test_readings_are_as_good_as_the_run_says():
    run = measured_run(count=20)
    text = "job/cpu_cores\tcores\tprocess tree\t1\t/proc\nhost/cpu_percent\tbroken"
    write_values(run, {"monitoring/train/facts/readings": text})

    found = read_measurements(stage_of(run))

    assert found.samples["job_cpu_cores"].quality == 1.0


def test_a_service_is_diagnosed_by_its_phases():
    run = measured_run(count=20)
    times = START + np.arange(1, 121) * SECOND
    write_series(run, "monitoring/serve/job/cpu_cores", np.ones(120), times=times)
    for number, (name, seconds) in enumerate(
        {"queue": 0.1, "load_model": 0.3, "compute": 0.1, "request": 0.01}.items()
    ):
        write_series(
            run,
            f"monitoring/serve/step/phase/{name}_seconds",
            np.full(120, seconds),
            times=times + number,
        )
    stage, _ = Stage.objects.get_or_create(run=run, name="serve")

    diagnosis = diagnose(read_measurements(stage))

    (found,) = [
        f for f in diagnosis.findings if f.rule == "model-is-loaded-per-request"
    ]
    assert "120 model loads for 120 requests, 300 ms each" in found.finding.summary
    assert not diagnosis.failed


def requests_of(run, name: str, times, *, load_model: float):
    step = "monitoring/serve/step"
    write_series(run, f"{step}/phase/{name}_seconds", np.full(60, 0.1), times=times)
    write_series(
        run,
        f"{step}/nested/{name}/load_model/digits_seconds",
        np.full(60, load_model),
        times=times,
    )


def test_parts_of_requests_are_read_for_all_kinds_together():
    run = measured_run(count=20)
    times = START + np.arange(1, 61) * SECOND
    requests_of(run, "request", times, load_model=0.3)
    requests_of(run, "request/batch", times + 1, load_model=0.5)
    # Within another phase.
    write_series(run, "monitoring/serve/step/nested/fit/compute_seconds", [1.0])
    stage, _ = Stage.objects.get_or_create(run=run, name="serve")

    found = read_measurements(stage).request_parts

    assert set(found) == {"load_model/digits"}
    assert len(found["load_model/digits"].values) == 120
    assert found["load_model/digits"].values[:2].tolist() == [0.3, 0.5]


def test_phases_nested_in_steps_are_not_parts_of_requests():
    run = measured_run(count=20)
    steps = read_points(run, "monitoring/train/step/seconds")
    for path in ("phase/request_seconds", "nested/request/compute_seconds"):
        write_series(
            run,
            f"monitoring/train/step/{path}",
            np.full(len(steps), 0.01),
            steps=steps.steps,
            times=steps.times,
        )

    assert read_measurements(stage_of(run)).request_parts == {}
