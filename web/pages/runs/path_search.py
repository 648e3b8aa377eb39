"""Finds paths by a part of them or by a regular expression (pure).

RE2 takes time in proportion to the text, whatever the expression: `(a+)+$` holds up
nobody (docs/decisions/query-language.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import re2
from django.utils.translation import gettext

LONGEST = 1_024
# What an expression may grow to once it is compiled, such as (.{1000}){1000}.
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """The matching paths, or the error of the expression."""

    paths: list[str]
    mistake: str = ""


def find_paths(paths: Iterable[str], text: str, *, is_regex: bool) -> Found:
    """Find paths that contain the text or match the expression, ignoring case."""
    if len(text) > LONGEST:
        return Found(
            [], gettext("longer than %(count)s characters") % {"count": f"{LONGEST:,}"}
        )
    if not is_regex:
        wanted = text.casefold()
        return Found([path for path in paths if wanted in path.casefold()])
    try:
        matches = _matcher(text)
    except re2.error as error:
        return Found([], _said(error))
    return Found([path for path in paths if matches(path)])


def _matcher(text: str) -> Callable[[str], object]:
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MAX_BYTES
    # It would say so on the server's standard error.
    options.log_errors = False
    search: Callable[[str], object] = re2.compile(text, options=options).search
    return search


def _said(error: Exception) -> str:
    (said, *_) = error.args or (gettext("not an expression"),)
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
