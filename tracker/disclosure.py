"""Filters the parts of readable objects: members see everything, visitors by link only
measurements and the parts that the link enables.

Each attribute belongs to at most one part. Unknown kinds are hidden from visitors. All
functions are pure, so every page applies the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import UUID

from tracker.actor import Actor, Part
from tracker.diagnosis.input.activities import CODE_PROFILE, MOSTLY_IN
from tracker.diagnosis.input.places import THREAD_IS_IN
from tracker.diagnosis.rules import RULES
from tracker.models import Kind
from tracker.queries.diagnoses.diagnoses import FindingView, StageDiagnosis
from tracker.queries.diagnoses.time_breakdowns import LedgerView
from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.steps import RungView
from tracker.queries.run.annotations import AnnotationRow
from tracker.queries.run.attributes import AttributeRow, Seen
from tracker.queries.run.key_values import KeyValues
from tracker.queries.run.namespaces import MONITORING, names_parameter
from tracker.queries.run.neighbors import Neighbors
from tracker.queries.run.notes import Note
from tracker.queries.run.run import RunOverview, StageRow
from tracker.queries.run.source import CapturedSource
from tracker.queries.runs.filter.fields import MADE_BY

MEASURED: Final = frozenset({Kind.FLOAT_SERIES, Kind.HISTOGRAM_SERIES})
STORED: Final = frozenset({Kind.FILE, Kind.IMAGE_SERIES, Kind.FILE_SERIES})
NUMBERS: Final = frozenset({Kind.FLOAT, Kind.INTEGER, Kind.BOOLEAN})
FACTS, FAILURE, HOST = "/facts/", "/failure/", "facts/host"
ARGUMENTS = "/source/arguments"
# Textual facts that identify the hardware model but not the machine or its owner.
HARDWARE_WORDS = re.compile(
    r"/facts/(?:cpu_model|framework|gpu_driver(?:_cuda)?|storage/\w+/file_system"
    r"|gpu/\d+/(?:mig/\d+/)?(?:name|measured_with|compute_capability|state))"
)
# Signals with data of other runs; rules that use them may mention those runs.
OTHER_RUNS = frozenset(
    {
        "run_of_fewer_ranks",
        "rung_before",
        "same_stage_runs",
        "same_stage_seconds",
        "best_read_bytes_per_second",
        "earlier_runs",
        "earlier_runs_gpu_p95_percent",
        "earlier_runs_gpu_memory_share",
    }
)
COMPARING = frozenset(
    rule.name for rule in RULES if OTHER_RUNS & {*rule.needs, *rule.may_use}
)
# Phrases of summaries after which a function or a line of the script is named.
BEFORE_PLACES = {THREAD_IS_IN: "", MOSTLY_IN: "."}
CODE_NOT_SHARED = "This finding names code of the run, which is not shared here."
NOT_SHARED = (
    "This rule compares runs, and the other runs of the project are not shared here."
)


def part_of(kind: str, path: str, is_parameter: bool | None = None) -> Part | None:
    """Return the part to which an attribute belongs; None: always shown."""
    if kind in MEASURED:
        return None
    if kind == Kind.TEXT_SERIES:
        return Part.LOGS
    if kind in STORED:
        return Part.FILES
    if path.startswith(MONITORING):
        return _captured_part(kind, path)
    # A single number is a final result unless it was set before training.
    is_config = is_parameter or names_parameter(path)
    return None if kind == Kind.FLOAT and not is_config else Part.CONFIG


def _captured_part(kind: str, path: str) -> Part | None:
    if path.endswith(ARGUMENTS):
        return Part.CONFIG
    if FAILURE in path:
        return Part.LOGS
    if FACTS not in path:
        return Part.ENVIRONMENT
    _, _, below = path.partition(FACTS)
    is_hardware = kind in NUMBERS or HARDWARE_WORDS.fullmatch(f"{FACTS}{below}")
    return None if is_hardware else Part.ENVIRONMENT


def is_seen(
    actor: Actor, kind: str, path: str, is_parameter: bool | None = None
) -> bool:
    part = part_of(kind, path, is_parameter)
    return part is None or actor.sees(part)


def seen_by(actor: Actor) -> Seen | None:
    """Return a predicate for the attributes that the actor sees; None: all."""
    return None if actor.grant is None else partial(is_seen, actor)


def sees_field(actor: Actor, field: str) -> bool:
    """Return whether the actor sees a run field: only members see who created a run."""
    return actor.grant is None or field != MADE_BY


def withheld_from(actor: Actor) -> frozenset[str]:
    """Return the parts that pages hide from the actor."""
    return frozenset(part.value for part in Part if not actor.sees(part))


def seen_attributes(
    actor: Actor, found: Mapping[UUID, Mapping[str, AttributeRow]]
) -> dict[UUID, dict[str, AttributeRow]]:
    """Return the runs' attributes that the actor may see."""
    return {
        run_id: {path: row for path, row in rows.items() if _seen_row(actor, row)}
        for run_id, rows in found.items()
    }


def seen_values(actor: Actor, values: KeyValues) -> KeyValues:
    """Remove configuration, captured values and values of other runs."""
    if actor.grant is None:
        return values
    sees_params = actor.sees(Part.CONFIG)
    return replace(
        values,
        metrics=[
            replace(metric, before=None)
            for metric in values.metrics
            if _seen_row(actor, metric.row)
        ],
        params=values.params if sees_params else [],
        param_count=values.param_count if sees_params else 0,
        others={
            path: row for path, row in values.others.items() if _seen_row(actor, row)
        },
    )


