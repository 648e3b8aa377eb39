from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import samples
from tracker.diagnosis.breakdown.phases import (
    NAMES,
    PhaseKind,
    kind_of_phase,
    of_kind,
    seconds_of_kind,
    spans_of_kind,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("forward", PhaseKind.FORWARD),
        ("Forward pass", PhaseKind.FORWARD),
        ("train/fwd", PhaseKind.FORWARD),
        ("saveCheckpoint", PhaseKind.CHECKPOINT),
        ("save_model", PhaseKind.CHECKPOINT),
        ("load_model_weights", PhaseKind.LOAD_MODEL),
        ("H2D", PhaseKind.COPY),
        ("host-to-device", PhaseKind.COPY),
        ("all_reduce", PhaseKind.COMMUNICATE),
        ("gradient_sync", PhaseKind.COMMUNICATE),
        ("zero_grad", PhaseKind.OPTIMIZER),
        ("validation epoch 3", PhaseKind.EVALUATE),
        ("eval_forward", PhaseKind.EVALUATE),
        ("request", PhaseKind.REQUEST),
        ("queue", PhaseKind.QUEUE),
        ("predict", PhaseKind.COMPUTE),
        ("load_model/small", PhaseKind.LOAD_MODEL),
        ("rollout", None),
        ("catalogue", None),
        ("", None),
        ("⟂" * 500, None),
    ],
)
def test_knows_what_a_phase_is_about(name, kind):
    assert kind_of_phase(name) == kind


@pytest.mark.parametrize("kind", PhaseKind)
def test_every_kind_has_its_own_names(kind):
    assert {kind_of_phase(name) for name in NAMES[kind]} == {kind}


def test_adds_up_the_phases_of_a_kind():
    phases = {
        "forward": np.array([1.0, 2.0]),
        "loss": np.array([0.5, np.nan]),
        "backward": np.array([3.0, 3.0]),
    }

    seconds = seconds_of_kind(phases, PhaseKind.FORWARD)

    np.testing.assert_array_equal(seconds, [1.5, np.nan])
    assert seconds_of_kind(phases, PhaseKind.COPY) is None


def test_joins_the_spans_of_a_kind_in_order_of_time():
    spans = {"validate": samples([1.0, 2.0]), "test": samples([3.0])}

    joined = spans_of_kind(spans, PhaseKind.EVALUATE)

    assert joined is not None
    assert list(joined.values) == [1.0, 3.0, 2.0]
    assert spans_of_kind(spans, PhaseKind.CHECKPOINT) is None


def test_phases_of_a_kind_are_picked_out():
    phases = {"all_reduce": 1, "backward": 2, "all_gather": 3}

    assert of_kind(phases, PhaseKind.COMMUNICATE) == {"all_reduce": 1, "all_gather": 3}
