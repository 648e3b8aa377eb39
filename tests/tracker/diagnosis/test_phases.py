from __future__ import annotations

import pytest

from tracker.diagnosis.phases import PhaseKind, kind_of_phase, of_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("forward", PhaseKind.FORWARD),
        ("Load Model", PhaseKind.LOAD_MODEL),
        ("load_model/small", PhaseKind.LOAD_MODEL),
        ("all-reduce", PhaseKind.COMMUNICATE),
        ("validate", PhaseKind.EVALUATE),
        ("request", PhaseKind.REQUEST),
        ("queue", PhaseKind.QUEUE),
        ("predict", PhaseKind.COMPUTE),
        ("my own part", None),
        ("", None),
    ],
)
def test_a_name_has_a_kind_or_is_the_scripts_own(name, kind):
    assert kind_of_phase(name) is kind


def test_phases_of_a_kind_are_picked_out():
    phases = {"all_reduce": 1, "backward": 2, "all_gather": 3}

    assert of_kind(phases, PhaseKind.COMMUNICATE) == {"all_reduce": 1, "all_gather": 3}
