from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    SECOND,
    START,
    readings,
    samples,
    stage,
    steps,
)
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.evaluation_takes_long import check
from tracker.diagnosis.signals import Samples, Tracked


def span(end, seconds):
    return Samples(np.array([START + end * SECOND]), np.array([seconds]))


def evaluating(seconds, *, gpu_percent=90.0, **facts):
    return stage(
        step_rows=steps(total=1.0, count=200),
        gpus=1,
        gpu_percent=gpu_percent,
        spans={"validate": span(100, seconds)},
        facts={"stage_seconds": 200.0, **facts},
    )


# The GPU is mostly idle during the evaluation.
RESTING = np.where((np.arange(200) >= 80) & (np.arange(200) < 100), 20.0, 90.0)

ALARMS = [evaluating(50.0), evaluating(20.0, gpu_percent=RESTING)]
SILENCES = [
    evaluating(20.0),
    evaluating(80.0, stage_name="eval"),
    evaluating(5.0, gpu_percent=RESTING),
]


def ask(seconds, *, inside=None, **more):
    """An evaluation that ends after 500 of 1000 seconds."""
    percent = np.full(1000, 80.0)
    if inside is not None:
        percent[500 - int(seconds) : 500] = inside
    return check(
        1000.0,
        START / 1e6 + np.arange(1.0, 1001.0),
        spans={"evaluate": span(500, seconds)},
        busiest_gpu_percent=samples(percent),
        **more,
    )


@pytest.mark.parametrize(
    ("seconds", "inside", "is_found"),
    [
        pytest.param(151.0, None, True, id="just long"),
        pytest.param(149.0, None, False, id="just short"),
        pytest.param(60.0, 39.0, True, id="just badly fed"),
        pytest.param(60.0, 41.0, False, id="just well fed"),
        pytest.param(40.0, 0.0, False, id="badly fed and short"),
    ],
)
def test_judges_near_each_limit(seconds, inside, is_found):
    assert (ask(seconds, inside=inside) is not None) == is_found


def test_says_how_much_the_gpu_works_meanwhile():
    finding = ask(60.0, inside=20.0)

    assert isinstance(finding, Finding)
    assert finding.title == "Evaluation leaves the GPU idle"
    assert finding.summary.endswith("GPU utilization was 25 % of that in training.")
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / (1 - 0.06 * 0.75))


def test_recommends_larger_batches_than_in_training():
    finding = ask(200.0, batch_size=32.0, framework="pytorch")

    assert isinstance(finding, Finding)
    assert finding.recommendations[0].suggested == "128"
    assert finding.recommendations[1].code == "with torch.inference_mode():"


def test_is_not_judged_where_evaluation_is_no_phase():
    ends = START / 1e6 + np.arange(9.0)

    assert isinstance(check(100.0, ends), Abstention)
    assert isinstance(check(100.0, ends, spans={"save": readings(1.0)}), Abstention)


def test_an_open_finding_stays_above_the_limits():
    assert ask(130.0, already_open=True) is not None
    assert ask(110.0, already_open=True) is None


def test_an_evaluation_without_a_phase_is_known_by_what_it_logs():
    seconds = np.full(500, 0.05)
    seconds[49::50] += 1.0
    rows = steps(total=seconds, count=500)
    logged = Tracked(np.arange(10.0), rows.times[49::50], np.ones(10))
    asked = {
        "step_end_seconds": rows.times / SECOND,
        "step_seconds": seconds,
    }

    finding = check(float(seconds.sum()), evaluations={"val/loss": logged}, **asked)

    assert isinstance(finding, Finding)
    assert "10 evaluations took 10 s, 1 s each, 29 % of the stage." in finding.summary
    assert isinstance(check(float(seconds.sum()), **asked), Abstention)
