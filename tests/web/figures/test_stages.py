import pytest

from tests.web.figures.plotly_schema import check_schema, numbers
from web.figures.stages import SHORTEST_SHARE, StageBar, stages_figure

BARS = [
    StageBar("preprocess", "finished", 0.0, 4_000.0, "finished, 4 s"),
    StageBar("train · rank 1", "crashed", 4_000.0, 10_000.0, "crashed, 6 s"),
    StageBar("<i>infer</i>", "running", 9_999.0, 9_999.0, "running, 0 s"),
]


@pytest.mark.parametrize("bars", [[], BARS[:1], BARS])
def test_plotly_knows_every_word_of_it(bars):
    check_schema(stages_figure(bars))


def test_each_process_is_a_bar_from_start_to_end():
    (trace,) = stages_figure(BARS)["data"]

    assert numbers(trace["base"]).tolist() == [0, 4_000, 9_999]
    assert numbers(trace["x"])[:2].tolist() == [4_000, 6_000]


def test_the_state_is_in_the_colour_and_in_words():
    (trace,) = stages_figure(BARS)["data"]

    assert "var(--color-crashed)" in trace["marker"]["color"][1]
    assert trace["text"][1] == "crashed, 6 s"


def test_a_bar_of_no_length_is_still_seen():
    (trace,) = stages_figure(BARS)["data"]

    assert numbers(trace["x"])[2] == pytest.approx(10_000 * SHORTEST_SHARE)


def test_without_a_bar_there_is_no_axis_whose_dates_would_be_invented():
    assert not stages_figure([])["layout"]["xaxis"]["visible"]
    assert stages_figure(BARS)["layout"]["xaxis"]["visible"]


def test_a_run_that_took_no_time_at_all_has_its_note_beside_the_bar():
    figure = stages_figure([StageBar("train", "failed", 50.0, 50.0, "failed, 0 ms")])

    (trace,), layout = figure["data"], figure["layout"]
    (note,) = layout["annotations"]
    assert (note["text"], note["x"], note["xanchor"]) == ("failed, 0 ms", 50.0, "left")
    assert numbers(trace["x"])[0] > 0
    assert layout["xaxis"]["range"][0] < 50 < layout["xaxis"]["range"][1]


def test_a_note_stands_where_it_has_most_room():
    bars = [
        StageBar("preprocess", "finished", 0.0, 36.0, "right of it"),
        StageBar("train", "finished", 36.0, 81.0, "inside"),
        StageBar("infer", "finished", 81.0, 100.0, "left of it"),
    ]

    figure = stages_figure(bars)

    assert figure["data"][0]["textposition"] == ["none", "inside", "none"]
    assert [
        (note["text"], note["x"], note["xanchor"])
        for note in figure["layout"]["annotations"]
    ] == [("right of it", 36.0, "left"), ("left of it", 81.0, "right")]


def test_of_a_note_too_long_for_its_place_what_matters_most_is_shown():
    note = "finished, 12 min, GPU 30 %, CPU 46 %"
    bars = [
        StageBar("preprocess", "finished", 0.0, 60.0, note),
        StageBar("train", "finished", 35.0, 65.0, note),
        StageBar("infer", "failed", 36.0, 100.0, "failed, 12 min, GPU 30 %, CPU 46 %"),
    ]

    figure = stages_figure(bars)
    (trace,), (beside,) = figure["data"], figure["layout"]["annotations"]

    assert [trace["text"][0], beside["text"], trace["text"][2]] == [
        "12 min, GPU 30 %, CPU 46 %",
        "12 min, GPU 30 %",
        "failed, 12 min, GPU 30 %",
    ]
    assert (beside["x"], beside["xanchor"]) == (65.0, "left")
    assert trace["hovertext"][0] == note


def test_names_are_shown_letter_for_letter():
    layout = stages_figure(BARS)["layout"]

    assert layout["yaxis"]["ticktext"][2] == "&lt;i&gt;infer&lt;/i&gt;"


def test_very_many_bars_are_lower():
    def height(count):
        bars = [StageBar(f"{n}", "finished", 0.0, 1.0, "") for n in range(count)]
        return stages_figure(bars)["layout"]["height"]

    assert height(50) < 50 * 30
    assert height(51) > height(50)
