"""Notebooks as text."""

import json

import pytest

from web.pages.run_files.notebooks import MAX_OUTPUT, notebook_text

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "Words."]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBOR"}},
                {"output_type": "execute_result", "data": {"text/plain": ["42"]}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no"},
            ],
        },
    ]
}


def test_cells_follow_each_other_with_what_they_printed():
    text = notebook_text(json.dumps(NOTEBOOK))

    assert text.startswith("# Title\nWords.\n\n")
    assert "In [3]:\nprint(1)" in text
    assert "Out:\n1\n[image/png]\n42\nValueError: no" in text
    assert "iVBOR" not in text


def test_a_long_output_is_cut():
    cell = {"cell_type": "code", "outputs": [{"text": "x" * 2 * MAX_OUTPUT}]}

    assert notebook_text(json.dumps({"cells": [cell]})).count("x") == MAX_OUTPUT


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"cells": 1}', "{" * 100_000, '{"cells": []}', '{"cells": [1]}'],
    ids=["empty", "list", "object", "number", "deep", "none", "no cell"],
)
def test_what_is_no_notebook_is_nothing(content):
    assert notebook_text(content) == ""


@pytest.mark.parametrize("odd", [None, 1, {"a": 1}, [1, None]])
def test_a_cell_may_hold_anything(odd):
    cell = {"cell_type": "code", "source": odd, "outputs": [odd, {"text": odd}]}

    assert "In [ ]:" in notebook_text(json.dumps({"cells": [cell]}))
