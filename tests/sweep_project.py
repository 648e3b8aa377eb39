"""A project like those of a vision team: a sweep, failures, a live run and a ladder.

Everything goes through the real ingest path, with times relative to now.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import product

import numpy as np
from django.utils import timezone

from seamark.recording.media.png import to_png
from tests.builders import (
    SECOND,
    Message,
    Process,
    close_message,
    points_message,
    records_message,
    set_message,
)
from tests.ladder_runs import DEMO, make_measured_run
from tracker.actions.dashboards import create_dashboard
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.actions.files import receive
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.reports import create_report, save_version
from tracker.boards.grid import with_widget
from tracker.models import Member, Project, Run, State
from tracker.series.compaction import compact_run
from web.pages.dashboards.example import example_board, new_widget

RATES, DECAYS = (1e-3, 3e-4, 1e-4), (0.05, 0.1)
AUGMENTATIONS = ("randaug-m9-n2", "mixup-0.2")
SEEDS = 5
# A point every ten steps, and every eight seconds.
POINTS, STEPS_PER_POINT, SECONDS_PER_POINT = 300, 10, 8.0
# Runs start one after the other, this far apart.
MINUTES_APART = 95
LAYERS = 50
LAYER_METRICS = ("grad_norm", "weight_norm", "activation_mean", "activation_std")
TABLE = "application/vnd.seamark.table+json"
CLASSES = ("tabby cat", "golden retriever", "school bus", "espresso", "lighthouse")
TRACEBACK = """Traceback (most recent call last):
  File "/home/ada/vit/train.py", line 212, in <module>
    main(parse_arguments())
  File "/home/ada/vit/train.py", line 187, in main
    loss = train_one_epoch(model, loader, optimizer, scaler, run, epoch)
  File "/home/ada/vit/engine.py", line 64, in train_one_epoch
    {line}
{error}
"""
# The step at which a run fails, the line and the error, by the number of the run.
FAILURES: Mapping[int, tuple[int, str, str]] = {
    7: (
        1_180,
        "scaler.scale(loss).backward()",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.53 GiB. GPU 0 "
        "has a total capacity of 79.11 GiB of which 871.19 MiB is free.",
    ),
    16: (40, "images, labels = next(batches)", "KeyError: 'n02123045_7321.JPEG'"),
    23: (
        2_010,
        "images, labels = next(batches)",
        "RuntimeError: DataLoader worker (pid 18344) is killed by signal: Killed.",
    ),
    31: (
        1_490,
        "dist.all_reduce(loss)",
        "torch.distributed.DistBackendError: NCCL watchdog timeout after 600000 ms",
    ),
    44: (
        620,
        "assert torch.isfinite(loss), f'loss is {loss.item()} at step {step}'",
        "AssertionError: loss is nan at step 620",
    ),
    52: (
        2_640,
        "torch.save(state, checkpoint)",
        "OSError: [Errno 28] No space left on device: '/scratch/ada/vit/last.pt'",
    ),
}
REPORT = """## Which learning rate?

3e-4 wins for every augmentation; 1e-3 diverges for some seeds.

```seamark
widget: chart
metrics: val/top1_accuracy
group: params/optimizer/lr
query: tags contains "sweep-lr" and state = finished
first: 60
```

## What is next

- Longer warm-up for 1e-3
- Mixup 0.2 with weight decay 0.1

