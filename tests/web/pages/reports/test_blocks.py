"""The few lines in a report that are a widget."""

from __future__ import annotations

from contextlib import suppress
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tracker.boards.board import Place, RunSet, Widget
from tracker.errors import InvalidInput
from web.markdown import blocks_of
from web.pages.reports.blocks import key_of, read_block, written
from web.widgets import KINDS

CHART = """\
widget: chart
title: How it went
metrics: train/loss
metrics: val/loss
axis: time
log: yes
smoothing: 0.5
query: tags contains "dali"
order: -path:accuracy
first: 3
height: 6
"""
storable = some.text(
    some.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60
)
# Paths and titles are stripped of surrounding whitespace.
names = storable.map(str.strip).filter(bool)


def test_a_block_says_all_of_a_widget():
    block = read_block(CHART, KINDS)

    assert block.widget == Widget(
        id=key_of(CHART),
        kind="chart",
        title="How it went",
        place=Place(width=12, height=6),
        settings={
            "metrics": ["train/loss", "val/loss"],
            "axis": "time",
            "log": True,
            "smoothing": 0.5,
        },
    )
    assert block.run_set == RunSet(
        query='tags contains "dali"', order="-path:accuracy", first=3
    )


def test_runs_can_be_those_of_a_view():
    view, kind = uuid4(), KINDS["ledger"]
    text = f"widget: ledger\nview: {view}\nfirst: 5\n"

    block = read_block(text, KINDS)

    assert block.run_set == RunSet(view=view, first=5)
    assert written(block.widget, block.run_set, kind) == text


def test_runs_can_be_of_several_projects():
    text = "widget: ledger\nproject: vision\nproject: speech\nquery: a > 1\nfirst: 5\n"

    block = read_block(text, KINDS)

    expected = RunSet(projects=("vision", "speech"), query="a > 1", first=5)
    assert block.run_set == expected
    assert written(block.widget, block.run_set, KINDS["ledger"]) == text


def test_runs_can_be_named_one_by_one():
    ids = (uuid4(), uuid4())
    text = "widget: ledger\n" + "".join(f"run: {run_id}\n" for run_id in ids)

    assert read_block(text, KINDS).run_set.runs == ids


@given(
    titles=storable.map(str.strip),
    metrics=some.lists(names, min_size=1, max_size=4),
    query=storable.map(str.strip),
    ids=some.none() | some.lists(some.uuids(), max_size=3),
)
def test_whatever_a_dialog_writes_is_read_back(titles, metrics, query, ids):
    run_set = RunSet(query=query) if ids is None else RunSet(runs=tuple(ids))
    widget = Widget(
        id="0" * 8,
        kind="chart",
        title=titles,
        place=Place(width=12, height=5),
        settings={
            "metrics": metrics,
            "group": "params/lr",
            "x_high": 0.5,
            "y_low": 0.0,
            "points": "only",
        },
    )

    text = written(widget, run_set, KINDS["chart"])
    block = read_block(text, KINDS)

    assert block.widget.title == titles
    assert block.widget.settings == widget.settings
    assert block.widget.place.height == 5
    assert block.run_set == run_set
    assert blocks_of(f"before\n\n```seamark\n{text}```\n\nafter") == [text]


def test_the_same_text_has_the_same_key():
    assert key_of(CHART) == key_of(CHART + "\n")
    assert key_of(CHART) != key_of(CHART.replace("0.5", "0.6"))


WRONG = {
    "no widget": ("metrics: a\n", "widget must be one of"),
    "an unknown widget": ("widget: film\n", "widget must be one of"),
    "text, which the report is": ("widget: text\ntext: x\n", "widget must be one of"),
    "a line that is none": ("widget: chart\nmetrics\n", "a name, a colon"),
    "a name that is none": (
        "widget: chart\ncolour: red\n",
        "“colour” is not a setting",
    ),
    "no metric": ("widget: chart\n", "Metrics must not be empty"),
    "a wrong number": (
        "widget: chart\nmetrics: a\nsmoothing: 7\n",
        "Smoothing must be a number",
    ),
    "a wrong choice": ("widget: chart\nmetrics: a\naxis: up\n", "axis"),
    "a wrong count": ("widget: ledger\nfirst: many\n", "first"),
    "a wrong run": ("widget: ledger\nrun: baseline\n", "run"),
    "a wrong height": ("widget: ledger\nheight: tall\n", "height"),
    "too much": ("widget: chart\n" + "metrics: a\n" * 300, "at most 200 lines"),
}


@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(text, why):
    with pytest.raises(InvalidInput, match=why):
        read_block(text, KINDS)


@given(some.text())
def test_any_text_is_read_or_refused(text):
    with suppress(InvalidInput):
        read_block(text, KINDS)
