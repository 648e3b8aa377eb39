"""Previews of files with arbitrary content."""

from __future__ import annotations

import json

import pytest

from web.pages.run_files.previews import Kind, figure, is_figure, preview


def show(name, content, *, is_whole=True):
    return preview(name, content, is_whole=is_whole)


def test_text_is_shown_as_text_whatever_it_claims():
    for name in ("notes.txt", "page.html", "picture.svg", "train.py"):
        assert show(name, b"<script>").kind is Kind.TEXT


def test_a_text_that_is_cut_within_a_character_is_shown():
    shown = show("notes.txt", "grün".encode()[:3], is_whole=False)

    assert (shown.text, shown.is_part) == ("gr", True)


def test_of_what_is_cut_whole_lines_are_shown():
    assert show("notes.txt", b"one\ntwo\nthr", is_whole=False).text == "one\ntwo\n"
    assert show("x.csv", b"a,b\n1,2\n3", is_whole=False).rows == (("1", "2"),)
    lines = show("x.json", json.dumps([*range(20_000)]).encode()).text.splitlines()
    assert lines[-1].endswith(",")
    long = "a\n" + "x" * 200
    assert show("x.txt", long.encode(), is_whole=False).text == long


@pytest.mark.parametrize("content", [b"\0", b"\xff\xfe", b"\x80abc", b"PK\x03\x04\0"])
def test_what_is_no_text_is_not_shown(content):
    assert show("x.json", content).kind is Kind.NOTHING


def test_a_table_has_a_header_and_is_bounded():
    content = "a,b\n" + "1,2\n" * 1_000
    shown = show("x.csv", content.encode())

    assert shown.kind is Kind.TABLE
    assert (shown.header, shown.rows[0], shown.is_part) == (
        ("a", "b"),
        ("1", "2"),
        True,
    )
    assert len(shown.rows) == 200
    assert show("x.tsv", b"a\tb\n").header == ("a", "b")
    assert len(show("x.csv", b"," * 10_000).header) == 40


@pytest.mark.parametrize("content", [b"", b'"', b"x" * 200_000, b'"' * 1_001])
def test_what_is_no_table_is_still_shown(content):
    assert show("x.csv", content).kind in (Kind.TEXT, Kind.TABLE)


@pytest.mark.parametrize(
    "content", ["{", "[" * 100_000, "NaN", '"\\ud800"', "1" * 5_000]
)
def test_any_json_is_shown(content):
    assert show("x.json", content.encode()).kind is Kind.TEXT


def test_json_is_set_out_in_lines():
    assert show("x.json", b'{"a":[1]}').text == '{\n  "a": [\n    1\n  ]\n}'


def test_a_figure_is_drawn_as_wide_as_there_is_room():
    content = {"data": [{"type": "bar"}], "layout": {"width": 1e9, "height": 1e9}}
    drawn, note = figure(json.dumps(content).encode())

    assert drawn["data"] == [{"type": "bar"}]
    assert drawn["layout"]["height"] == 1_200
    assert "width" not in drawn["layout"]
    assert note == ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"data": 1}',
        b"[" * 100_000,
        b"\xff",
        b'{"data": [{"type": "surface"}]}',
        b'{"data": [{"type": ["bar"]}]}',
    ],
)
def test_what_is_no_figure_is_said(content):
    drawn, note = figure(content)

    assert drawn == {}
    assert note


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>loss</b><br>of <SUB>1</SUB>", "<b>loss</b><br>of <SUB>1</SUB>"),
        ("%{y}<extra></extra>", "%{y}<extra></extra>"),
        ("a < b", "a &lt; b"),
        (
            "<a href='https://evil.test'>x</a>",
            "&lt;a href='https://evil.test'>x&lt;/a>",
        ),
        ("<A\nhref='//evil.test'>x", "&lt;A\nhref='//evil.test'>x"),
        ("<%{text} href='//evil.test'>", "&lt;%{text} href='//evil.test'>"),
        ("%{text}<", "%{text}&lt;"),
        ("<script>", "&lt;script>"),
    ],
)
def test_no_text_of_a_figure_is_a_link(text, shown):
    content = {
        "data": [{"type": "bar", "name": text, "x": [text]}],
        "layout": {"title": {"text": text}},
    }

    drawn, _ = figure(json.dumps(content).encode())

    assert drawn["data"] == [{"type": "bar", "name": shown, "x": [shown]}]
    assert drawn["layout"]["title"] == {"text": shown}


def test_a_figure_is_known_by_its_type_or_its_name():
    assert is_figure("x", "application/vnd.plotly.v1+json")
    assert is_figure("X.Plotly.JSON", "")
    assert not is_figure("x.json", "application/json")


def test_a_notebook_is_its_cells():
    notebook = b'{"cells": [{"cell_type": "code", "source": "fit()", "outputs": []}]}'

    shown = preview("train.ipynb", notebook, is_whole=True)

    assert (shown.kind, "fit()" in shown.text) == (Kind.TEXT, True)
    assert "cell_type" not in shown.text
    assert "cell_type" in preview("other.json", notebook, is_whole=True).text