```seamark
widget: table
columns: val/top1_accuracy
columns: params/optimizer/lr
columns: params/optimizer/weight_decay
query: tags contains "sweep-lr" and state = finished
order: -path:val/top1_accuracy
first: 5
```
"""


@dataclass(frozen=True)
class Setting:
    """What the sweep varies."""

    rate: float
    decay: float
    augmentation: str
    seed: int

    @property
    def name(self) -> str:
        rate = f"{self.rate:.0e}".replace("e-0", "e-")
        return (
            f"vit-b16-in1k_lr{rate}_wd{self.decay}_{self.augmentation}_seed{self.seed}"
        )

    @property
    def quality(self) -> float:
        """Return the accuracy that training ends at, without the noise of a seed."""
        rate = {1e-3: 0.742, 3e-4: 0.781, 1e-4: 0.763}[self.rate]
        mixed = 0.009 if self.augmentation.startswith("mixup") else 0.0
        return rate + mixed - 0.04 * (self.decay - 0.05)


@dataclass(frozen=True)
class SweepProject:
    """The project and the addresses of its main pages depend on these."""

    project: Project
    best: Run
    failed: Run
    live: Run
    layered: Run
    ladder_id: object
    dashboard_id: object
    report_id: object
    compared: Sequence[Run]


def make_sweep_project(member: Member) -> SweepProject:
    """Create the project with everything in it."""
    name = "imagenet-vit"
    project = Project.objects.create(
        workspace=member.workspace, name=name, slug=name, description="ViT-B/16 sweep"
    )
    settings = [
        Setting(rate, decay, augmentation, seed)
        for rate, decay, augmentation, seed in product(
            RATES, DECAYS, AUGMENTATIONS, range(SEEDS)
        )
    ]
    now = int(time.time() * SECOND)
    runs = [
        make_sweep_run(
            project,
            setting,
            number,
            start=now - (len(settings) - number) * MINUTES_APART * 60 * SECOND,
            is_live=number == len(settings) - 1,
        )
        for number, setting in enumerate(settings)
    ]
    # The first run of the best setting has media and a metric of every layer.
    best = max(
        (number for number in range(len(runs)) if number not in FAILURES),
        key=lambda number: (settings[number].quality, -number),
    )
    log_media(runs[best])
    log_layers(runs[best + 1])
    rungs = [make_measured_run(project, job) for job in DEMO]
    # They start at a fixed time, which is long ago.
    week_ago = timezone.now() - timedelta(days=7)
    for run in rungs:
        assert run.started_at is not None
        assert run.ended_at is not None
        times = {"started_at": week_ago, "created_at": week_ago}
        times["ended_at"] = week_ago + (run.ended_at - run.started_at)
        times["last_seen_at"] = times["ended_at"]
        Run.objects.filter(id=run.id).update(**times)
    # Pictures are taken later than the default limit of silence.
    responding = timezone.now() + timedelta(hours=1)
    Run.objects.filter(id=runs[-1].id).update(last_seen_at=responding)
    ladder = create_ladder(
        project,
        "JPEG decoding to full GPU use",
        [RungRequest(str(run.id), run.name) for run in rungs],
    )
    board = example_board(project)
    media = new_widget("media", {"path": "val/predictions"})
    dashboard = create_dashboard(
        project,
        "Sweep overview",
        type(board)(widgets=tuple(with_widget(board.widgets, media))),
        user_id=member.user_id,
    )
    name, author = "Learning rate of ViT-B/16", member.user_id
    report = create_report(project, name, user_id=author)
    save_version(report, name, REPORT, user_id=author, based_on=0)
    return SweepProject(
        project,
        best=runs[best],
        failed=runs[7],
        live=runs[-1],
        layered=runs[best + 1],
        ladder_id=ladder.id,
        dashboard_id=dashboard.id,
        report_id=report.id,
        compared=[runs[number] for number in (0, 5, 20, 25, 40)],
    )


def make_sweep_run(
    project: Project, setting: Setting, number: int, *, start: int, is_live: bool
) -> Run:
    """Log one run of the sweep: finished, failed or running."""
    random = np.random.default_rng(number)
    failure = FAILURES.get(number)
    points = failure[0] // STEPS_PER_POINT if failure else POINTS
    if is_live:
        points = POINTS * 3 // 5
        start = int(time.time() * SECOND) - int(points * SECONDS_PER_POINT * SECOND)
    end = start + int(points * SECONDS_PER_POINT * SECOND)
    process = Process(project, setting.name, time=start)
    process.send(
        [process.opening],
        _config(setting),
        _metrics(setting, random, points, start),
        _hardware(random, points, start),
        [_log(setting, points, start, _traceback(failure))],
    )
    if failure:
        text = _traceback(failure)
        process.send([close_message(State.FAILED, failure=text, time=end)])
    elif not is_live:
        process.send([close_message(time=end)])
    _settle(process.run)
    return process.run


def _settle(run: Run) -> None:
    """Do what background workers do after points came in."""
    compact_run(run.id)
    diagnose_run(run.id)


def log_media(run: Run) -> None:
    """Log images and a table at every fifth of the run."""
    random = np.random.default_rng(5)
    images, tables = [], []
    for sharpness in (0.2, 0.4, 0.6, 0.8, 1.0):
        images.append(_picture(random, sharpness=sharpness))
        rows = [
            [each, CLASSES[int(random.integers(5))], round(float(random.random()), 3)]
            for each in CLASSES
        ]
        columns = ["label", "prediction", "confidence"]
        table = {"columns": columns, "rows": rows, "count": len(rows)}
        tables.append(json.dumps(table).encode())
    _write_records(run, "val/predictions", images)
    _write_records(run, "val/attention_map", images[::-1])
    _write_records(run, "val/worst_examples", tables, kind="file", media_type=TABLE)
    _settle(run)


def log_layers(run: Run) -> None:
    """Log four metrics of each layer."""
    random = np.random.default_rng(6)
    count = 60
    times, steps = _clock(run, count)
    _send(
        run,
        [
            points_message(
                f"layers/{layer:02}/{metric}",
                np.exp(-np.arange(count) / 20) + random.normal(1, 0.05, count),
                steps=steps,
                times=times,
            )
            for layer in range(LAYERS)
            for metric in LAYER_METRICS
        ]
        + [
            points_message(
                f"layers/{layer:02}/attention/head_{head}/entropy",
                random.normal(2, 0.1, count),
                steps=steps,
                times=times,
            )
            for layer in range(LAYERS)
            for head in range(2)
        ],
    )
    _settle(run)


def _config(setting: Setting) -> list[Message]:
    values: dict[str, object] = {
        "params/model/name": "vit_base_patch16_224",
        "params/model/depth": 12,
        "params/model/heads": 12,
        "params/model/drop_path_rate": 0.1,
        "params/optimizer/name": "adamw",
        "params/optimizer/lr": setting.rate,
        "params/optimizer/weight_decay": setting.decay,
        "params/optimizer/betas/0": 0.9,
        "params/optimizer/betas/1": 0.999,
        "params/schedule/name": "cosine",
        "params/schedule/warmup_epochs": 5,
        "params/data/root": "/datasets/imagenet-1k",
        "params/data/augmentation": setting.augmentation,
        "params/data/batch_size": 256,
        "params/data/workers": 4,
        "params/seed": setting.seed,
        "params/amp": True,
        "monitoring/train/facts/gpu_count": 1,
        "monitoring/train/facts/gpu/0/name": "NVIDIA H100 80GB HBM3",
        "monitoring/train/facts/gpu/0/memory_total_bytes": 80 * 2**30,
        "monitoring/train/facts/effective_cores": 8.0,
        "monitoring/train/facts/host_cores": 64,
        "monitoring/train/facts/memory_limit_bytes": 128 * 2**30,
        "monitoring/train/facts/host": "gpu-node-07",
        "monitoring/train/facts/python": "3.11.7",
        "monitoring/train/facts/framework": "pytorch",
        "monitoring/train/facts/loader_workers": 4,
        "monitoring/train/facts/batch_size": 256,
        "monitoring/train/git/commit": "3179d2f0a1b2c3d4e5f60718293a4b5c6d7e8f90",
        "monitoring/train/git/branch": "sweep-lr",
        "monitoring/train/source/arguments": f"python train.py --lr {setting.rate}"
        f" --wd {setting.decay} --aug {setting.augmentation} --seed {setting.seed}",
    }
    messages = [set_message(path, value) for path, value in values.items()]
    return [*messages, {"t": "tags", "add": ["sweep-lr", "vit-b16"], "remove": []}]


def _metrics(
    setting: Setting, random: np.random.Generator, points: int, start: int
) -> list[Message]:
    numbers = np.arange(points)
    progress = numbers / POINTS
    steps = (numbers + 1) * STEPS_PER_POINT
    times = start + ((numbers + 1) * SECONDS_PER_POINT * SECOND).astype(np.int64)
    best = setting.quality + random.normal(0, 0.003)
    curve = 1 - np.exp(-progress * 5)
    rate = setting.rate * np.minimum(1, progress * 20) * 0.5
    columns = {
        "train/loss": 6.9 - 5.4 * curve + random.normal(0, 0.12, points),
        "train/grad_norm": 1 + 3 * np.exp(-progress * 8) + random.gamma(2, 0.1, points),
        "train/learning_rate": rate * (1 + np.cos(np.pi * progress)),
        "train/epoch": numbers // 10,
    }
    messages = [
        points_message(path, column, steps=steps, times=times)
        for path, column in columns.items()
    ]
    every = slice(9, None, 10)
    noise = random.normal(0, 0.004, points)
    accuracy = best * curve / (1 - np.exp(-5)) + noise * (1 - progress)
    validated = {
        "val/loss": 6.9 - 5.7 * curve * best / 0.79 + noise,
        "val/top1_accuracy": accuracy,
        "val/top5_accuracy": np.minimum(0.99, accuracy * 1.2),
    }
    messages += [
        points_message(path, column[every], steps=steps[every], times=times[every])
        for path, column in validated.items()
        if len(column[every])
    ]
    return messages + _timed_steps(random, points * STEPS_PER_POINT, start)


def _timed_steps(random: np.random.Generator, count: int, start: int) -> list[Message]:
    """Time every step, without gaps between them."""
    seconds = SECONDS_PER_POINT / STEPS_PER_POINT * random.normal(1, 0.02, count)
    columns = {
        "seconds": seconds,
        "data_wait_seconds": 0.41 * seconds,
        "examples": np.full(count, 256.0),
    }
    times = start + (np.cumsum(seconds) * SECOND).astype(np.int64)
    numbers = np.arange(1, count + 1)
    return [
        points_message(
            f"monitoring/train/step/{name}", column, steps=numbers, times=times
        )
        for name, column in columns.items()
    ]


def _hardware(random: np.random.Generator, points: int, start: int) -> list[Message]:
    times = start + ((np.arange(points) + 1) * SECONDS_PER_POINT * SECOND).astype(
        np.int64
    )
    used = np.clip(58 + 14 * random.standard_normal(points), 0, 100)
    columns = {
        "gpu/0/utilization_percent": used,
        "gpu/0/memory_used_bytes": np.full(points, 61.0 * 2**30),
        "gpu/0/power_watts": 220 + 4 * used,
        "gpu/0/temperature_celsius": 55 + used / 8,
        "job/cpu_cores": 4.2 + 0.2 * random.standard_normal(points),
        "job/main_cpu_cores": 0.9 + 0.05 * random.standard_normal(points),
        "job/memory_bytes": 14e9 + 1e8 * random.standard_normal(points),
        "host/memory_used_bytes": 41e9 + 1e8 * random.standard_normal(points),
        "host/disk_read_bytes_per_second": np.abs(2e8 * random.normal(1, 0.2, points)),
        "host/disk_write_bytes_per_second": np.abs(1e5 * random.normal(1, 0.2, points)),
        "host/network_receive_bytes_per_second": np.full(points, 2e4),
        "host/network_send_bytes_per_second": np.full(points, 3e4),
    }
    return [
        points_message(f"monitoring/train/{path}", column, times=times)
        for path, column in columns.items()
    ]


def _log(setting: Setting, points: int, start: int, traceback: str) -> Message:
    lines = [
        f"[{number * STEPS_PER_POINT:>6}/3000] loss {6.9 - number / 60:.4f}"
        f"  lr {setting.rate:.1e}  0.80 s/step  max mem 61.0 GiB"
        for number in range(points)
    ]
    lines += traceback.splitlines()
    seconds = np.minimum(np.arange(len(lines)) + 1, points) * SECONDS_PER_POINT
    path = "logs/stderr" if traceback else "logs/stdout"
    return records_message(
        path, lines, times=start + (seconds * SECOND).astype(np.int64)
    )


def _traceback(failure: tuple[int, str, str] | None) -> str:
    if failure is None:
        return ""
    _, line, error = failure
    return TRACEBACK.format(line=line, error=error)


def _picture(random: np.random.Generator, *, sharpness: float) -> bytes:
    """Return a smooth pattern under noise that lessens with training."""
    side = 224
    rows, columns = np.mgrid[0:side, 0:side] / side
    waves = np.stack(
        [
            np.sin(9 * rows + phase) * np.cos(7 * columns - phase)
            for phase in (0.0, 0.9, 1.8)
        ],
        axis=-1,
    )
    noisy = sharpness * waves + (1 - sharpness) * random.standard_normal(waves.shape)
    pixels = np.clip(127 + 110 * noisy, 0, 255).astype(np.uint8)
    return to_png(pixels.tobytes(), width=side, height=side, channels=3)


def _write_records(
    run: Run,
    path: str,
    contents: Sequence[bytes],
    *,
    kind: str = "image",
    media_type: str = "image/png",
) -> None:
    records = [_reference(content, media_type) for content in contents]
    times, steps = _clock(run, len(contents))
    message = records_message(path, records, kind=kind, steps=steps, times=times)
    _send(run, [message])
    for content in contents:
        receive(
            run.project.workspace_id,
            hashlib.sha256(content).hexdigest(),
            size=len(content),
            offset=0,
            pieces=[content],
        )


def _reference(content: bytes, media_type: str) -> bytes:
    digest = hashlib.sha256(content).digest()
    return digest + struct.pack("<Q", len(content)) + media_type.encode()


def _clock(run: Run, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times and steps of points spread over the run."""
    assert run.started_at is not None
    start = int(run.started_at.timestamp() * SECOND)
    share = (np.arange(count) + 1) / count
    seconds = POINTS * SECONDS_PER_POINT * share
    steps = POINTS * STEPS_PER_POINT * share
    return start + (seconds * SECOND).astype(np.int64), steps


def _send(run: Run, messages: Sequence[Message]) -> None:
    """Add messages to a finished run, from the process that wrote it."""
    spool = run.spools.get()
    assert spool.ended_at is not None
    process = Process(run.project, run.name)
    process.spool_id, process.next_number = spool.id, spool.last_number + 1
    end = int(spool.ended_at.timestamp() * SECOND)
    receipt = process.send(messages, [close_message(time=end)])
    assert not receipt.refused, receipt.refused
