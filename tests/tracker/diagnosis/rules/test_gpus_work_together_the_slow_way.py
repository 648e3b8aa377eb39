from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import ONE_GPU, Abstention, Finding
from tracker.diagnosis.rules.gpus_work_together_the_slow_way import check

ALARMS = [
    stage(gpus=2, facts={"model_wrapper": "DataParallel"}),
    stage(gpus=1, facts={"distributed_backend": "gloo", "world_size": 4.0}),
]
SILENCES = [
    stage(
        gpus=2,
        facts={
            "model_wrapper": "DistributedDataParallel",
            "distributed_backend": "nccl",
        },
    )
]


def gpus(count: int, percent: float = 60.0):
    return {gpu: {"gpu_utilization_percent": readings(percent)} for gpu in range(count)}


@pytest.mark.parametrize(
    ("backend", "is_found"),
    [
        ("gloo", True),
        ("cpu:gloo,cuda:gloo", True),
        ("cpu:gloo,cuda:nccl", False),
        ("nccl", False),
    ],
)
def test_judges_what_gpus_use(backend, is_found):
    found = check(gpus(2), distributed_backend=backend, world_size=2.0)

    assert isinstance(found, Finding) == is_found


def test_gloo_between_idle_gpus_is_for_cpus():
    assert check(gpus(2, 1.0), distributed_backend="gloo", world_size=2.0) is None


def test_data_parallel_with_one_gpu_costs_nothing():
    found = check(gpus(1), model_wrapper="DataParallel")

    assert found == Abstention((ONE_GPU,))


def test_names_the_line_that_starts_all_processes():
    found = check(gpus(4), model_wrapper="DataParallel")

    assert isinstance(found, Finding)
    assert found.recommendations[1].code == "torchrun --nproc-per-node=4 train.py"


def test_unknown_without_a_word_of_the_model():
    found = check(gpus(2))

    assert found == Abstention(("model_wrapper", "distributed_backend"))
