"""Utilization strips."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.builders import make_project, make_run, write_series
from tracker.queries.hardware.utilization import PARTS, strip, utilization_of


@dataclass(frozen=True)
class Drawn:
    mean: np.ndarray
    x: np.ndarray = field(default_factory=lambda: np.arange(0.0))

    @staticmethod
    def of(*values: float) -> Drawn:
        return Drawn(np.array(values, float), np.arange(len(values), dtype=float))


def test_a_long_line_is_averaged_in_equal_parts():
    values = strip([Drawn.of(*[0.0] * 600, *[100.0] * 600)])

    assert len(values) == PARTS
    assert (values[0], values[-1]) == (0.0, 100.0)


def test_few_points_last_until_the_next():
    values = strip([Drawn.of(10.0, 90.0)])

    assert set(values) == {10.0, 90.0}


def test_several_lines_are_averaged():
    both = strip([Drawn.of(*[0.0] * 60), Drawn.of(*[100.0] * 60)])

    assert set(both) == {50.0}


def test_a_long_silence_is_unknown():
    line = Drawn(np.full(20, 50.0), np.r_[np.arange(10.0), 200 + np.arange(10.0)])

    assert None in strip([line])


@pytest.mark.parametrize("lines", [[], [Drawn.of()], [Drawn.of(float("nan"))]])
def test_nothing_measured_is_nothing_known(lines):
    assert not any(value is not None for value in strip(lines))


def test_more_than_all_is_all():
    assert set(strip([Drawn.of(1.0, 1.2)], scale=100.0)) == {100.0}


@pytest.mark.django_db
@pytest.mark.database
def test_reads_the_mean_of_all_gpus_and_the_share_of_the_cores(member):
    run = make_run(make_project(member), "a", "finished")
    for path, value in (
        ("gpu/0/utilization_percent", 40.0),
        ("rank-1/gpu/1/utilization_percent", 60.0),
        ("gpu/0/mig/1/utilization_percent", 1.0),
        ("job/cpu_cores", 2.0),
    ):
        write_series(run, f"monitoring/train/{path}", [value] * 50)

    found = utilization_of([run], "train", {run.id: 4.0})[run.id]
    without_cores = utilization_of([run], "train", {run.id: None})[run.id]

    assert (set(found.gpu), set(found.cpu)) == ({50.0}, {50.0})
    assert without_cores.cpu == ()
