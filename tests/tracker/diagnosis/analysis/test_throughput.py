from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, stage, steps, with_facts
from tracker.diagnosis.analysis.throughput import throughput_of
from tracker.diagnosis.engine.measurements import Measurements, Window

LOOP = stage(step_rows=steps(total=0.1, count=300))
WHOLE = Window(START, START + 30 * SECOND)


def test_counts_steps_per_second_of_steps():
    speed = throughput_of(LOOP, WHOLE)

    assert speed is not None
    assert speed.steps == pytest.approx(10)
    assert speed.examples is None


def test_counts_examples_by_the_batches_or_as_the_loader_says():
    counted = replace(
        LOOP,
        steps=replace(
            LOOP.steps,
            columns={**LOOP.steps.columns, "step_examples": np.full(300, 8.0)},
        ),
    )
    told = with_facts(LOOP, batch_size=16.0)

    by_batch, by_loader = throughput_of(counted, WHOLE), throughput_of(told, WHOLE)

    assert by_batch is not None
    assert by_batch.examples == pytest.approx(80)
    assert by_loader is not None
    assert by_loader.examples == pytest.approx(160)


def test_tells_the_median_step_and_what_of_it_was_waiting():
    uneven = replace(
        LOOP,
        steps=replace(
            LOOP.steps,
            columns={
                "step_seconds": np.tile([0.1, 0.1, 0.4], 100),
                "data_wait_seconds": np.full(300, 0.05),
            },
        ),
    )

    speed = throughput_of(uneven, WHOLE)

    assert speed is not None
    assert speed.median_step_seconds == pytest.approx(0.1)
    assert speed.data_wait_share == pytest.approx(0.25)


def test_unmeasured_waiting_is_unknown():
    columns = {"step_seconds": LOOP.steps.columns["step_seconds"]}
    bare = replace(LOOP, steps=replace(LOOP.steps, columns=columns))

    speed = throughput_of(bare, WHOLE)

    assert speed is not None
    assert speed.data_wait_share is None


def test_is_unknown_without_steps_or_a_window():
    assert throughput_of(Measurements(), WHOLE) is None
    assert throughput_of(LOOP, None) is None
