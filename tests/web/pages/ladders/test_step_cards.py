"""A ladder's rungs as texts, and the band on top."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from tests.diagnoses import NOW
from tracker.diagnosis.analysis.quality import Level, QualityChange
from tracker.diagnosis.breakdown.categories import Use
from tracker.diagnosis.breakdown.step import Part, StepBreakdown
from tracker.diagnosis.engine.measurements import Window
from tracker.queries.ladders.finding_changes import FindingChanges, RungFinding
from tracker.queries.ladders.ladders import LadderView
from tracker.queries.ladders.predictions import LeftGain, Outcome, Prediction
from tracker.queries.ladders.steps import RungView, StageTime, ValueChange
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS, Change, climb
from tracker.queries.run.attributes import AttributeRow
from web.pages.ladders.step_cards import cards_of
from web.pages.ladders.summary import summary_of

STEP = StepBreakdown(
    window=Window(0, 1),
    step_count=100,
    is_steady=True,
    median_step_seconds=0.1,
    mean_step_seconds=0.1,
    parts=(Part("data wait", 0.06), Part("forward", 0.03), Part("other", 0.01)),
    steps_per_second=10.0,
    examples_per_step=16.0,
    blocks=(160.0,),
    cpu_cores=1.0,
    cpu_percent=50.0,
    gpu_percent=None,
)
KNOWN = RungView(
    position=0,
    run_id=UUID(int=1),
    run_name="baseline",
    state="finished",
    note="",
    label="baseline",
    total_seconds=42.0,
    stages=(),
    params=(),
    machine=(),
    breakdown=STEP,
    against_previous=None,
    against_baseline=None,
    why_no_change="",
    gpu_count=0,
    quality=AttributeRow("", "float", 0.9, 0, None, None, None, None, None, NOW),
    quality_before=None,
    is_diagnosed=True,
    findings=FindingChanges(),
    predicted=None,
)
UNKNOWN = replace(
    KNOWN,
    position=1,
    breakdown=None,
    quality=None,
    gpu_count=None,
    total_seconds=None,
    why_no_change=NOT_ENOUGH_STEPS,
)
TWICE = Change(2.0, 1.9, 2.1)
FASTER = replace(
    KNOWN,
    position=1,
    label="decoded ahead",
    against_previous=TWICE,
    against_baseline=TWICE,
    quality_before=KNOWN.quality,
    breakdown=replace(STEP, steps_per_second=20.0),
)


def ladder(*rungs: RungView) -> LadderView:
    return LadderView(
        id=UUID(int=9),
        name="faster",
        stage="train",
        stages=("train",),
        quality_path="train/accuracy_on_test",
        quality_paths=("train/accuracy_on_test",),
        rungs=rungs,
        climb=climb((r.label, r.against_previous, r.against_baseline) for r in rungs),
        left=None,
        may_go_on=False,
        may_resume=False,
    )


def card(rung: RungView):
    return cards_of(ladder(rung))[0]


def test_shows_what_is_known():
    shown = card(KNOWN)

    assert (shown.step.throughput, shown.step.throughput_unit) == ("160", "examples/s")
    assert (shown.step.step_time, shown.step.batch) == ("100 ms", "16 examples")
    assert (shown.step.data_wait, shown.cpu, shown.cpu_cores) == (
        "60 %",
        "50 %",
        "1 core",
    )
    assert (shown.quality_name, shown.quality) == ("accuracy on test", "0.9")
    assert (shown.gpu, shown.total) == ("no GPU", "42 s")


def test_shows_what_is_unknown_as_unknown_never_as_zero():
    shown = card(UNKNOWN)

    texts = [
        shown.step.throughput,
        shown.step.step_time,
        shown.step.data_wait,
        shown.cpu,
        shown.quality,
        shown.total,
    ]
    assert set(texts) == {"–"}
    assert shown.gpu == "unknown"
    assert (shown.step.batch, shown.cpu_cores, shown.step.throughput_unit) == (
        "",
        "",
        "",
    )
    assert shown.parts(per_example=True) == []


def test_a_gpu_shows_its_utilization():
    shown = card(replace(KNOWN, breakdown=replace(STEP, gpu_percent=31.4), gpu_count=1))

    assert (shown.gpu, shown.gpu_length) == ("31 %", 31.4)


def test_a_gpu_without_readings_is_unknown():
    assert card(replace(KNOWN, gpu_count=1)).gpu == "unknown"


def test_a_run_that_waits_for_nothing_measured_has_no_data_wait():
    step = replace(STEP, parts=(Part("other", 0.1),))

    assert card(replace(KNOWN, breakdown=step)).step.data_wait == "–"


def test_throughput_is_in_steps_where_examples_are_not_counted():
    shown = card(replace(KNOWN, breakdown=replace(STEP, examples_per_step=None)))

    assert (shown.step.throughput, shown.step.throughput_unit) == ("10", "steps/s")


def test_bars_of_throughput_share_a_scale_only_where_units_agree():
    halves = cards_of(ladder(KNOWN, FASTER))
    mixed = replace(KNOWN, breakdown=replace(STEP, examples_per_step=None))

    assert [shown.throughput_length for shown in halves] == [50, 100]
    assert {c.throughput_length for c in cards_of(ladder(mixed, FASTER))} == {0}


def test_parts_are_per_step_or_per_example():
    assert card(KNOWN).parts(per_example=False)[0] == ("data wait", 0.06)
    assert card(KNOWN).parts(per_example=True)[0] == ("data wait", 0.06 / 16)


def test_a_verdict_has_its_words_its_interval_and_its_sign():
    verdict = card(FASTER).against_previous

    assert (verdict.kind, verdict.icon) == ("faster", "trending-up")
    assert (verdict.headline, verdict.interval) == ("2.0× faster", "1.9–2.1")


def test_without_a_verdict_it_says_why():
    verdict = card(UNKNOWN).against_previous

    assert (verdict.kind, verdict.headline) == ("unjudged", NOT_ENOUGH_STEPS)
    assert verdict.interval == ""


@pytest.mark.parametrize(
    ("outcome", "is_fixed", "said"),
    [
        (
            Outcome.BEYOND_BOUND,
            True,
            "Fixed. The speedup is above the predicted maximum, so something else"
            " changed, too.",
        ),
        (
            Outcome.LESS,
            True,
            "Fixed. The speedup is less than predicted.",
        ),
        (
            Outcome.UNTRIED,
            False,
            "Still present, so the prediction was not tested: another change or a"
            " partial fix caused the difference.",
        ),
        (
            Outcome.AS_LIKELY,
            None,
            "Not enough data to confirm the fix. The speedup is at least as predicted.",
        ),
    ],
)
def test_says_what_came_of_a_promise(outcome, is_fixed, said):
    promise = Prediction("slow", "Slow", 1.84, 1.5, is_fixed=is_fixed)

    shown = card(replace(FASTER, predicted=promise, outcome=outcome))

    assert shown.predicted == "expected 1.5×, at most 1.84×"
    assert shown.achieved == "2.0× faster (1.9–2.1)"
    assert shown.outcome == said
    assert card(FASTER).outcome == ""


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        (TWICE, ""),
        (Change(1.05, 1.04, 1.06), "moderate change"),
        (Change(2.0, 1.9, 2.1, is_rough=True), "rough estimate, few steps"),
        (Change(1.0, 0.9, 1.1), ""),
    ],
)
def test_a_verdict_says_how_much_it_means(change, remark):
    assert card(replace(FASTER, against_previous=change)).against_previous.remark == (
        remark
    )


STOP = (
    "The last run's findings predict less than 5 % in total: fixing them is hardly"
    " worth the effort."
)
NONE_PREDICTED = "Further steps are unlikely to pay off: no finding predicts one."
FORESEEN = replace(
    FASTER,
    predicted=Prediction("slow", "Slow", 2.2, 1.5, is_fixed=True),
    outcome=Outcome.AS_LIKELY,
)
WORSE = QualityChange(
    "val/loss",
    at_equal_examples=Level(1000.0, 0.5, 0.62, 0.012),
    at_equal_time=Level(60.0, 0.5, 0.6, 0.01),
)


def test_shows_what_was_learned_in_the_same_time_and_from_as_many_examples():
    shown = card(replace(FASTER, learned=WORSE))

    assert shown.loss_name == "val/loss"
    assert [(level.where, level.after, level.change) for level in shown.learned] == [
        ("after 1 min", "0.6", "worse, ± 0.03"),
        ("after 1,000 examples", "0.62", "worse, ± 0.036"),
    ]
    assert card(FASTER).learned == []


def test_the_band_names_rungs_that_are_faster_and_worse():
    worse = replace(FASTER, learned=WORSE)
    sentence = (
        "“decoded ahead” is faster, but its val/loss is worse than that of “baseline”"
        " after 1 min: 0.6 instead of 0.5."
    )

    assert summary_of(ladder(KNOWN, worse)).worse == (
        f"{sentence} Quality compares the last values of train/accuracy_on_test.",
    )
    without_quality = replace(ladder(KNOWN, worse), quality_path=None)
    assert summary_of(without_quality).worse == (sentence,)
    assert summary_of(ladder(KNOWN, FASTER)).worse == ()


@pytest.mark.parametrize(
    ("left", "text", "notes"),
    [
        (None, "", ()),
        (LeftGain(0.4, ("Slow", "Late"), 0), "expected 40 %", ()),
        (LeftGain(0.02, ("Late",), 0), "expected 2 %", (STOP,)),
        (LeftGain(0.0, (), 0), "none predicted", (NONE_PREDICTED,)),
        (
            LeftGain(0.0, (), 0, 1),
            "none predicted",
            (f"{NONE_PREDICTED} 1 rule lacked data.",),
        ),
        (
            LeftGain(0.02, ("Late",), 0, 6),
            "expected 2 %",
            (f"{STOP} 6 rules lacked data.",),
        ),
        (LeftGain(0.0, (), 1), "unknown", ()),
    ],
)
def test_the_band_says_what_is_left(left, text, notes):
    faster = replace(FORESEEN, total_seconds=21.0)
    summary = summary_of(replace(ladder(KNOWN, faster), left=left))

    assert summary is not None
    assert (summary.left, summary.notes) == (text, notes)


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (LeftGain(0.4, ("Slow", "Late"), 0), "Slow, Late"),
        (LeftGain(0.0, (), 0), "by the last run's findings"),
        (LeftGain(0.0, (), 1), "the last run's findings have no predicted speedup"),
    ],
)
def test_the_band_explains_the_remaining_potential(left, reason):
    summary = summary_of(replace(ladder(KNOWN, FASTER), left=left))

    assert summary.left_reason == reason


@pytest.mark.parametrize("outcome", [None, Outcome.UNTRIED, Outcome.BEYOND_BOUND])
def test_nobody_is_told_to_stop_where_findings_foresaw_less_than_came(outcome):
    rung = replace(FORESEEN, outcome=outcome, total_seconds=21.0)
    found = replace(ladder(KNOWN, rung), left=LeftGain(0.0, (), 0, 6))

    summary = summary_of(found)

    assert summary is not None
    assert summary.notes == (
        "More may be possible: the findings did not predict the full speedup of"
        " “decoded ahead”.",
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (46.5, 13.6, "3.42× shorter"),
        (13.6, 46.5, "3.42× longer"),
        (22.9, 22.7, "about the same"),
        (None, 22.7, ""),
        (22.9, None, ""),
        (0.0, 22.7, ""),
    ],
)
def test_the_band_says_what_stage_and_run_took(before, after, said):
    first = replace(KNOWN, total_seconds=before, stage_seconds=(None, before))
    last = replace(FASTER, total_seconds=after, stage_seconds=(before, after))

    summary = summary_of(ladder(first, last))

    assert summary is not None
    assert summary.stage[2] == summary.total[2] == said


SMALLER = "The speedup of the whole run is smaller"
EXAMPLES_GREW = (
    f"{SMALLER} because “decoded ahead” processed 4 times as many examples as"
    " “baseline”."
)
STEPS_GREW = (
    f"{SMALLER} because “decoded ahead” ran 4 times as many steps as “baseline”."
)
OVERHEAD = f"{SMALLER}: it includes startup and the time between steps."
WITHOUT_EXAMPLES = replace(STEP, examples_per_step=None)


@pytest.mark.parametrize(
    ("seconds", "steps", "step", "notes"),
    [
        (34.2, 300, replace(STEP, examples_per_step=64.0), (EXAMPLES_GREW,)),
        (34.2, 1200, STEP, (EXAMPLES_GREW,)),
        (27.0, 1200, WITHOUT_EXAMPLES, (STEPS_GREW,)),
        (27.0, 300, STEP, (OVERHEAD,)),
        (34.2, None, STEP, (OVERHEAD,)),
        (34.2, 315, STEP, (OVERHEAD,)),
        (26.5, 1200, STEP, (EXAMPLES_GREW,)),
        (20.0, 1200, STEP, ()),
        (None, 1200, STEP, ()),
    ],
)
def test_the_band_explains_why_the_whole_run_gained_less(seconds, steps, step, notes):
    before = STEP if step.examples_per_step else step
    first = replace(KNOWN, total_seconds=27.0, stage_steps=300, breakdown=before)
    last = replace(FASTER, total_seconds=seconds, stage_steps=steps, breakdown=step)

    assert summary_of(ladder(first, last)).notes == notes


def test_a_slower_run_needs_no_explanation_of_its_duration():
    slower = Change(0.5, 0.45, 0.55)
    last = replace(FASTER, against_previous=slower, against_baseline=slower)

    assert summary_of(ladder(KNOWN, last)).notes == ()


def test_the_stage_is_shown_only_beside_other_stages():
    train = StageTime("train", "finished", NOW, 20.0)
    two = replace(FASTER, stages=(train, StageTime("test", "finished", NOW, 2.0)))

    assert summary_of(ladder(KNOWN, two)).has_stages
    assert not summary_of(ladder(KNOWN, replace(FASTER, stages=(train,)))).has_stages


@pytest.mark.parametrize(
    ("before", "after", "is_said"),
    [
        (22.9, 22.7, True),
        (20.0, 13.4, True),
        (20.0, 13.3, False),
        (None, 10.0, False),
        (10.0, None, False),
    ],
)
def test_a_stage_that_shows_little_of_what_its_steps_won_says_so(
    before, after, is_said
):
    rung = replace(FASTER, stage_seconds=(before, after))

    assert ("Stage duration" in card(rung).stage_lags) is is_said


def test_what_took_longer_in_a_stage_that_lags_is_named():
    rung = replace(FASTER, stage_seconds=(22.3, 22.8))

    assert card(rung).stage_lags == (
        "Stage duration: 22.3 s before, 22.8 s now. The time saved in steps was lost"
        " elsewhere."
    )
    grown = replace(rung, stage_grown=(Use.INITIALIZATION, 3.6))
    assert card(grown).stage_lags == (
        "Stage duration: 22.3 s before, 22.8 s now; initialization took 3.6 s longer."
    )


def test_a_stage_whose_steps_won_nothing_lags_behind_nothing():
    same = Change(1.0, 0.9, 1.1)
    rung = replace(FASTER, against_previous=same, stage_seconds=(10.0, 30.0))

    assert card(rung).stage_lags == ""


def test_the_note_beyond_the_label_is_kept():
    rung = replace(
        KNOWN, note="decoded ahead\nand stored as arrays", label="decoded ahead"
    )

    assert card(rung).note == "and stored as arrays"
    assert card(replace(rung, label="run-7")).note == rung.note


def test_an_absent_parameter_says_so():
    changes = (ValueChange("params/lr", None, 0.1), ValueChange("params/old", 1, None))

    shown = card(replace(KNOWN, params=changes)).params

    assert [(c.name, c.before, c.after) for c in shown] == [
        ("lr", "not set", "0.1"),
        ("old", "1", "not set"),
    ]


def test_the_band_sums_up_from_the_baseline_to_the_last_that_was_judged():
    summary = summary_of(ladder(KNOWN, FASTER, replace(UNKNOWN, position=2)))

    assert summary is not None
    assert (summary.from_label, summary.to_label) == ("baseline", "decoded ahead")
    assert summary.verdict.headline == "2.0× faster"
    assert summary.biggest_labels == "“decoded ahead”"
    assert summary.throughput == ("160", "320", "examples/s")
    assert summary.quality == ("0.9", "0.9", "")
    assert summary.unjudged == 1


def test_a_finding_that_came_back_did_not_go():
    found = RungFinding("train", "slow", "Slow", "warning", is_primary=True)
    first = replace(KNOWN, findings=FindingChanges(found=(found,)))
    gone = replace(FASTER, findings=FindingChanges(gone=(found,)))
    back = replace(FASTER, position=2, findings=FindingChanges(new=(found,)))

    summary = summary_of(ladder(first, gone))
    assert (summary.gone, summary.had) == (1, 1)
    assert summary_of(ladder(first, gone, back)).gone == 0


def test_a_finding_that_came_on_the_way_and_went_is_none_of_the_baseline():
    found = RungFinding("train", "slow", "Slow", "warning", is_primary=True)
    came = replace(FASTER, findings=FindingChanges(new=(found,)))
    went = replace(FASTER, position=2, findings=FindingChanges(gone=(found,)))

    summary = summary_of(ladder(KNOWN, came, went))

    assert (summary.gone, summary.had) == (0, 0)


def test_no_band_without_a_judged_rung():
    assert summary_of(ladder(KNOWN, UNKNOWN)) is None
    assert summary_of(ladder(KNOWN)) is None


def test_the_band_warns_of_different_machines():
    moved = replace(FASTER, machine=(ValueChange("facts/host", "a", "b"),))

    assert summary_of(ladder(KNOWN, moved)).is_unfair
    assert not summary_of(ladder(KNOWN, FASTER)).is_unfair
