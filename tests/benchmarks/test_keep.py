"""What is kept of a benchmark: sections of a page, each replaced by its own command."""

from __future__ import annotations

import pytest

from benchmarks import keep
from benchmarks.faults.case import commit
from benchmarks.keep import has_table, head, renewed, tidy, with_section

PAGE = """# Figures

What is measured.

## `python -m benchmarks.b`

22 November 2026.

| a |
| - |
"""


def test_a_section_is_replaced_and_the_others_stay():
    page = with_section(PAGE, "`python -m benchmarks.a`", "first\n")
    page = with_section(page, "`python -m benchmarks.b`", "anew")

    assert page == (
        "# Figures\n\nWhat is measured.\n\n"
        "## `python -m benchmarks.a`\n\nfirst\n\n"
        "## `python -m benchmarks.b`\n\nanew\n"
    )


def test_keeping_the_same_again_changes_nothing():
    once = with_section(PAGE, "`one`", "| x |\n\n### below\n\n| y |")

    assert with_section(once, "`one`", "| x |\n\n### below\n\n| y |") == once


def test_the_head_of_a_page_is_what_its_benchmark_says_now():
    page = renewed(PAGE, "pages.charts")

    assert page.startswith(head("pages.charts"))
    assert page.endswith(
        "## `python -m benchmarks.b`\n\n22 November 2026.\n\n| a |\n| - |\n"
    )
    assert renewed("# Written otherwise\n\n| a |\n", "pages.charts") == head(
        "pages.charts"
    )


def test_tables_and_sentences_stand_apart_and_headings_lower():
    printed = ["", "2 cores", "| a |", "|---|", "", "", "## More", "said", "| b |"]

    assert list(tidy(printed)) == [
        *("2 cores", "", "| a |", "|---|", "", "### More", "said", "", "| b |")
    ]


def test_what_prints_no_table_has_not_come_to_its_end():
    assert not has_table(["built in 3 s", "Traceback (most recent call last):"])
    assert has_table(["built in 3 s", "| a |"])


def test_a_new_page_says_what_its_benchmark_measures():
    package, module = head("agent_faults"), head("pages.charts")

    assert package.startswith("# Figures of `agent_faults`\n\nShows what the agent")
    assert "in a real browser" in module
    assert "python -m benchmarks.keep pages.charts …" in module


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Where pages are kept, of benchmarks that print a table at once."""
    monkeypatch.setattr(keep, "PAGES", tmp_path)
    monkeypatch.setattr(keep, "run", lambda _command: (0, ["| a |"]))
    return tmp_path


def test_figures_of_another_machine_stand_beside_those_of_the_usual_one(pages):
    keep.main(["monitoring", "--seconds", "9"])
    for _ in range(2):
        keep.main(["--on", "16 cores, one H100", "monitoring", "--seconds", "9"])

    page = (pages / "monitoring.md").read_text("utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## `python -m benchmarks.monitoring --seconds 9`",
        "## `python -m benchmarks.monitoring --seconds 9`, 16 cores, one H100",
    ]


def test_a_copy_without_its_history_is_told_its_commit(pages, monkeypatch):
    monkeypatch.setenv("BENCHMARKS_COMMIT", "0123456789ab")
    keep.main(["monitoring"])

    assert commit() == "0123456789ab"
    assert "commit 0123456789ab." in (pages / "monitoring.md").read_text("utf-8")
