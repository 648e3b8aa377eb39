"""The English texts of the tracker, such as those of diagnoses."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Minimum number of letters outside of placeholders in a pattern.
MIN_LETTERS = 8


@cache
def tracker_texts() -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the texts in the code of tracker and agent; with values in them, patterns."""
    plain, patterns = set(), set()
    for folder in ("tracker", "agent"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    plain.add(" ".join(node.value.split()))
                elif isinstance(node, ast.JoinedStr):
                    patterns.add(_pattern(node))
    return plain, [re.compile(each, re.DOTALL) for each in patterns - {""}]


def _pattern(node: ast.JoinedStr) -> str:
    parts = [
        part.value if isinstance(part, ast.Constant) else None for part in node.values
    ]
    own = sum(letter.isalpha() for part in parts if part for letter in part)
    if own < MIN_LETTERS:
        return ""
    return "".join(".*" if part is None else re.escape(part) for part in parts)
