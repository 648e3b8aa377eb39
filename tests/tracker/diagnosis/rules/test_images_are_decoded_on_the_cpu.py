from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.engine.supply import Supply, supply_of
from tracker.diagnosis.rules.images_are_decoded_on_the_cpu import check


def decoding(seconds: float, *, jpeg: float = 0.0, gpu_percent: float = 30.0):
    return stage(
        step_rows=steps(waiting=0.06),
        sampled={"job_cpu_cores": 1.0, "job_main_cpu_cores": 1.0},
        facts={"effective_cores": 1.0, "loader_workers": 0.0, "framework": "pytorch"},
        phases={"decode": seconds},
        gpus=1,
        gpu_percent=gpu_percent,
        gpu={"gpu_jpeg_percent": jpeg},
    )


ALARMS = [decoding(0.05)]
SILENCES = [decoding(0.01), decoding(0.05, jpeg=20.0), decoding(0.05, gpu_percent=90.0)]


def ask(*, share=0.9, waiting=0.06, gpu=30.0, main=1.0, **more):
    count = 100
    # A process that waits 60 ms for its batch spends that time loading.
    phases = {"decode": np.full(count, share * waiting)} if share is not None else {}
    return check(
        step_seconds=np.full(count, 0.1),
        data_wait_seconds=np.full(count, waiting),
        job_cpu_cores=readings(main),
        effective_cores=4.0,
        busiest_gpu_percent=readings(gpu),
        gpus=more.pop("gpus", {0: {}}),
        phase_seconds=phases,
        loader_workers=0.0,
        job_main_cpu_cores=readings(main),
        **more,
    )


@pytest.mark.parametrize(("share", "is_found"), [(0.42, True), (0.38, False)])
def test_decoding_counts_from_two_fifths_of_loading(share, is_found):
    assert isinstance(ask(share=share), Finding) == is_found


def test_says_which_line_would_time_it():
    answer = ask(share=None)

    assert isinstance(answer, Abstention)
    assert supply_of(answer.lacks[0]) == Supply('with run.phase("decode"):')


def test_silent_where_the_cpu_is_not_the_limit():
    assert ask(main=0.5) is None
    assert ask(main=0.75, already_open=True) is not None


def test_silent_when_data_is_ready():
    assert ask(waiting=0.005) is None


def test_a_card_that_does_not_tell_makes_it_less_sure():
    told = {0: {"gpu_jpeg_percent": readings(0.0)}}

    silent, telling = ask(), ask(gpus=told)

    assert isinstance(silent, Finding)
    assert isinstance(telling, Finding)
    assert silent.corroboration < telling.corroboration
    assert "decoders are idle" in telling.summary
    assert "decoders are idle" not in silent.summary


def test_recommends_in_the_words_of_the_framework():
    torch, other = ask(framework="pytorch"), ask(framework="tensorflow")

    assert isinstance(torch, Finding)
    assert isinstance(other, Finding)
    assert "decode_jpeg" in torch.recommendations[0].code
    assert "dali" in other.recommendations[0].code


def test_it_is_the_cause_of_the_busy_cpu():
    roots = [j.rule for j in diagnose(decoding(0.05)).findings if not j.explained_by]

    assert roots == ["images-are-decoded-on-the-cpu"]
