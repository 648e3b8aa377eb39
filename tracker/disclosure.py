"""What of a thing that an actor may read is shown to them: all to members, to who came
by a share link only measurements and what the link's ticks add.

One attribute is in one part, or in none and so always shown; what nobody has thought of
is shown to no stranger. Functions of values, so that no page decides by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import UUID

from tracker.actor import Actor, Part
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
from tracker.queries.run.neighbors import Neighbours
from tracker.queries.run.notes import Note
from tracker.queries.run.run import RunOverview, StageRow
from tracker.queries.run.source import CapturedSource
from tracker.queries.runs.fields import MADE_BY

MEASURED: Final = frozenset({Kind.FLOAT_SERIES, Kind.HISTOGRAM_SERIES})
STORED: Final = frozenset({Kind.FILE, Kind.IMAGE_SERIES})
NUMBERS: Final = frozenset({Kind.FLOAT, Kind.INTEGER, Kind.BOOLEAN})
FACTS, FAILURE, HOST = "/facts/", "/failure/", "facts/host"
ARGUMENTS = "/source/arguments"
# Facts in words that say what hardware it was, and not whose or where.
HARDWARE_WORDS = re.compile(
    r"/facts/(?:cpu_model|framework|gpu_driver(?:_cuda)?|storage/\w+/file_system"
    r"|gpu/\d+/(?:mig/\d+/)?(?:name|measured_with|compute_capability|state))"
)
# Signals that tell of other runs of the project, and the rules that may speak of them.
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
NOT_SHARED = (
    "It was judged beside other runs of the project, which are not shared here."
)


def part_of(kind: str, path: str, is_parameter: bool | None = None) -> Part | None:
    """Return the part that an attribute is in; None: a measurement, always shown."""
    if kind in MEASURED:
        return None
    if kind == Kind.TEXT_SERIES:
        return Part.LOGS
    if kind in STORED:
        return Part.FILES
    if path.startswith(MONITORING):
        return _captured_part(kind, path)
    # A single number is a final result, unless it was set before training.
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
    """Return a function that tells which attributes the actor sees; None: all."""
    return None if actor.grant is None else partial(is_seen, actor)


def sees_field(actor: Actor, field: str) -> bool:
    """Tell whether the actor sees what every run has: who made it is for members."""
    return actor.grant is None or field != MADE_BY


def withheld_from(actor: Actor) -> frozenset[str]:
    """Return the parts that pages have to leave out."""
    return frozenset(part.value for part in Part if not actor.sees(part))


def seen_attributes(
    actor: Actor, found: Mapping[UUID, Mapping[str, AttributeRow]]
) -> dict[UUID, dict[str, AttributeRow]]:
    """Leave out of some runs' attributes what the actor does not see."""
    return {
        run_id: {path: row for path, row in rows.items() if _seen_row(actor, row)}
        for run_id, rows in found.items()
    }


def seen_values(actor: Actor, values: KeyValues) -> KeyValues:
    """Leave out what was configured and captured, and what another run had."""
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


def seen_neighbours(actor: Actor, neighbours: Neighbours) -> Neighbours:
    """Leave out which other runs the project has."""
    return neighbours if actor.grant is None else Neighbours()


def seen_annotations(
    actor: Actor, annotations: Mapping[str, list[AnnotationRow]]
) -> dict[str, list[AnnotationRow]]:
    """Leave out who wrote at a chart."""
    if actor.grant is None:
        return dict(annotations)
    return {
        path: [replace(row, author="", author_id=None) for row in rows]
        for path, rows in annotations.items()
    }


def seen_notes(actor: Actor, notes: Sequence[Note]) -> list[Note]:
    """Leave out what the script said."""
    return [note for note in notes if is_seen(actor, Kind.TEXT_SERIES, note.path)]


def seen_ledger(actor: Actor, ledger: LedgerView | None) -> LedgerView | None:
    """Leave out what it cost: a price is between the project and its machines."""
    if actor.grant is None or ledger is None:
        return ledger
    return ledger.without_money


def seen_overview(actor: Actor, overview: RunOverview) -> RunOverview:
    """Leave out facts about whose machine it was, its names, notes, and tracebacks."""
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
    """Leave out who dismissed what, and what other runs are called and measured."""
    if actor.grant is None:
        return list(diagnoses)
    return [
        replace(
            diagnosis,
            findings=_seen_findings(diagnosis.findings),
            cleared=_seen_findings(diagnosis.cleared),
        )
        for diagnosis in diagnoses
    ]


def _seen_findings(findings: Iterable[FindingView]) -> list[FindingView]:
    return [
        replace(
            _without_other_runs(finding) if finding.rule in COMPARING else finding,
            symptoms=_seen_findings(finding.symptoms),
            dismissal=finding.dismissal and replace(finding.dismissal, by=""),
        )
        for finding in findings
    ]


def _without_other_runs(finding: FindingView) -> FindingView:
    """Leave what the rule found and advises, without any value: which are of other runs
    is not told apart in sentences, limits and what a cure is worth.
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
    """Leave out parameters of rungs, on whose machines they ran, and what they cost."""
    if actor.grant is None:
        return ladder
    rungs = tuple(_seen_rung(actor, rung) for rung in ladder.rungs)
    return replace(ladder, rungs=rungs)


def _seen_rung(actor: Actor, rung: RungView) -> RungView:
    # Of one path, what is a number on one rung may be a text on another.
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
    """Leave out the command line where the configuration is not shared."""
    if actor.sees(Part.CONFIG):
        return source
    script = {
        name: value
        for name, value in source.part("source").items()
        if name != "arguments"
    }
    return replace(source, parts={**source.parts, "source": script})
