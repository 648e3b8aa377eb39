from __future__ import annotations

import pytest

from tracker.diagnosis.engine.limit_labels import limit_label
from tracker.diagnosis.rules import RULES


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("max gpu percent", "Maximum GPU (%)"),
        ("fewest steps", "Minimum steps"),
        ("critical share", "Critical share (0–1)"),
        ("throttled release share", "Throttled share (0–1), to close the finding"),
        ("release", "Limit, to close the finding"),
        ("on", "On"),
    ],
)
def test_a_limit_has_a_readable_label(name, label):
    assert limit_label(name) == label


def test_the_limits_of_a_rule_have_different_labels():
    for rule in RULES:
        labels = [limit_label(name) for name in rule.limits]
        assert len(set(labels)) == len(labels), rule.name
