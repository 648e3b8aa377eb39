"""A point for each run."""

from __future__ import annotations

from tests.web.figures.plotly_schema import check_schema, numbers
from web.figures.scatter import LARGEST, SMALLEST, Dimension, ScatterRun, scatter_figure

NONE = Dimension("")


def run(name: str, slot: int | None, x, y, **fields) -> ScatterRun:
    return ScatterRun(name, name, slot, x, y, **fields)


def figure_of(*runs, x="lr", y="loss", size="", colour="", **log):
    figure = scatter_figure(
        runs,
        x=Dimension(x, is_log=log.get("log_x", False)),
        y=Dimension(y),
        size=Dimension(size),
        colour=Dimension(colour),
    )
    check_schema(figure)
    return figure


def test_each_run_has_its_colour_and_names_itself():
    (trace,) = figure_of(run("<b>a</b>", 0, 0.1, 1.0), run("b", 12, 0.2, 2.0))["data"]

    assert trace["marker"]["color"] == ["var(--run-0)", "var(--run-2)"]
    assert trace["marker"]["symbol"] == ["circle", "circle-open"]
    assert trace["text"] == ["&lt;b&gt;a&lt;/b&gt;", "b"]


def test_each_point_says_of_which_run_it_is():
    figure = figure_of(
        run("a", 4, 1.0, 1.0), run("none", 5, None, 1.0), run("o", None, 2.0, 2.0)
    )

    assert figure["point_slots"] == [[None], [4]]


def test_of_many_runs_without_a_place_a_few_are_named():
    (note,) = figure_of(*(run(f"r{n}", n, None, 1.0) for n in range(40)))["notes"]

    assert "r0, r1, r2, r3, r4 and 35 more." in note


def test_other_runs_lie_below_in_grey():
    others, chosen = figure_of(run("a", 0, 1.0, 1.0), run("o", None, 2.0, 2.0))["data"]

    assert others["text"] == ["o"]
    assert "line-strong" in others["marker"]["color"][0]
    assert chosen["text"] == ["a"]


def test_colours_can_tell_a_number_and_sizes_another():
    figure = figure_of(
        run("a", 0, 1.0, 1.0, size=1.0, colour=5.0),
        run("b", 1, 2.0, 2.0, size=9.0, colour=7.0),
        size="gpus",
        colour="acc",
    )
    (trace,) = figure["data"]

    assert numbers(trace["marker"]["color"]).tolist() == [5.0, 7.0]
    assert trace["marker"]["size"] == [SMALLEST, LARGEST]
    assert figure["layout"]["coloraxis"]["colorbar"]["title"]["text"] == "acc"


def test_colours_can_tell_texts_with_a_legend_of_them():
    figure = figure_of(
        run("o", None, 1.0, 1.0, colour="<b>waits"),
        run("a", 3, 1.0, 1.0, colour="<b>waits"),
        run("b", 4, 2.0, 2.0, colour="full"),
        run("c", 5, 3.0, 3.0),
        colour="finding",
    )

    looks = [
        (trace["name"], trace["marker"]["color"], trace["showlegend"], trace["text"])
        for trace in figure["data"]
    ]
    waits, full = "&lt;b&gt;waits", "full"
    assert looks[:3] == [
        (waits, "var(--run-0)", True, ["o"]),
        (waits, "var(--run-0)", False, ["a"]),
        (full, "var(--run-1)", True, ["b"]),
    ]
    assert looks[3][0] == "–"
    assert "line-strong" in looks[3][1]
    assert figure["point_slots"] == [[None], [3], [4], [5]]
    assert figure["layout"]["showlegend"] is True


def test_of_very_many_texts_the_last_share_a_colour():
    runs = [run(f"r{n}", n, 1.0, 1.0, colour=f"text {n:02}") for n in range(13)]

    figure = figure_of(*runs, colour="text")

    assert len(figure["data"]) == 11
    assert figure["data"][-1]["name"] == "3 other values"
    assert figure["data"][-1]["text"] == ["r10", "r11", "r12"]


def test_words_are_places_on_their_axis():
    figure = figure_of(run("a", 0, "adam", 1.0), run("b", 1, "<i>", 2.0))

    assert figure["layout"]["xaxis"]["type"] == "category"
    assert figure["data"][0]["x"] == ["adam", "&lt;i&gt;"]


def test_runs_without_a_place_are_named():
    figure = figure_of(run("a", 0, 1.0, 1.0), run("lost", 1, None, 2.0))

    assert figure["data"][0]["text"] == ["a"]
    assert "lost" in figure["notes"][0]


def test_a_logarithmic_axis_leaves_zero_out():
    figure = figure_of(run("a", 0, 1.0, 1.0), run("zero", 1, 0.0, 2.0), log_x=True)

    assert figure["layout"]["xaxis"]["type"] == "log"
    assert "zero" in figure["notes"][0]


def test_no_run_at_all_is_an_empty_figure():
    assert figure_of()["data"] == []
