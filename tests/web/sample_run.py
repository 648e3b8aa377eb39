"""A realistic run with three stages, in which training waits for data."""

from __future__ import annotations

import numpy as np

from tests.builders import (
    SECOND,
    START,
    Message,
    Process,
    close_message,
    points_message,
    set_message,
)
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Project, Run
from tracker.series.compaction import compact_run

STEPS = 240
STEP_SECONDS = 0.5
WAITING = 0.62  # share of the step time
TRAIN_START = START + 40 * SECOND


def make_sample_run(
    project: Project,
    name: str = "baseline",
    *,
    is_live: bool = False,
    has_gpu: bool = False,
) -> Run:
    """Log the run through the real ingest path, compact it and diagnose it."""
    _preprocess(project, name)
    train = _train(project, name, has_gpu=has_gpu)
    end = TRAIN_START + int(STEPS * STEP_SECONDS * SECOND)
    if not is_live:
        train.send([close_message(time=end)])
        _infer(project, name, end)
    settle(train.run)
    return Run.objects.get(id=train.run.id)


def settle(run: Run) -> None:
    """Run the background tasks that follow incoming points."""
    compact_run(run.id)
    diagnose_run(run.id)


def log_steps(process: Process, first: int, count: int) -> None:
    """Log training steps with the agent's measurements."""
    process.send(_steps(first, count))


def _steps(first: int, count: int) -> list[Message]:
    random = np.random.default_rng(first)
    numbers = np.arange(first, first + count)
    times = TRAIN_START + ((numbers + 1) * STEP_SECONDS * SECOND).astype(np.int64)
    seconds = STEP_SECONDS * random.normal(1, 0.02, count)
    curve = np.exp(-numbers / 90)

    def points(path: str, values: np.ndarray) -> Message:
        return points_message(path, values, steps=numbers, times=times)

    return [
        points("train/loss", 0.2 + 2 * curve + random.normal(0, 0.05, count)),
        points("train/accuracy", 0.95 - 0.8 * curve),
        points("train/learning_rate", 1e-3 * (0.5 + 0.5 * np.cos(numbers / 80))),
        points("monitoring/train/step/seconds", seconds),
        points("monitoring/train/step/data_wait_seconds", WAITING * seconds),
    ]


def _preprocess(project: Project, name: str) -> None:
    process = Process(project, name, stage="preprocess")
    process.send(
        [process.opening],
        _readings("preprocess", START, 35, cores=1.9, main=1.9),
        [set_message("preprocess/images", 5_620)],
        [close_message(time=START + 35 * SECOND)],
    )


def _train(project: Project, name: str, *, has_gpu: bool) -> Process:
    process = Process(project, name, stage="train", time=TRAIN_START)
    length = int(STEPS * STEP_SECONDS)
    no_gpu = [set_message("monitoring/train/facts/gpu_count", 0)]
    process.send(
        [process.opening],
        _steps(0, STEPS),
        _readings("train", TRAIN_START, length, cores=1.0, main=0.98),
        _gpu_readings(length) if has_gpu else no_gpu,
        [
            set_message("monitoring/train/facts/loader_workers", 0),
            set_message("monitoring/train/facts/batch_size", 64),
            set_message("monitoring/train/facts/framework", "pytorch"),
            set_message("params/batch_size", 64),
            set_message("params/learning_rate", 1e-3),
            set_message("params/optimizer", "adam"),
            set_message("params/augment", value=True),
            {"t": "tags", "add": ["digits", "baseline"], "remove": []},
        ],
    )
    return process


def _infer(project: Project, name: str, start: int) -> None:
    process = Process(project, name, stage="infer", time=start)
    process.send(
        [process.opening],
        _readings("infer", start, 12, cores=1.2, main=1.1),
        [points_message("infer/latency_seconds", np.full(40, 0.031))],
        [close_message(time=start + 12 * SECOND)],
    )


def _readings(
    stage: str, start: int, length: int, *, cores: float, main: float
) -> list[Message]:
    random = np.random.default_rng(length)
    times = start + np.arange(1, length + 1) * SECOND
    near_one = 1 + 0.04 * random.standard_normal(length)

    def points(path: str, values: np.ndarray) -> Message:
        return points_message(f"monitoring/{stage}/{path}", values, times=times)

    facts = {
        "facts/effective_cores": 2.0,
        "facts/host_cores": 8,
        "facts/memory_limit_bytes": 8 * 2**30,
        "facts/host": "node-1",
        "facts/python": "3.11.7",
    }
    return [
        points("job/cpu_cores", cores * near_one),
        points("job/main_cpu_cores", main * near_one),
        points("job/memory_bytes", 900 * 2**20 * near_one),
        points("host/memory_used_bytes", 2.5 * 2**30 * near_one),
        points("host/disk_read_bytes_per_second", 4e6 * np.abs(near_one)),
        points("host/disk_write_bytes_per_second", 1e5 * np.abs(near_one)),
        points("host/network_receive_bytes_per_second", 2e4 * np.abs(near_one)),
        points("host/network_send_bytes_per_second", 3e4 * np.abs(near_one)),
        *(set_message(f"monitoring/{stage}/{k}", v) for k, v in facts.items()),
    ]


def _gpu_readings(length: int) -> list[Message]:
    random = np.random.default_rng(3)
    times = TRAIN_START + np.arange(1, length + 1) * SECOND
    messages = []
    for gpu in (0, 1):
        prefix = f"monitoring/train/gpu/{gpu}"
        facts = f"monitoring/train/facts/gpu/{gpu}"
        used = 31 + 6 * random.standard_normal(length) - 8 * gpu
        messages += [
            points_message(f"{prefix}/utilization_percent", used, times=times),
            points_message(
                f"{prefix}/memory_used_bytes", np.full(length, 11 * 2**30), times=times
            ),
            points_message(f"{prefix}/power_watts", 80 + used, times=times),
            set_message(f"{facts}/name", "NVIDIA H100"),
            set_message(f"{facts}/memory_total_bytes", 80 * 2**30),
        ]
    messages.append(set_message("monitoring/train/facts/gpu_count", 2))
    return messages
