"""Constants that are translated when they are shown."""

from __future__ import annotations

from typing import cast

from django.utils import translation


def gettext_lazy(message: str) -> str:
    """Mark a text of a constant; it is told anew wherever it is shown.

    Templates and sentences take it for a text. JSON does not: `str` makes it one.
    """
    return cast(str, translation.gettext_lazy(message))
