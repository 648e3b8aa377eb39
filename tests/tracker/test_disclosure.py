"""The attributes that readers of a share link see, and the redaction of sentences."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from uuid import UUID

import pytest

from tests.builders import Process, actor_of, make_project, make_run
from tests.diagnoses import diagnosis, finding
from tracker import disclosure
from tracker.actor import Actor, Grant, Part, actor_of_link
from tracker.diagnosis.engine.finding import (
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.input.places import with_place
from tracker.diagnosis.rules import checkpoints_take_long
from tracker.diagnosis.signals import SIGNALS
from tracker.queries.diagnoses.diagnoses import FindingView, StageDiagnosis
from tracker.queries.diagnoses.time_breakdowns import LedgerPart, LedgerView
from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.steps import RungView
from tracker.queries.run.annotations import AnnotationRow
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.key_values import KeyMetric, KeyValues
from tracker.queries.run.neighbors import Neighbor, Neighbors
from tracker.queries.run.notes import Note
from tracker.queries.run.run import ProcessRow, RunOverview, StageRow, run_overview

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PARTS = {
    ("float_series", "train/loss"): None,
    ("float_series", "params/drift"): None,
    ("histogram_series", "train/gradients"): None,
    ("float", "test/accuracy"): None,
    ("float", "params/learning_rate"): Part.CONFIG,
    ("float", "config/optim/lr"): Part.CONFIG,
    ("float", "lr", True): Part.CONFIG,
    ("integer", "preprocess/images"): Part.CONFIG,
    ("string", "note"): Part.CONFIG,
    ("string_set", "tags"): Part.CONFIG,
    ("datetime", "params/began"): Part.CONFIG,
    ("text_series", "monitoring/train/stdout"): Part.LOGS,
    ("text_series", "samples"): Part.LOGS,
    ("string", "monitoring/train/failure/traceback"): Part.LOGS,
    ("string", "monitoring/train/rank-3/failure/message"): Part.LOGS,
    ("file", "checkpoints/best"): Part.FILES,
    ("image_series", "samples/input"): Part.FILES,
    ("string", "monitoring/train/environment/CUDA_HOME"): Part.ENVIRONMENT,
    ("string", "monitoring/train/git/remote"): Part.ENVIRONMENT,
    ("string", "monitoring/train/source/text"): Part.ENVIRONMENT,
    ("string", "monitoring/train/source/arguments"): Part.CONFIG,
    ("string", "monitoring/train/facts/host"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/code_profile"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/platform"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/scheduler/name"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/gpu/0/uuid"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/gpu/0/name"): None,
    ("string", "monitoring/train/facts/gpu/0/mig/1/state"): None,
    ("string", "monitoring/train/facts/gpu/0/mig/1/uuid"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/gpu_driver"): None,
    ("string", "monitoring/train/facts/storage/data/file_system"): None,
    ("string", "monitoring/train/facts/storage/data/mount"): Part.ENVIRONMENT,
    ("float", "monitoring/train/facts/effective_cores"): None,
    ("integer", "monitoring/train/rank-1/facts/gpu_count"): None,
    # Data that users write below the agent's paths does not count as facts.
    ("string", "monitoring/train/notes"): Part.ENVIRONMENT,
    ("string", "monitoring/x/facts/gpu/0/name/secret"): Part.ENVIRONMENT,
    ("string", "monitoring"): Part.CONFIG,
    ("a kind of tomorrow", "anything"): Part.CONFIG,
}


def stranger(*parts: Part) -> Actor:
    return actor_of_link(Grant(1, 1, {}, frozenset(parts)))


def test_an_attribute_is_in_one_part_or_measured():
    assert {key: disclosure.part_of(*key) for key in PARTS} == PARTS


@pytest.mark.parametrize("part", Part)
def test_a_tick_shows_its_part_and_no_other(part):
    seen = {
        attribute
        for attribute in PARTS
        if disclosure.is_seen(stranger(part), *attribute)
    }

    assert seen == {key for key, its in PARTS.items() if its in (None, part)}


def test_members_see_everything():
    member = Actor(user_id=7)

    assert all(disclosure.is_seen(member, *attribute) for attribute in PARTS)
    assert disclosure.seen_by(member) is None
    assert disclosure.withheld_from(member) == frozenset()


def test_pages_get_the_list_of_withheld_parts():
    assert disclosure.withheld_from(stranger(Part.LOGS)) == {
        "config",
        "environment",
        "files",
    }


def test_rules_that_name_other_runs_are_known():
    assert {"ranks-scale-poorly", "faster-but-worse"} <= disclosure.COMPARING


def test_signals_of_other_runs_are_known():
    words = ("earlier", "of the project", "of this project", "run before", "of them")
    telling = {
        name
        for name, signal in SIGNALS.items()
        if any(word in f"{name} {signal.description}".lower() for word in words)
    }

    assert telling <= disclosure.OTHER_RUNS
    assert set(SIGNALS) >= disclosure.OTHER_RUNS


@pytest.mark.parametrize("is_symptom", [False, True])
def test_values_of_rules_about_other_runs_are_hidden(is_symptom):
    said = finding(
        "preprocessing-is-repeated-across-runs",
        summary="12 runs of this project took 3 h.",
        evidence=(Evidence("same_stage_seconds", "with this run", 10_800.0, "s"),),
        recommendations=(Recommendation("Keep it.", "done 12 times", "done once"),),
    )
    shown = finding("cause", symptoms=[said]) if is_symptom else said

    (seen,) = disclosure.seen_diagnoses(stranger(*Part), [diagnosis(shown)])

    found = seen.findings[0].symptoms[0] if is_symptom else seen.findings[0]
    assert (found.title, found.summary) == (said.title, disclosure.NOT_SHARED)
    assert (found.evidence, found.gain) == ((), None)
    assert found.recommendations == (Recommendation("Keep it."),)
    assert disclosure.seen_diagnoses(Actor(7), [diagnosis(shown)]) == [diagnosis(shown)]


PROFILE = json.dumps(
    {
        "version": 1,
        "samples": {"steps": 100},
        "names": [
            ["main", "train.py", 9],
            ["save secret", "a (b), mostly in.py", 4],
        ],
        "trees": {"steps": [-1, 0, 20, 0, 1, 80]},
    }
)


def named_in_passing():
    evidence = (Evidence("x", "x", 1.0, ""),)
    judged = Finding("Steps are slow.", Severity.WARNING, evidence, (), "")
    return with_place("step-time-is-in-no-phase", judged, PROFILE)


def named_by_the_profile():
    found = checkpoints_take_long.check_profile(PROFILE, losses={"loss": None})
    assert isinstance(found, Finding)
    return found


@pytest.mark.parametrize(
    ("made", "summary", "signals"),
    [
        (named_in_passing, "Steps are slow.", ["x"]),
        (
            named_by_the_profile,
            "By function names, saving takes 80 % of the training thread's time.",
            [],
        ),
    ],
)
def test_lines_of_the_script_are_part_of_the_source(made, summary, signals):
    judged = made()
    assert "save secret" in judged.summary
    said = finding("x", summary=judged.summary, evidence=judged.evidence)

    def seen(*parts):
        (found,) = disclosure.seen_diagnoses(stranger(*parts), [diagnosis(said)])
        return found.findings[0]

    hidden = seen(Part.CONFIG, Part.LOGS, Part.FILES)
    assert hidden.summary == summary
    assert [row.signal for row in hidden.evidence] == signals
    assert seen(Part.ENVIRONMENT) == said


def test_an_unknown_sentence_about_the_profile_is_hidden():
    said = finding(
        "x",
        summary="It is slow in secret.py.",
        evidence=(Evidence("code_profile", "share of secret.py", 0.5, "share"),),
    )

    (found,) = disclosure.seen_diagnoses(stranger(), [diagnosis(said)])

    assert found.findings[0].summary == disclosure.CODE_NOT_SHARED
    assert found.findings[0].evidence == ()


# Fields that were checked for disclosure: about this run only, and not about a person, a
# machine or costs. tracker/disclosure.py removes others, so check new fields before adding them.
THOUGHT_OF = {
    FindingView: "id rule scope title summary severity confidence label factors evidence"
    " recommendations disproof gain is_open is_primary explained_by comes_after since"
    " since_step window first_step last_step changed_at cleared_at history symptoms"
    " dismissal also_on",
    StageDiagnosis: "stage state diagnosed_at is_final window step_count findings cleared"
    " healthy unanswered not_applicable failed ledger steps_per_second"
    " examples_per_second median_step_seconds data_wait_share rules_version",
    RunOverview: "name state started_at ended_at last_known last_seen_at may_go_on may_resume"
    " silent_for tags description stages facts duration wall_time",
    StageRow: "name state failure started_at last_known processes gpu_percent"
    " cpu_percent watched",
    ProcessRow: "rank host process_id is_helper state failure started_at ended_at last_known"
    " agent_version dropped_points refused reopening",
    LadderView: "id name stage stages quality_path quality_paths rungs climb left"
    " may_go_on may_resume",
    RungView: "position run_id run_name state note label total_seconds stages params"
    " machine breakdown against_previous against_baseline why_no_change gpu_count"
    " quality quality_before is_diagnosed findings predicted outcome learned"
    " utilization ledger stage_seconds stage_grown stage_steps silent_for",
    LedgerView: "parts seconds gpus money currency energy_joules idle_share is_whole"
    " carbon_intensity",
}


@pytest.mark.parametrize("shown", THOUGHT_OF, ids=lambda shown: shown.__name__)
def test_every_field_that_strangers_could_see_was_thought_of(shown):
    assert {field.name for field in fields(shown)} == set(THOUGHT_OF[shown].split())


def row(path: str, kind: str = "float", value: object = 1.0) -> AttributeRow:
    return AttributeRow(path, kind, value, 0, None, None, None, None, None, NOW)


VALUES = KeyValues(
    metrics=[
        KeyMetric(row("accuracy"), before=0.5),
        KeyMetric(row("images", "integer", 7), is_pinned=True),
    ],
    metric_count=2,
    params=[row("params/lr")],
    param_count=1,
    others={
        path: row(path, "string", "x")
        for path in ("monitoring/train/git/commit", "monitoring/train/source/arguments")
    },
)


def test_a_stranger_sees_metrics_without_those_of_other_runs():
    seen = disclosure.seen_values(stranger(), VALUES)

    assert [(each.path, each.before) for each in seen.metrics] == [("accuracy", None)]
    assert (seen.params, seen.param_count, seen.others) == ([], 0, {})


def test_each_disclosed_part_shows_its_own_key_values():
    config = disclosure.seen_values(stranger(Part.CONFIG), VALUES)
    environment = disclosure.seen_values(stranger(Part.ENVIRONMENT), VALUES)

    assert [each.path for each in config.metrics] == ["accuracy", "images"]
    assert [each.before for each in config.metrics] == [None, None]
    assert config.params == VALUES.params
    assert list(config.others) == ["monitoring/train/source/arguments"]
    assert list(environment.others) == ["monitoring/train/git/commit"]
    assert environment.params == []
    assert disclosure.seen_values(Actor(user_id=7), VALUES) == VALUES


def test_only_visible_attributes_of_many_runs_are_left():
    found = {
        UUID(int=number): {
            path: row(path, kind) for path, kind in (("loss", "float"), ("note", kind))
        }
        for number, kind in enumerate(("float", "string"))
    }

    seen = disclosure.seen_attributes(stranger(), found)

    assert [list(rows) for rows in seen.values()] == [["loss", "note"], ["loss"]]
    assert disclosure.seen_attributes(stranger(Part.CONFIG), found) == found
    assert disclosure.seen_attributes(Actor(user_id=7), found) == found


def test_which_other_runs_there_are_is_for_members():
    neighbors = Neighbors(before=Neighbor(UUID(int=1), "sibling"))

    assert disclosure.seen_neighbors(stranger(*Part), neighbors) == Neighbors()
    assert disclosure.seen_neighbors(Actor(user_id=7), neighbors) == neighbors


def test_costs_are_shown_to_members_only():
    part = LedgerPart("idle", "held but idle", 9.0, share=1.0, before=0.0, money=3.0)
    ledger = LedgerView((part,), 9.0, 1, 3.0, "EUR", None)

    seen = disclosure.seen_ledger(stranger(*Part), ledger)

    assert seen is not None
    assert (seen.money, [each.money for each in seen.parts]) == (None, [None])
    assert seen.seconds == 9.0
    assert disclosure.seen_ledger(stranger(), None) is None
    assert disclosure.seen_ledger(Actor(user_id=7), ledger) == ledger


def test_authors_of_annotations_are_shown_to_members_only():
    written = AnnotationRow(1, "loss", 0.0, NOW, "here", "ada", 7, NOW, None)

    (seen,) = disclosure.seen_annotations(stranger(*Part), {"loss": [written]})["loss"]

    assert (seen.text, seen.author, seen.author_id) == ("here", "", None)
    assert disclosure.seen_annotations(Actor(7), {"loss": [written]})["loss"] == [
        written
    ]


def test_notes_are_shown_with_the_logs():
    note = Note("notes/train", 1.0, NOW, "password is hunter2")

    assert disclosure.seen_notes(stranger(), [note]) == []
    assert disclosure.seen_notes(stranger(Part.LOGS), [note]) == [note]
    assert disclosure.seen_notes(Actor(7), [note]) == [note]


@pytest.mark.django_db
@pytest.mark.database
def test_reopenings_are_shown_to_members_only(member):
    run = make_run(make_project(member), state="finished")
    Process(run.project, run.name, actor=actor_of(member)).open()
    overview = run_overview(run)

    assert disclosure.seen_overview(Actor(7), overview).reopenings
    assert not disclosure.seen_overview(stranger(*Part), overview).reopenings
