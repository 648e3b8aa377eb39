"""Sends recordings through ingest and diagnosis, as if their jobs had just run."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from uuid import uuid4

# Django reads settings from the environment when it loads, below; keep the user's
# installation untouched.
for name in [each for each in os.environ if each.startswith("SEAMARK_")]:
    del os.environ[name]
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
_FOLDER = tempfile.mkdtemp(prefix="seamark-corpus-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = _FOLDER

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

from evaluation.jobs import Label, label_of  # noqa: E402
from evaluation.record import DISTURBED_CORES  # noqa: E402
from evaluation.recordings import Recording, read_recording  # noqa: E402
from evaluation.synthetic.faults import find_case  # noqa: E402
from evaluation.verdicts import Found, Replayed  # noqa: E402
from tests.builders import actor_of, make_member  # noqa: E402
from tracker.actions.diagnoses.diagnoses import diagnose_run  # noqa: E402
from tracker.actions.runs.states import mark_silent  # noqa: E402
from tracker.diagnosis.analysis.statistics import average  # noqa: E402
from tracker.diagnosis.engine.measurements import Measurements  # noqa: E402
from tracker.diagnosis.rules import RULES  # noqa: E402
from tracker.ingest.write import store_batch  # noqa: E402
from tracker.models import Diagnosis, Finding, Run, Spool, Stage, State  # noqa: E402
from tracker.queries.diagnoses.diagnoses import (  # noqa: E402
    diagnoses_of,
    every_finding,
    main_findings,
)
from tracker.queries.diagnoses.signals import read_measurements  # noqa: E402
from tracker.queries.runs.verdicts import Verdict as RunVerdict  # noqa: E402
from tracker.queries.runs.verdicts import verdicts  # noqa: E402
from tracker.series.compaction import compact_run  # noqa: E402
from web.pages.run.stage_sections import is_sure  # noqa: E402

TITLES = {rule.name: rule.title for rule in RULES}
NUMBERS = {rule.name: f"{rule.group}{rule.number}" for rule in RULES}


def prepare() -> None:
    """Make an empty database."""
    call_command("migrate", verbosity=0)


def replay(path: Path, label: Label | None = None) -> Replayed:
    """Diagnose a recording; without a label it is one of a synthetic job."""
    recording = read_recording(path)
    run = ingest(recording)
    cores = _machine_cores(run) or float(recording.cores)
    foreign = recording.foreign_cores
    return Replayed(
        name=recording.case if label else f"{recording.case} {recording.seed}",
        mode=_mode(recording),
        label=label or label_of(find_case(recording.case), NUMBERS),
        recorded_at=recording.recorded_at,
        found=tuple(_found(run)),
        failed=tuple(
            rule
            for failed in Diagnosis.objects.filter(run=run)
            for rule in failed.failed
        ),
        says_well=verdicts([run.id])[run.id] is RunVerdict.WELL,
        foreign_cores=_other_cores(run, cores) if foreign is None else foreign,
        cores=cores,
    )


def _mode(recording: Recording) -> str:
    if not recording.mode:
        return "synthetic"
    is_disturbed = (recording.foreign_cores or 0.0) > DISTURBED_CORES
    return "disturbed" if is_disturbed and recording.mode == "alone" else recording.mode


def ingest(recording: Recording) -> Run:
    """Store and diagnose a recording in a separate workspace; return its last run."""
    # A workspace for each: recordings of a case, and jobs of two parts, share a name.
    name = recording.file_name.partition(".")[0]
    actor = actor_of(make_member(f"{name}-{uuid4().hex[:8]}"))
    before = set(Run.objects.values_list("id", flat=True))
    for body in recording.bodies():
        store_batch(actor, uuid4(), body)
    runs = list(Run.objects.exclude(id__in=before).order_by("started_at"))
    for run in runs:
        _end_killed(run)
        diagnose_run(run.id)
        if run != runs[-1]:
            # Comparisons with earlier runs read their summaries.
            compact_run(run.id)
    return runs[-1]


def _end_killed(run: Run) -> None:
    """Mark processes without an end as crashed, as a server does after a while."""
    for spool in Spool.objects.filter(run=run, state=State.RUNNING):
        assert spool.stage is not None
        seen = read_measurements(spool.stage).span()
        if seen is not None:
            last = datetime.fromtimestamp(seen.end / 1e6, UTC)
            Spool.objects.filter(id=spool.id).update(last_seen_at=last)
    mark_silent()


@dataclass(frozen=True, slots=True)
class Promise:
    """Prediction of a run's finding, and examples per second of the whole run.

    Steps per second if a run does not count examples.
    """

    rule: str
    likely: float
    bound: float
    speed: float


def promise_of(run: Run, rules: Collection[str]) -> Promise:
    """Return the prediction of the primary finding, or of the first of these rules."""
    findings = sorted(
        Finding.objects.filter(run=run, is_open=True),
        key=lambda f: (f.is_primary, f.confidence),
        reverse=True,
    )
    wanted = [f for f in findings if f.rule in rules]
    judgement = wanted[0].body["judgement"] if wanted else None
    gain = judgement["finding"]["gain"] if judgement else None
    steps = _last_stage(run).steps
    seconds = (steps.times[-1] - steps.times[0]) / 1e6 if len(steps) > 1 else nan
    examples = steps.columns.get("step_examples")
    done = len(steps) - 1 if examples is None else examples[1:].sum()
    return Promise(
        rule=TITLES[wanted[0].rule] if wanted else "",
        likely=gain["likely"] if gain else nan,
        bound=gain["bound"] if gain else nan,
        speed=done / seconds,
    )


def _found(run: Run) -> list[Found]:
    """Return open findings; the main one is that which the runs table names."""
    main = main_findings([run.id]).get(run.id)
    return [
        Found(
            rule=each.rule,
            stage=diagnosis.stage,
            confidence=each.confidence,
            is_main=main is not None
            and each.is_primary
            and (each.rule, diagnosis.stage) == (main.rule, main.stage),
            is_shown=not each.explained_by and is_sure(each),
            summary=each.summary,
        )
        for diagnosis in diagnoses_of(run)
        for each in every_finding(diagnosis.findings)
    ]


def _last_stage(run: Run) -> Measurements:
    return read_measurements(Stage.objects.filter(run=run).order_by("id").last())


def _other_cores(run: Run, cores: float) -> float | None:
    """Return the cores that other programs kept busy on the machine, on average."""
    measured = _last_stage(run)
    percent = measured.samples.get("host_cpu_percent")
    job = measured.samples.get("job_cpu_cores")
    if percent is None or job is None:
        return None
    others = average(percent.values) / 100 * cores - average(job.values)
    return max(0.0, round(others, 2))


def _machine_cores(run: Run) -> float | None:
    """Return all cores of the machine; a job may have been kept to some of them."""
    cores = _last_stage(run).facts.get("host_cores")
    return cores if isinstance(cores, float) else None
