"""Finds paths by a part of them or by a regular expression (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext

from tracker.patterns import LONGEST, BadPattern, matcher


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
        matches = matcher(text)
    except BadPattern as error:
        return Found([], str(error) or gettext("syntax error"))
    return Found([path for path in paths if matches(path)])
