"""Times the diagnosis of a long run: 24 hours, 8 GPUs, a reading and a step a second.

python benchmarks/diagnosis/speed.py            from a real SQLite store
python benchmarks/diagnosis/speed.py --engine   the engine alone, with all readings

Every sampled signal of the catalogue is there, also those that the agent reads more
seldom. Time is that of a process of its own: as it passed, and as a core was busy.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

# As a script, Python searches its folder, not the repository's root.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.measurements import Measurements, Steps
from tracker.diagnosis.signals import SIGNALS, Kind, Samples, Signal

HOUR = 3600
SECOND = 1_000_000
START = 1_767_355_200_000_000
GIB = 1024**3
KIB_OF_MIB = 1024
REPEATS = 3
PREFIX = "monitoring/train/"
LOOP = ("step_seconds", "data_wait_seconds", "step_examples")
SERIES_AT_ONCE = 64
FACTS = {"effective_cores": 64.0, "loader_workers": 8.0, "batch_size": 32.0}


def main() -> None:
    options = parse()
    if options.store:
        measure_store(options)
        return
    print(
        f"{options.hours} h, {options.gpus} GPUs, {options.steps:g} steps/s:"
        f" {len(LOOP)} series of steps and {len(list(paths(options.gpus)))} of readings",
        flush=True,
    )
    if options.engine:
        measure_engine(options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            fill_and_measure(folder)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--steps", type=float, default=1.0, help="steps per second")
    parser.add_argument("--engine", action="store_true", help="without a store")
    parser.add_argument("--store", choices=["fill", "diagnose"], help=argparse.SUPPRESS)
    return parser.parse_args()


def report(name: str, times: list[tuple[float, float]]) -> None:
    passed, busy = zip(*times, strict=True)
    print(
        f"{name:<11} best {min(passed):.2f} s ({min(busy):.2f} s of a core),"
        f" worst {max(passed):.2f} s ({max(busy):.2f} s)"
    )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    passed, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - passed, time.process_time() - busy


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_OF_MIB


def paths(gpus: int) -> Iterator[tuple[Signal, str]]:
    """Yield every sampled signal with its path, those of GPUs for each."""
    for signal in SIGNALS.values():
        if signal.kind is Kind.SAMPLED and signal.path:
            numbers = range(gpus) if signal.is_per_gpu else [0]
            for gpu in numbers:
                yield signal, signal.path.replace("<i>", str(gpu))


def noisy(name: str, count: int, random: np.random.Generator) -> np.ndarray:
    """Return readings that lie where such a signal's do, about."""
    mean, spread = 1.0, 0.1
    if name.endswith("_percent"):
        mean, spread = 60.0, 10.0
    elif name.endswith("_bytes"):
        mean, spread = 40 * GIB, GIB
    elif name.endswith("_share"):
        mean, spread = 0.02, 0.005
    return np.round(mean + spread * random.standard_normal(count), 4)


def steps_of(options: argparse.Namespace) -> Steps:
    random = np.random.default_rng(0)
    count = int(options.hours * HOUR * options.steps)
    lasting = random.gamma(50, 0.02 / options.steps, count)
    columns = {
        "step_seconds": lasting,
        "data_wait_seconds": 0.3 * lasting,
        "step_examples": np.full(count, 32.0),
    }
    ends = START + (np.cumsum(lasting) * SECOND).astype(np.int64)
    return Steps(np.arange(count, dtype=np.float64), ends, columns)


def measure_engine(options: argparse.Namespace) -> None:
    random = np.random.default_rng(0)
    seconds = options.hours * HOUR
    ticks = START + np.arange(1, seconds + 1) * SECOND
    samples: dict[str, Samples] = {}
    gpus: dict[int, dict[str, Samples | float]] = {
        gpu: {"gpu_memory_total_bytes": 80.0 * GIB} for gpu in range(options.gpus)
    }
    for signal, path in paths(options.gpus):
        made = Samples(ticks, noisy(signal.name, seconds, random))
        if signal.is_per_gpu:
            gpus[int(path.split("/")[1])][signal.name] = made
        else:
            samples[signal.name] = made
    measurements = Measurements(
        steps_of(options), samples, FACTS, gpus, gpu_count=len(gpus)
    )
    for has_ended, name in ((True, "final pass"), (False, "live pass")):
        report(
            name,
            [
                timed(lambda: diagnose(measurements, has_ended=has_ended))  # noqa: B023
                for _ in range(REPEATS)
            ],
        )
    print(f"peak memory {peak_mib():,.0f} MiB")


