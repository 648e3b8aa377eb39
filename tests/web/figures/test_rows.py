import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.rows import (
    LEGEND_LINE,
    LEGEND_PADDING,
    MAX_LEGEND_LINES,
    ROW_HEIGHT,
    TITLE_HEIGHT,
    Frame,
    Reading,
    Row,
    TimeSpan,
    rows_figure,
)

LINE = DrawnLine([1.0, 2.0], steps=[0.0, 1000.0])
BUCKETS = DrawnLine([1.0, 2.0], band=([0.0, 1.0], [5.0, 3.0]))
CORES = Row(
    "CPU cores",
    "cores",
    [Reading("job", [LINE]), Reading("main", [LINE])],
    limit=2,
)
MEMORY = Row("Memory", "GiB", [Reading("job", [BUCKETS], scale=0.5)], top=16)
FRAME = Frame(
    spans=[TimeSpan("preprocess", 0, 400), TimeSpan("<b>train</b>", 400, 1000)],
    window=TimeSpan("not analyzed", 500, 900),
)


@pytest.mark.parametrize("rows", [[], [CORES], [CORES, MEMORY] * 5])
def test_plotly_knows_every_word_of_it(rows):
    check_schema(rows_figure(rows, FRAME))


def test_no_rows_have_no_axes_and_still_say_why():
    figure = rows_figure([], Frame(notes=["CPU use was not measured."]))

    assert figure["layout"]["xaxis"]["visible"] is False
    assert figure["layout"]["yaxis"]["visible"] is False
    assert figure["notes"] == ["CPU use was not measured."]


def test_all_rows_share_one_axis_of_time():
    figure = rows_figure([CORES, MEMORY], FRAME)

    assert {trace["xaxis"] for trace in figure["data"]} == {"x"}
    assert [key for key in figure["layout"] if key.startswith("xaxis")] == ["xaxis"]
    assert figure["layout"]["xaxis"]["anchor"] == "y2"


def test_rows_do_not_overlap_and_the_first_is_on_top():
    layout = rows_figure([CORES, MEMORY, CORES], FRAME)["layout"]

    first, second, third = (
        layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3")
    )
    assert first[1] == 1.0
    assert first[0] > second[1] > second[0] > third[1]
    assert third[0] == pytest.approx(0.0)


def test_stages_and_the_time_that_was_not_judged_are_shaded_and_named():
    layout = rows_figure([CORES], FRAME)["layout"]

    shaded = [(shape["x0"], shape["x1"]) for shape in layout["shapes"][:4]]
    assert shaded == [(0, 400), (400, 1000), (0, 500), (900, 1000)]
    texts = [label["text"] for label in layout["annotations"]]
    assert texts[:3] == ["preprocess", "&lt;b&gt;train&lt;/b&gt;", "not analyzed"]


def test_shades_leave_the_words_between_the_rows_alone():
    frame = Frame(window=TimeSpan("not analyzed", 0, 900))

    shapes = rows_figure([CORES, MEMORY], frame)["layout"]["shapes"]

    assert [(s["x0"], s["x1"], s["yref"]) for s in shapes if s["type"] == "rect"] == [
        (900, 1000, "y domain"),
        (900, 1000, "y2 domain"),
    ]


def test_nothing_is_shaded_where_all_was_judged():
    frame = Frame(window=TimeSpan("not analyzed", 1, 999))

    layout = rows_figure([CORES], frame)["layout"]

    assert "not analyzed" not in [label["text"] for label in layout["annotations"]]


def test_stages_that_began_together_share_a_label():
    frame = Frame(spans=[TimeSpan("b", 10, 900), TimeSpan("a", 0, 1000)])

    texts = [a["text"] for a in rows_figure([MEMORY], frame)["layout"]["annotations"]]

    assert texts[0] == "a, b"


def test_a_limit_is_a_line_in_its_own_row():
    shapes = rows_figure([MEMORY, CORES], Frame())["layout"]["shapes"]

    assert [(shape["y0"], shape["yref"]) for shape in shapes] == [(2, "y2")]


def test_values_are_shown_in_the_unit_of_the_row():
    band, line = rows_figure([MEMORY], FRAME)["data"]

    assert numbers(line["y"]).tolist() == [0.5, 1.0]
    assert numbers(band["y"]).max() == 2.5


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (["step"], 0),
        (["step", "waiting"], 1),
        (["all processes", "container", "host"], 2),
        # In columns as wide as the longest, here a single one.
        (["all processes, rank 0", "main, rank 0", "host", "host"], 4),
        (["all processes, rank 0"] * 40, MAX_LEGEND_LINES),
    ],
)
def test_a_title_stands_above_the_lines_of_its_legend_on_a_narrow_page(names, lines):
    row = Row("Memory", "GiB", [Reading(name, [LINE]) for name in names])

    layout = rows_figure([row], Frame(is_narrow=True))["layout"]

    (title,) = layout["annotations"]
    legend = LEGEND_PADDING + lines * LEGEND_LINE if lines else 0
    assert title["yshift"] == TITLE_HEIGHT + legend
    assert layout["margin"]["t"] > title["yshift"]


def test_a_row_with_a_long_legend_has_more_room_above_it_on_a_narrow_page():
    long = Row("Memory", "GiB", [Reading("all processes, rank 0", [LINE])] * 5)

    layout = rows_figure([MEMORY, long, MEMORY], Frame(is_narrow=True))["layout"]

    margin = layout["margin"]
    height = layout["height"] - margin["t"] - margin["b"]
    first, second, third = (
        layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3")
    )
    legend = LEGEND_PADDING + 5 * LEGEND_LINE
    assert (first[0] - second[1]) * height > legend + TITLE_HEIGHT
    assert (second[0] - third[1]) * height < legend
    assert (second[1] - second[0]) * height == pytest.approx(ROW_HEIGHT)


def test_a_reading_of_several_stages_is_named_once():
    row = Row("CPU", "cores", [Reading("job", [LINE, LINE]), Reading("main", [LINE])])

    figure = rows_figure([row], Frame())

    assert [trace["showlegend"] for trace in figure["data"]] == [True, False, True]


def test_a_single_reading_needs_no_legend():
    assert not any(
        trace["showlegend"] for trace in rows_figure([MEMORY], FRAME)["data"]
    )
