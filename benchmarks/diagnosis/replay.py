"""Sends recordings through ingest and diagnosis, as if their jobs had just run."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from math import nan
from pathlib import Path
from uuid import uuid4

# Settings read the environment when Django loads, below; nobody's data are touched.
for name in [each for each in os.environ if each.startswith("SEAMARK_")]:
    del os.environ[name]
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
_FOLDER = tempfile.mkdtemp(prefix="seamark-corpus-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = _FOLDER

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

from benchmarks.diagnosis.faults import find_case  # noqa: E402
from benchmarks.diagnosis.recordings import Recording, read_recording  # noqa: E402
from benchmarks.diagnosis.verdicts import Found, Replayed  # noqa: E402
from tests.builders import actor_of, make_member  # noqa: E402
from tracker.actions.diagnoses import diagnose_run  # noqa: E402
from tracker.diagnosis.measurements import Measurements  # noqa: E402
from tracker.diagnosis.rules import RULES  # noqa: E402
from tracker.diagnosis.statistics import average  # noqa: E402
from tracker.ingest.write import store_batch  # noqa: E402
from tracker.models import Diagnosis, Finding, Run, Stage  # noqa: E402
from tracker.queries.signals import read_measurements  # noqa: E402

NUMBERS = {rule.name: f"{rule.group}{rule.number}" for rule in RULES}


def prepare() -> None:
    """Make an empty database."""
    call_command("migrate", verbosity=0)


def replay(path: Path) -> Replayed:
    recording = read_recording(path)
    run = ingest(recording)
    stage = Stage.objects.filter(run=run).order_by("id").last()
    measured = read_measurements(stage)
    unanswered = Diagnosis.objects.get(stage=stage).unanswered
    return Replayed(
        case=find_case(recording.case),
        seed=recording.seed,
        recorded_at=recording.recorded_at,
        other_cores=_other_cores(measured),
        steps=len(measured.steps),
        size=path.stat().st_size,
        found=tuple(_found(run)),
        failed=tuple(
            rule
            for failed in Diagnosis.objects.filter(run=run)
            for rule in failed.failed
        ),
        unanswered=tuple(NUMBERS[rule] for rule in unanswered if rule in NUMBERS),
        machine_cores=_machine_cores(measured) or float(recording.cores),
        gpu=_gpu_name(measured),
    )


def ingest(recording: Recording) -> Run:
    """Store and diagnose a recording as a run of its own."""
    # A workspace for each: all recordings of a case have one name.
    actor = actor_of(make_member(f"{recording.case}-{recording.seed}"))
    before = set(Run.objects.values_list("id", flat=True))
    for body in recording.bodies():
        store_batch(actor, uuid4(), body)
    run = Run.objects.exclude(id__in=before).get()
    diagnose_run(run.id)
    return run


@dataclass(frozen=True, slots=True)
class Promise:
    """What a run's finding promised, and how fast the run was from end to end."""

    rule: str
    likely: float
    bound: float
    steps_per_second: float


def promise_of(run: Run, numbers: Collection[str]) -> Promise:
    """Return the promise of the primary finding, or of the first of these numbers."""
    findings = sorted(
        Finding.objects.filter(run=run, is_open=True),
        key=lambda f: (f.is_primary, f.confidence),
        reverse=True,
    )
    wanted = [f for f in findings if NUMBERS.get(f.rule) in numbers]
    judgement = wanted[0].body["judgement"] if wanted else None
    gain = judgement["finding"]["gain"] if judgement else None
    stage = Stage.objects.filter(run=run).order_by("id").last()
    times = read_measurements(stage).steps.times
    seconds = (times[-1] - times[0]) / 1e6 if len(times) > 1 else nan
    return Promise(
        rule=NUMBERS.get(wanted[0].rule, "") if wanted else "",
        likely=gain["likely"] if gain else nan,
        bound=gain["bound"] if gain else nan,
        steps_per_second=(len(times) - 1) / seconds,
    )


def _found(run: Run) -> list[Found]:
    findings = Finding.objects.filter(run=run, is_open=True)
    return [
        Found(
            number=NUMBERS.get(finding.rule, "?"),
            rule=finding.rule,
            stage=finding.stage.name,
            confidence=finding.confidence,
            is_primary=finding.is_primary,
            explained_by=finding.explained_by,
            summary=finding.body["judgement"]["finding"]["summary"],
        )
        for finding in findings.select_related("stage").order_by(
            "stage_id", "-confidence"
        )
    ]


def _other_cores(measured: Measurements) -> float | None:
    """Return the cores that everybody else kept busy on the machine, on average."""
    percent = measured.samples.get("host_cpu_percent")
    job = measured.samples.get("job_cpu_cores")
    cores = _machine_cores(measured)
    if percent is None or job is None or cores is None:
        print("no host readings", file=sys.stderr)
        return None
    others = average(percent.values) / 100 * cores - average(job.values)
    return max(0.0, round(others, 2))


def _machine_cores(measured: Measurements) -> float | None:
    """Return all cores of the machine; a job may have been kept to some of them."""
    cores = measured.facts.get("host_cores")
    return cores if isinstance(cores, float) else None


def _gpu_name(measured: Measurements) -> str:
    names = (signals.get("gpu_name") for signals in measured.gpus.values())
    return next((name for name in names if isinstance(name, str)), "")
