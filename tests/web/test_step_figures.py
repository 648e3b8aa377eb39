"""The figures of a stage's steps."""

from dataclasses import replace

from tests.web.test_rung_cards import STEP
from web.step_figures import StepFigures


def test_throughput_fits_the_step_time_beside_it():
    shown = StepFigures(replace(STEP, mean_step_seconds=0.1, median_step_seconds=0.09))

    assert (shown.throughput, shown.throughput_unit) == ("160", "examples/s")
    assert (shown.step_time, shown.median) == ("100 ms", "median 90 ms")
    assert shown.batch == "16 examples"


def test_steps_are_counted_where_examples_are_not():
    shown = StepFigures(replace(STEP, examples_per_step=None))

    assert (shown.throughput, shown.throughput_unit) == ("10", "steps/s")
    assert shown.batch == ""


def test_what_was_not_measured_is_unknown():
    shown = StepFigures(None)

    assert {shown.throughput, shown.step_time, shown.data_wait} == {"–"}
    assert (shown.throughput_unit, shown.median, shown.batch) == ("", "", "")