def fill_and_measure(folder: str) -> None:
    """Fill a store in one process and diagnose from it in another."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("SEAMARK_")}
    environment = {
        **own,
        "SEAMARK_DATA": folder,
        "DJANGO_SETTINGS_MODULE": "tracker.settings",
    }
    for what in ("fill", "diagnose"):
        arguments = [sys.executable, __file__, *sys.argv[1:], "--store", what]
        subprocess.run(arguments, check=True, env=environment)


def measure_store(options: argparse.Namespace) -> None:
    import django

    django.setup()
    if options.store == "fill":
        fill_store(options)
        return
    before = peak_mib()
    diagnose_store()
    print(f"peak memory {peak_mib():,.0f} MiB, {before:,.0f} MiB of it before")


def fill_store(options: argparse.Namespace) -> None:
    from django.core.management import call_command
    from django.db import transaction
    from django.utils import timezone

    from tracker.models import Project, Run, Stage, State, Workspace

    call_command("migrate", verbosity=0)
    workspace = Workspace.objects.create(name="benchmark", slug="benchmark")
    project = Project.objects.create(workspace=workspace, name="long", slug="long")
    now = timezone.now()
    run = Run.objects.create(
        project=project, name="long", state=State.FINISHED, started_at=now
    )
    Stage.objects.create(run=run, name="train", state=State.FINISHED)
    steps = steps_of(options)
    seconds = options.hours * HOUR
    ticks = START + np.arange(1, seconds + 1) * SECOND
    random = np.random.default_rng(0)
    readings = list(paths(options.gpus))
    with transaction.atomic():
        named = {SIGNALS[name].path: steps.columns[name] for name in LOOP}
        write_series(run, steps.numbers, steps.times, named)
        for start in range(0, len(readings), SERIES_AT_ONCE):
            made = {
                path: noisy(signal.name, seconds, random)
                for signal, path in readings[start : start + SERIES_AT_ONCE]
            }
            write_series(run, np.arange(seconds, dtype=np.float64), ticks, made)
        write_facts(run, options.gpus)


def write_series(
    run: object, numbers: np.ndarray, times: np.ndarray, named: dict[str, np.ndarray]
) -> None:
    from tracker.models import Attribute, Kind, SeriesChunk
    from tracker.series.rows import make_chunks
    from tracker.series.table import Table

    rows = [
        Attribute(
            run=run,
            project=run.project,
            path=PREFIX + path,
            kind=Kind.FLOAT_SERIES,
            count=len(values),
            finite_count=len(values),
        )
        for path, values in named.items()
    ]
    Attribute.objects.bulk_create(rows)
    ids = np.array([row.id for row in rows], np.int64)
    table = Table(ids, numbers, times, np.array(list(named.values())))
    for new in make_chunks(run.id, table):
        new.ticks.save()
        for chunk in new.chunks:
            chunk.ticks = new.ticks
        SeriesChunk.objects.bulk_create(new.chunks)


def write_facts(run: object, gpus: int) -> None:
    from tracker.models import Attribute, Kind

    facts = {f"facts/{name}": value for name, value in FACTS.items()}
    facts |= {f"facts/gpu/{gpu}/memory_total_bytes": 80.0 * GIB for gpu in range(gpus)}
    Attribute.objects.bulk_create(
        Attribute(
            run=run, project=run.project, path=PREFIX + path, kind=Kind.FLOAT, number=v
        )
        for path, v in facts.items()
    )


def diagnose_store() -> None:
    from tracker.actions.diagnoses import diagnose_stage
    from tracker.models import Diagnosis, Finding, Stage, State
    from tracker.queries.diagnoses.signals import read_measurements

    stage = Stage.objects.select_related("run__project").get()
    for state, name in ((State.FINISHED, "final pass"), (State.RUNNING, "live pass")):
        stage.state = state
        report(
            f"reading, {state}",
            [timed(lambda: read_measurements(stage)) for _ in range(REPEATS)],
        )
        report(name, [timed(lambda: diagnose_stage(stage)) for _ in range(REPEATS)])
    kept = Diagnosis.objects.get()
    print(
        f"{Finding.objects.count()} findings, {len(kept.healthy)} healthy,"
        f" {len(kept.unanswered)} unanswered, {len(kept.failed)} broken"
    )


if __name__ == "__main__":
    main()
