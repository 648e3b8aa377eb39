"""The importance of the parameters of a sweep."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import make_run, write_values
from tracker.queries.compare.importance import (
    MAX_PARAMETERS,
    MIN_RUNS,
    importance_of,
    ranks,
    read_importance,
)

COUNT = 60


@pytest.fixture
def generator():
    return np.random.default_rng(3)


def test_equal_values_share_their_mean_rank():
    assert ranks(np.array([5.0, 1.0, 5.0, 2.0])).tolist() == [2.5, 0.0, 2.5, 1.0]


def test_the_parameter_that_decides_comes_first(generator):
    rate = (10 ** generator.uniform(-5, -1, COUNT)).tolist()
    seed = generator.integers(1_000, size=COUNT).astype(float).tolist()

    found = importance_of(
        "loss",
        [-np.log(each) for each in rate],
        {"params/seed": seed, "params/lr": rate},
    )

    assert [row.path for row in found.rows] == ["params/lr", "params/seed"]
    assert found.rows[0].share > 0.9
    assert found.rows[0].correlation == pytest.approx(-1)
    assert sum(row.share for row in found.rows) == pytest.approx(1)
    assert found.is_explained


def test_one_diverged_run_changes_nothing(generator):
    rate = generator.uniform(0, 1, COUNT)
    loss = rate.copy()
    loss[rate.argmax()] = 1e300

    found = importance_of("loss", loss.tolist(), {"lr": rate.tolist()})

    assert found.rows[0].correlation == pytest.approx(1)
    assert found.explained > 0.9


def test_texts_count_without_a_correlation(generator):
    words = [("adam", "sgd", "lion")[place % 3] for place in range(COUNT)]
    score = [{"adam": 3.0, "sgd": 1.0, "lion": 2.0}[word] for word in words]
    noise = generator.normal(size=COUNT).tolist()

    found = importance_of("score", score, {"optimizer": words, "noise": noise})

    assert found.rows[0].path == "optimizer"
    assert found.rows[0].correlation is None


def test_switches_have_a_correlation():
    flags = ["true" if place % 2 else "false" for place in range(COUNT)]
    score = [float(place % 2) for place in range(COUNT)]

    found = importance_of("score", score, {"amp": flags})

    assert found.rows[0].correlation == pytest.approx(1)


def test_parameters_that_change_together_are_named(generator):
    rate = generator.uniform(0, 1, COUNT)
    other = generator.uniform(0, 1, COUNT).tolist()
    name = [f"size {round(each * 4)}" for each in rate]

    found = importance_of(
        "loss",
        rate.tolist(),
        {
            "lr": rate.tolist(),
            "warmup": (rate * -7 + generator.normal(0, 0.01, COUNT)).tolist(),
            "model": name,
            "preset": [each.upper() for each in name],
            "other": other,
        },
    )

    assert found.together == (("lr", "warmup"), ("model", "preset"))


def test_runs_without_a_parameter_are_kept():
    depth = [None if place % 2 else float(place) for place in range(COUNT)]
    score = [0.0 if each is None else 100 + each for each in depth]

    (row,) = importance_of("score", score, {"depth": depth}).rows

    assert row.run_count == COUNT // 2
    assert row.correlation == pytest.approx(1)


def test_constant_and_unique_values_are_not_parameters():
    score = [float(place) for place in range(COUNT)]
    found = importance_of(
        "score",
        score,
        {"batch": [8.0] * COUNT, "folder": [f"out/{place}" for place in range(COUNT)]},
    )

    assert found.rows == ()
    assert found.has_enough_runs


@pytest.mark.parametrize("count", [0, 1, MIN_RUNS - 1])
def test_few_runs_have_no_importance(count):
    values = [float(place) for place in range(count)]

    found = importance_of("loss", values, {"lr": values})

    assert found.rows == ()
    assert not found.has_enough_runs


def test_a_constant_metric_has_no_importance():
    values = [float(place) for place in range(COUNT)]

    found = importance_of("loss", [1.0] * COUNT, {"lr": values})

    assert found.is_constant
    assert found.rows == ()


def test_noise_is_reported_as_such(generator):
    found = importance_of(
        "loss",
        generator.normal(size=COUNT).tolist(),
        {"lr": generator.normal(size=COUNT).tolist()},
    )

    assert not found.is_explained


def test_very_many_parameters_are_cut(generator):
    parameters = {
        f"p{place:03}": generator.normal(size=MIN_RUNS).tolist()
        for place in range(MAX_PARAMETERS + 5)
    }

    found = importance_of("p000", parameters["p000"], parameters)

    assert len(found.rows) == MAX_PARAMETERS
    assert found.omitted_count == 5
    assert "p000" in {row.path for row in found.rows}


@pytest.mark.django_db
@pytest.mark.database
def test_only_finished_runs_with_the_metric_count(project):
    runs = []
    for place in range(MIN_RUNS + 1):
        run = make_run(project, f"run {place}", "finished")
        write_values(run, {"params/lr": place / 8, "score": float(place)})
        runs.append(run)
    failed = make_run(project, "failed", "failed")
    write_values(failed, {"params/lr": 3.0, "score": -9.0})
    without = make_run(project, "without", "finished")
    write_values(without, {"params/lr": 3.0, "score": float("nan")})

    found = read_importance([*runs, failed, without], "score", ["params/lr"])

    assert (found.run_count, found.ignored_count) == (MIN_RUNS + 1, 2)
    assert found.rows[0].correlation == pytest.approx(1)
