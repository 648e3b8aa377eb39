"""Series of several runs in one chart."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from web.figures.comparison import (
    MOST_HOVERED_TOGETHER,
    MOST_WITH_BANDS,
    overlay_figure,
)
from web.figures.series import NamedLine


@dataclass(frozen=True)
class Line:
    path: str = "train/loss"
    x: np.ndarray = field(default_factory=lambda: np.arange(3.0))
    mean: np.ndarray = field(default_factory=lambda: np.array([3.0, 2.0, 1.0]))
    exact: bool = True

    @property
    def minimum(self) -> np.ndarray:
        return self.mean

    maximum = minimum


def test_every_run_has_its_colour_and_its_name_on_hover():
    figure = overlay_figure([NamedLine(Line(), "a", 0), NamedLine(Line(), "b", 3)])

    assert [trace["name"] for trace in figure["data"]] == ["a", "b"]
    assert [trace["line"]["color"] for trace in figure["data"]] == [
        "var(--run-0)",
        "var(--run-3)",
    ]
    assert all("<extra>" not in trace["hovertemplate"] for trace in figure["data"])


def test_lines_of_a_run_are_known_by_its_slot_whatever_else_is_drawn():
    def known(*slots: int, **options) -> list[str | None]:
        lines = [NamedLine(Line(exact=False), "same", slot) for slot in slots]
        return [trace.get("uid") for trace in overlay_figure(lines, **options)["data"]]

    assert known(0, 12) == ["run0-0", "run0-1", "run12-0", "run12-1"]
    assert known(12, smoothing=0.6) == ["run12-0", "run12-1", "run12-2"]
    # Lines of several runs are of none.
    assert set(known(0, 1, legend=True)) == {None}


def test_bands_of_many_runs_are_left_to_the_hover():
    def drawn(count: int) -> list[str]:
        lines = [NamedLine(Line(exact=False), f"{n}", n) for n in range(count)]
        return [trace.get("fill", "") for trace in overlay_figure(lines)["data"]]

    assert drawn(MOST_WITH_BANDS).count("toself") == MOST_WITH_BANDS
    assert drawn(MOST_WITH_BANDS + 1) == [""] * (MOST_WITH_BANDS + 1)


def test_the_legend_is_the_page_s():
    figure = overlay_figure([NamedLine(Line(), "a", 0)])

    assert figure["layout"]["showlegend"] is False


def test_few_runs_are_read_together_and_of_many_the_nearest():
    lines = [NamedLine(Line(), f"run {n}", n) for n in range(MOST_HOVERED_TOGETHER + 1)]

    few = overlay_figure(lines[:-1])
    many = overlay_figure(lines)

    assert few["layout"]["hovermode"] == "x unified"
    assert "%{x}" not in few["data"][0]["hovertemplate"]
    assert many["layout"]["hovermode"] == "closest"
    assert many["data"][0]["hovertemplate"].endswith("<br>step %{x}")


def test_a_colour_used_twice_is_dashed_the_second_time():
    figure = overlay_figure([NamedLine(Line(), "a", 1), NamedLine(Line(), "b", 11)])

    first, second = (trace["line"] for trace in figure["data"])
    assert first["color"] == second["color"]
    assert (first["dash"], second["dash"]) == ("solid", "dash")
