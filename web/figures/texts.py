"""Translated texts of figures.

Figures import no framework: the translation function is set when the pages are set up.
Without it, as in tests, texts stay English.
"""

from __future__ import annotations

from typing import Protocol


class Translator(Protocol):
    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, singular: str, plural: str, number: float, /) -> str: ...


class _AsWritten:
    def gettext(self, message: str, /) -> str:
        return message

    def ngettext(self, singular: str, plural: str, number: float, /) -> str:
        return singular if number == 1 else plural


_translators: list[Translator] = [_AsWritten()]


def translate_with(translator: Translator) -> None:
    """Set the translation function for all texts of figures."""
    _translators[-1] = translator


def gettext(message: str) -> str:
    return _translators[-1].gettext(message)


def ngettext(singular: str, plural: str, number: float) -> str:
    return _translators[-1].ngettext(singular, plural, number)


def gettext_noop(message: str) -> str:
    """Mark a constant for translation; `gettext` translates it when it is shown."""
    return message
