"""Gives the pages other languages for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from pathlib import Path
from typing import Any

from django.test import override_settings
from django.utils import translation
from django.utils.translation import trans_real
from django.utils.translation.trans_real import CONTEXT_SEPARATOR

ENGLISH = ("en", "English")
# A language that Django supports and we have no catalog for.
MADE_UP = "eo"
OPENING, CLOSING = "⟦", "⟧"


@contextmanager
def languages(*codes: str, folder: Path | None = None) -> Iterator[None]:
    """Add these languages, from compiled texts in an optional folder."""
    paths: list[Path] = [] if folder is None else [folder]
    others = [(code, code) for code in codes]
    with override_settings(
        USE_I18N=bool(codes), LANGUAGES=[ENGLISH, *others], LOCALE_PATHS=paths
    ):
        # Django decides once for each process whether texts are looked up.
        vars(translation._trans).clear()
        try:
            yield
        finally:
            translation.activate(ENGLISH[0])
    vars(translation._trans).clear()


class Bracketed(NullTranslations):
    """A language in which every text is itself in brackets."""

    def __init__(self) -> None:
        super().__init__()
        self._catalog: dict[Any, str] = {}

    def gettext(self, message: str) -> str:
        return f"{OPENING}{message.rsplit(CONTEXT_SEPARATOR, maxsplit=1)[-1]}{CLOSING}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def to_language(self) -> str:
        return MADE_UP


@contextmanager
def brackets() -> Iterator[None]:
    """Activate the language of brackets for requests that accept it."""
    with languages(MADE_UP):
        trans_real._translations[MADE_UP] = Bracketed()
        yield
