"""The figures of a stage's steps."""

from dataclasses import replace

from tests.diagnoses import diagnosis
from tests.web.pages.ladders.test_step_cards import STEP
from web.pages.run.step_figures import StepFigures, of_breakdown, of_diagnosis


def test_throughput_fits_the_step_time_beside_it():
    shown = of_breakdown(replace(STEP, mean_step_seconds=0.1, median_step_seconds=0.09))

    assert (shown.throughput, shown.throughput_unit) == ("160", "examples/s")
    assert (shown.step_time, shown.median) == ("100 ms", "median 90 ms")
    assert shown.batch == "16 examples"


def test_steps_are_counted_where_examples_are_not():
    shown = of_breakdown(replace(STEP, examples_per_step=None))

    assert (shown.throughput, shown.throughput_unit) == ("10", "steps/s")
    assert shown.batch == ""


def test_what_was_not_measured_is_unknown():
    shown = of_breakdown(None)

    assert {shown.throughput, shown.step_time, shown.data_wait} == {"–"}
    assert (shown.throughput_unit, shown.median, shown.batch) == ("", "", "")


def test_what_a_diagnosis_kept_reads_like_a_breakdown():
    kept = replace(
        diagnosis(),
        steps_per_second=10.0,
        examples_per_second=160.0,
        median_step_seconds=0.09,
        data_wait_share=0.62,
    )

    shown = of_diagnosis(kept)

    assert shown is not None
    assert (shown.throughput, shown.throughput_unit) == ("160", "examples/s")
    assert (shown.step_time, shown.median) == ("100 ms", "median 90 ms")
    assert (shown.batch, shown.data_wait) == ("16 examples", "62 %")


def test_a_diagnosis_of_an_older_version_tells_what_it_kept():
    shown = of_diagnosis(replace(diagnosis(), steps_per_second=10.0))

    assert shown == StepFigures(steps_per_second=10.0, mean_seconds=0.1)
    assert (shown.median, shown.data_wait) == ("", "–")
    assert of_diagnosis(diagnosis()) is None