def seen_neighbors(actor: Actor, neighbors: Neighbors) -> Neighbors:
    """Remove links to other runs of the project."""
    return neighbors if actor.grant is None else Neighbors()


def seen_annotations(
    actor: Actor, annotations: Mapping[str, list[AnnotationRow]]
) -> dict[str, list[AnnotationRow]]:
    """Remove the authors of annotations."""
    if actor.grant is None:
        return dict(annotations)
    return {
        path: [replace(row, author="", author_id=None) for row in rows]
        for path, rows in annotations.items()
    }


def seen_notes(actor: Actor, notes: Sequence[Note]) -> list[Note]:
    """Remove notes from hidden log series."""
    return [note for note in notes if is_seen(actor, Kind.TEXT_SERIES, note.path)]


def seen_ledger(actor: Actor, ledger: LedgerView | None) -> LedgerView | None:
    """Remove costs: the price of GPU time is private to the project."""
    if actor.grant is None or ledger is None:
        return ledger
    return ledger.without_money


def seen_overview(actor: Actor, overview: RunOverview) -> RunOverview:
    """Remove facts about the machine, its names, notes and tracebacks."""
    if actor.grant is None:
        return overview
    facts = {
        path: row
        for path, row in overview.facts.items()
        if is_seen(actor, row.kind, path)
    }
    stages = tuple(_seen_stage(actor, stage) for stage in overview.stages)
    overview = replace(overview, facts=facts, stages=stages)
    if not actor.sees(Part.CONFIG):
        overview = replace(overview, tags=(), description="")
    return overview


def _seen_stage(actor: Actor, stage: StageRow) -> StageRow:
    if not actor.sees(Part.LOGS):
        processes = tuple(replace(each, failure="") for each in stage.processes)
        stage = replace(stage, failure="", processes=processes)
    # Only members see the user and the token that reopened a run.
    processes = tuple(replace(each, reopening=None) for each in stage.processes)
    if not actor.sees(Part.ENVIRONMENT):
        processes = tuple(replace(each, host="") for each in processes)
    return replace(stage, processes=processes)


def seen_diagnoses(
    actor: Actor, diagnoses: Sequence[StageDiagnosis]
) -> list[StageDiagnosis]:
    """Remove the users who dismissed findings, and names and values of other runs."""
    if actor.grant is None:
        return list(diagnoses)
    return [
        replace(
            diagnosis,
            findings=_seen_findings(actor, diagnosis.findings),
            cleared=_seen_findings(actor, diagnosis.cleared),
        )
        for diagnosis in diagnoses
    ]


def _seen_findings(actor: Actor, findings: Iterable[FindingView]) -> list[FindingView]:
    return [_seen_finding(actor, finding) for finding in findings]


def _seen_finding(actor: Actor, finding: FindingView) -> FindingView:
    if not actor.sees(Part.ENVIRONMENT):
        finding = _without_code(finding)
    if finding.rule in COMPARING:
        finding = _without_other_runs(finding)
    return replace(
        finding,
        symptoms=_seen_findings(actor, finding.symptoms),
        dismissal=finding.dismissal and replace(finding.dismissal, by=""),
    )


def _without_code(finding: FindingView) -> FindingView:
    """Remove functions and lines of the script, which come from the profile."""
    evidence = tuple(row for row in finding.evidence if row.signal != CODE_PROFILE)
    if len(evidence) == len(finding.evidence):
        return finding
    summary = finding.summary
    phrases = (phrase for phrase in BEFORE_PLACES if phrase in summary)
    # The first, because names of files may contain the others.
    first = min(phrases, key=summary.index, default="")
    before = summary.partition(first)[0] + BEFORE_PLACES[first] if first else ""
    return replace(finding, summary=before or CODE_NOT_SHARED, evidence=evidence)


def _without_other_runs(finding: FindingView) -> FindingView:
    """Keep the rule's title and advice without values: the values of other runs cannot
    be separated from the sentences, limits and savings.
    """
    return replace(
        finding,
        summary=NOT_SHARED,
        evidence=(),
        gain=None,
        recommendations=tuple(
            replace(each, current="", suggested="") for each in finding.recommendations
        ),
    )


def seen_ladder(actor: Actor, ladder: LadderView) -> LadderView:
    """Remove parameters, machines and costs of a ladder's steps."""
    if actor.grant is None:
        return ladder
    rungs = tuple(_seen_rung(actor, rung) for rung in ladder.rungs)
    return replace(ladder, rungs=rungs)


def _seen_rung(actor: Actor, rung: RungView) -> RungView:
    # A path may hold a number in one run and a text in another.
    rung = replace(
        rung,
        ledger=seen_ledger(actor, rung.ledger),
        quality=_seen_row(actor, rung.quality),
        quality_before=_seen_row(actor, rung.quality_before),
    )
    if not actor.sees(Part.CONFIG):
        rung = replace(rung, params=())
    if not actor.sees(Part.ENVIRONMENT):
        machine = (each for each in rung.machine if not each.path.endswith(HOST))
        rung = replace(rung, machine=tuple(machine))
    return rung


def _seen_row(actor: Actor, row: AttributeRow | None) -> AttributeRow | None:
    if row is None or not is_seen(actor, row.kind, row.path, row.is_parameter):
        return None
    return row


def seen_source(actor: Actor, source: CapturedSource) -> CapturedSource:
    """Remove the command line where the configuration is not shared."""
    if actor.sees(Part.CONFIG):
        return source
    script = {
        name: value
        for name, value in source.part("source").items()
        if name != "arguments"
    }
    return replace(source, parts={**source.parts, "source": script})
