"""Holds docs/expectations.md to the rules and pages that there are.

python -m tests.documentation.test_expectations writes it anew.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.documentation.expectations import COUNTS, EXPECTATIONS, Expectation
from tracker.diagnosis.rules import RULES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "expectations.md"
NOTICE = (
    "<!-- Written by `python -m tests.documentation.test_expectations`;"
    " change tests/documentation/expectations.py instead. -->"
)
BY_NUMBER = {f"{rule.group}{rule.number}": rule for rule in RULES}

ALL = [expectation for some in EXPECTATIONS.values() for expectation in some]


def test_every_expectation_is_answered():
    for expected in ALL:
        assert expected.rules or expected.pages, expected.number
        assert set(expected.rules) <= BY_NUMBER.keys(), expected.number
        assert all((DOCS / page).is_file() for page in expected.pages), expected.number


def test_no_expectation_is_missing():
    counts = Counter(expected.number[0] for expected in ALL)

    assert dict(counts) == COUNTS
    assert len({expected.number for expected in ALL}) == len(ALL)


def test_the_page_says_so():
    assert PAGE.read_text("utf-8") == page()


def page() -> str:
    parts = [
        NOTICE,
        "# What people expect of a diagnosis, and what answers it",
        "Collected from published guides on using GPUs in training and inference.",
    ]
    for title, some in EXPECTATIONS.items():
        rows = "\n".join(_row(expected) for expected in some)
        head = "| | expectation | answered by |\n|---|---|---|"
        parts += [f"## {title}", f"{head}\n{rows}"]
    return "\n\n".join(parts) + "\n"


def _row(expected: Expectation) -> str:
    links = [
        f"[{BY_NUMBER[number].title}](diagnoses/{BY_NUMBER[number].name}.md)"
        for number in expected.rules
    ]
    links += [f"[{_title(page)}]({page})" for page in expected.pages]
    return f"| {expected.number} | {expected.statement} | {' · '.join(links)} |"


def _title(page: str) -> str:
    first = (DOCS / page).read_text("utf-8").lstrip().splitlines()[0]
    return first.removeprefix("# ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
