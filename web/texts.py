"""Constants that are translated when they are shown."""

from __future__ import annotations

from typing import cast

from django.utils import translation


def gettext_lazy(message: str) -> str:
    """Mark a constant text for translation, which happens each time it is shown.

    Templates and sentences accept it as a string. For JSON, convert it with `str`.
    """
    return cast(str, translation.gettext_lazy(message))
