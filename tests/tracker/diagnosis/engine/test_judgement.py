from __future__ import annotations

import msgspec
import pytest

from tests.tracker.diagnosis.stages import loading_by_itself
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Finding, Severity
from tracker.diagnosis.engine.judgement import Judgement, Label, confidence_of, label_of


def finding(**factors) -> Finding:
    return Finding("", Severity.WARNING, (), (), "", **factors)


def test_confidence_is_the_product_of_its_factors():
    sure = finding(quality=0.8, margin=0.9, corroboration=0.85)

    assert confidence_of(sure, 0.6, is_short=False) == pytest.approx(0.3672)


def test_a_short_run_confirms_nothing():
    certain = finding(quality=1.0, margin=1.0, corroboration=1.0)

    assert label_of(confidence_of(certain, 1.0, is_short=False)) is Label.CONFIRMED
    assert label_of(confidence_of(certain, 1.0, is_short=True)) is Label.LIKELY


@pytest.mark.parametrize(
    ("confidence", "label"),
    [
        (0.76, Label.CONFIRMED),
        (0.74, Label.LIKELY),
        (0.51, Label.LIKELY),
        (0.49, Label.POSSIBLE),
    ],
)
def test_labels_near_their_limits(confidence, label):
    assert label_of(confidence) is label


def test_survives_the_way_to_json_and_back():
    for judgement in diagnose(loading_by_itself()).findings:
        stored = msgspec.json.decode(msgspec.json.encode(judgement))

        assert msgspec.convert(stored, Judgement) == judgement
