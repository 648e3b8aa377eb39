"""Language of a page: the first supported one of the browser's list, else English.

A language is a folder of `web/locale` with compiled messages. Without one, this module
does nothing: answers do not vary by language, and pages load no messages.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.urls import reverse
from django.utils import translation

FOLDER = Path(__file__).parent / "locale"
# Addresses for programs, and files that are equal in all languages.
IN_NO_LANGUAGE = ("/api/", "/static/", "/livez", "/readyz")
VERSION_CHARACTERS = 12


class Languages(LocaleMiddleware):
    """Django's own, for pages alone, and only if there is something to choose from."""

    def __init__(self, *arguments: object) -> None:
        if not settings.USE_I18N:
            raise MiddlewareNotUsed
        super().__init__(*arguments)  # type: ignore[arg-type] # handed on as they are

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(IN_NO_LANGUAGE):
            # The thread may still have the language of its last page.
            translation.activate(settings.LANGUAGE_CODE)
        else:
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path_info.startswith(IN_NO_LANGUAGE):
            return response
        return super().process_response(request, response)


@cache
def version() -> str:
    """Return a digest of all translations, found once by each process."""
    digest = hashlib.sha256()
    for file in sorted(FOLDER.glob("*/LC_MESSAGES/*.mo")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:VERSION_CHARACTERS]


def script_address() -> str:
    """Return where a page's scripts find their texts; "" for those they are written in."""
    language = translation.get_language()
    if language == settings.LANGUAGE_CODE:
        return ""
    return reverse("texts", kwargs={"language": language, "version": version()})
