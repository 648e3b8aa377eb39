"""Stages on a run's overview."""

from dataclasses import replace

from tests.diagnoses import NOW, diagnosis, finding
from tests.web.stage_rows import process_row, stage_row
from tracker.diagnosis.engine.judgement import Label
from tracker.diagnosis.signals.signal import LOADER
from tracker.queries.diagnoses.diagnoses import Dismissal, Lack, UnansweredRule
from web.pages.run.stage_sections import (
    MAX_OPEN,
    StageSection,
    anchors,
    main_stage,
    open_sections,
    sections,
    together,
)


def test_a_rule_speaks_once_for_all_gpus():
    found = [
        finding("gpu-is-the-limit", scope="gpu/0"),
        finding("too-few-loader-workers"),
        finding("gpu-is-the-limit", scope="gpu/1"),
    ]

    shown = together(found)

    assert [f.rule for f in shown] == ["gpu-is-the-limit", "too-few-loader-workers"]
    assert shown[0].also_on == ("gpu/1",)


def test_training_comes_first_and_stands_for_the_run():
    stages = [stage_row("preprocess"), stage_row("train"), stage_row("infer")]

    shown = sections(stages, [diagnosis(finding("x"), stage="infer")])

    assert [section.stage.name for section in shown] == ["train", "infer", "preprocess"]
    assert main_stage(shown) == "train"
    assert main_stage([]) == ""


def test_an_address_leads_to_the_first_finding_of_a_rule():
    slow = finding("slow", id=3, label=Label.LIKELY, symptoms=[finding("idle", id=4)])
    shown = sections(
        [stage_row("train"), stage_row("infer")],
        [
            diagnosis(finding("slow", id=1), stage="infer"),
            replace(diagnosis(slow, stage="train"), cleared=[finding("gone", id=5)]),
        ],
    )

    assert anchors(shown) == {3: "slow", 4: "idle", 5: "gone"}


def test_a_dismissed_finding_is_still_led_to():
    dismissed = finding("slow", id=7, dismissal=Dismissal(NOW, "ada", "on purpose"))
    (section,) = sections([stage_row("train")], [diagnosis(dismissed)])

    assert section.sure == []
    assert anchors([section]) == {7: "slow"}


def test_few_stages_are_all_open():
    shown = sections([stage_row(f"{n}") for n in range(MAX_OPEN)], [])

    assert len(open_sections(shown)) == MAX_OPEN


def test_of_very_many_stages_those_with_something_to_read_are_open():
    stages = [stage_row(f"{n:02}") for n in range(50)]
    stages[20] = stage_row("20", failure="ValueError")

    shown = sections(stages, [diagnosis(finding("slow"), stage="30")])

    assert open_sections(shown) == {"20", "30"}


def test_ranks_that_failed_alike_are_told_together():
    ranks = [process_row(rank, failure="OOM" if rank else "") for rank in range(64)]
    ranks[7] = process_row(7, failure="bus error", host="node-8")

    section = StageSection(stage_row("train", *ranks), None)

    out_of_memory, bus_error = section.other_failures
    assert out_of_memory.ranks_text == "1, 2, 3, 4 and 58 more"
    assert (bus_error.ranks_text, bus_error.host) == ("7", "node-8")


def test_what_the_stage_says_is_not_said_again():
    stage = stage_row("train", process_row(failure="OOM"), failure="OOM")

    assert StageSection(stage, None).other_failures == []
    assert StageSection(stage, None).failed_ranks is None


def test_the_ranks_that_made_a_stage_fail_are_named():
    ranks = [
        process_row(rank, failure="OOM" if rank > 61 else "") for rank in range(64)
    ]

    failed = StageSection(stage_row("train", *ranks, failure="OOM"), None).failed_ranks

    assert failed is not None
    assert failed.ranks_text == "62, 63"


def test_many_different_failures_are_counted():
    ranks = [process_row(rank, failure=f"{rank}") for rank in range(64)]

    section = StageSection(stage_row("train", *ranks), None)

    assert len(section.other_failures) + section.more_failures == 64
    assert len(section.other_failures) < 5


def test_dropped_points_are_added_up():
    ranks = [process_row(0, dropped_points=5), process_row(1)]

    dropped = StageSection(stage_row("train", *ranks), None).dropped

    assert dropped is not None
    assert (dropped.ranks_text, dropped.points) == ("0", 5)
    assert StageSection(stage_row("train"), None).dropped is None


def test_a_loop_that_is_timed_needs_no_loader():
    lacks = [Lack("data_wait_seconds", "data wait", LOADER)]
    untimed = replace(
        diagnosis(), unanswered=[UnansweredRule("slow", "Slow data", lacks)]
    )

    hint = StageSection(stage_row("train"), untimed).hint
    timed = StageSection(stage_row("train"), replace(untimed, steps_per_second=2.0))

    assert hint is not None
    assert hint.codes == (LOADER,)
    assert timed.hint is None
