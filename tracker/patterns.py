"""Regular expressions of users, matched by RE2 (pure).

RE2 takes time in proportion to the text, whatever the expression: `(a+)+$` blocks no
server (docs/decisions/query-language.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import re2

LONGEST = 1_024
# The size of a compiled expression, such as (.{1000}){1000}.
MAX_BYTES = 1024 * 1024
# Compiled expressions per process; an SQLite statement looks one up per row.
CACHED = 64

Matcher: TypeAlias = Callable[[str], object]


class BadPattern(Exception):
    """RE2 rejects the expression; the message is RE2's reason, or empty."""


@lru_cache(CACHED)
def matcher(pattern: str) -> Matcher:
    """Return a function that searches a text, ignoring case; raise BadPattern."""
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MAX_BYTES
    # RE2 would print the error on the server's standard error.
    options.log_errors = False
    try:
        search: Matcher = re2.compile(pattern, options=options).search
    except re2.error as error:
        raise BadPattern(_reason(error)) from error
    return search


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
