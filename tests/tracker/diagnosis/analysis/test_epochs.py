from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import START, samples, stage, steps_in_epochs
from tracker.diagnosis.analysis.epochs import Epoch, find_epochs
from tracker.diagnosis.engine.measurements import Measurements, clean


def epochs_of(measurements: Measurements) -> tuple[Epoch, ...]:
    columns = clean(measurements).steps.columns
    return find_epochs(
        columns["step_seconds"],
        columns["step_end_seconds"],
        columns["gap_before_step_seconds"],
    )


def in_epochs(*lengths, gap=0.5) -> Measurements:
    return stage(step_rows=steps_in_epochs(lengths, gap=gap))


def test_finds_epochs_by_the_time_between_them():
    epochs = epochs_of(in_epochs(100, 100, 100))

    assert [epoch.rows for epoch in epochs] == [
        slice(0, 100),
        slice(100, 200),
        slice(200, 300),
    ]
    assert epochs[0].seconds == pytest.approx(10.0)
    assert epochs[1].seconds == pytest.approx(10.5)


def test_the_last_epoch_counts_only_where_it_is_whole():
    assert len(epochs_of(in_epochs(100, 100, 40))) == 2


def test_loops_of_other_lengths_are_no_epochs():
    assert epochs_of(in_epochs(100, 10, 100, 10)) == ()


def test_steps_with_pauses_between_them_are_no_epochs():
    assert epochs_of(in_epochs(*[1] * 100)) == ()
    assert len(epochs_of(in_epochs(*[2] * 100))) == 100


def test_a_delayed_step_is_no_start_of_an_epoch():
    rows = steps_in_epochs((100, 100, 100), gap=0.5)
    rows.times[150:] += 20_000

    assert [e.steps for e in epochs_of(stage(step_rows=rows))] == [100, 100, 100]


def test_a_loop_without_gaps_has_no_epochs():
    assert epochs_of(in_epochs(100, 100, gap=0.0)) == ()
    assert epochs_of(stage()) == ()


def test_the_time_of_a_restart_is_no_gap():
    rows = steps_in_epochs((100, 100), gap=60.0)
    rows.numbers[100:] -= 100

    assert epochs_of(stage(step_rows=rows)) == ()


def test_means_are_those_of_the_readings_within():
    epoch = Epoch(slice(0, 1), START / 1e6, START / 1e6 + 2)

    assert epoch.mean(samples([1.0, 3.0, 100.0])) == 2.0
    assert epoch.mean(samples(np.empty(0))) is None
