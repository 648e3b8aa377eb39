from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.input.trials import Trials
from tracker.diagnosis.input.waiting import measure_waiting


@pytest.fixture
def waiting():
    return measure_waiting(np.full(100, 1.0), np.full(100, 0.6))


def test_the_step_alone_is_the_floor_where_it_was_tried(waiting):
    assert Trials().floor(waiting).seconds == pytest.approx(0.4)
    assert Trials(step_seconds=0.25).floor(waiting).seconds == 0.25
    assert Trials(step_seconds=0.0).floor(waiting).seconds == pytest.approx(0.4)


def test_a_loader_keeps_up_that_is_as_fast_as_the_step(waiting):
    assert Trials().loader_keeps_up(waiting) is None
    assert Trials(loader_seconds=0.39).loader_keeps_up(waiting) is True
    assert Trials(loader_seconds=0.41).loader_keeps_up(waiting) is False
    assert Trials(0.5, 0.45).loader_keeps_up(waiting) is True


def test_evidence_is_what_was_tried():
    assert Trials().evidence() == ()
    assert [each.value for each in Trials(0.5, 0.4).evidence()] == [0.5, 0.4]
