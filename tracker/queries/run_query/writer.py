"""Converts values to the text of a query, as the parser reads it (pure)."""

from __future__ import annotations

import math
import re

from tracker.queries.run_query.meaning import RUN_FIELDS
from tracker.queries.run_query.parser import KEYWORDS

WORD = re.compile(r"[^\W\d][\w./-]*")


def written_path(path: str) -> str:
    is_taken = path.lower() in KEYWORDS or path in RUN_FIELDS
    return path if WORD.fullmatch(path) and not is_taken else written_text(path)


def written_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def written_number(number: float) -> str:
    """Return the text of a number other than NaN, which equals nothing."""
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return repr(number)
