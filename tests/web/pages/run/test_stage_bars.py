"""The bars of a run's stages."""

from tests.web.stage_rows import MINUTE, NOW, process_row, stage_row
from web.pages.run.stage_bars import MAX_PROCESS_BARS, milliseconds, stage_bars


def test_the_first_process_says_how_busy_the_stage_was():
    stage = stage_row("train", process_row(0), process_row(1), gpu_percent=30.0)

    first, second = stage_bars([stage])

    assert (first.name, first.note) == (
        "train · rank 0",
        "finished, 1 min, GPU idle 70 %",
    )
    assert second.note == "finished, 1 min"


def test_very_many_processes_are_one_bar_that_counts_them():
    late = NOW + 2 * MINUTE
    ranks = [process_row(rank) for rank in range(MAX_PROCESS_BARS)]
    crashed = process_row(8, state="crashed", last_known=late)

    (bar,) = stage_bars([stage_row("train", *ranks, crashed)])

    assert (bar.name, bar.note) == ("train × 9", "finished, 2 min, 1 crashed")
    assert (bar.start, bar.end) == (milliseconds(NOW), milliseconds(late))


def test_a_stage_without_processes_has_no_bar():
    stage = stage_row("train", processes=())

    assert stage_bars([stage]) == []


def test_processes_of_one_rank_are_attempts():
    stage = stage_row("train", process_row(0), process_row(0))

    assert [bar.name for bar in stage_bars([stage])] == [
        "train · attempt 1",
        "train · attempt 2",
    ]
