"""The texts of scripts, for pages in another language than scripts are written in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import translation
from django.views.i18n import JavaScriptCatalog

from web.assets import KEPT
from web.languages import version

# A page that is open during an upgrade gets the current file.
KEPT_SHORTLY = "public, max-age=60"


class Texts(JavaScriptCatalog):
    """Django's own, at an address that holds the language and a version of the texts."""

    packages = ["web"]  # noqa: RUF012 - as Django has it

    def get(self, request: HttpRequest, *_: Any, **named: Any) -> HttpResponse:
        if named["language"] not in dict(settings.LANGUAGES):
            raise Http404("There is no such language.")
        with translation.override(named["language"]):
            response = super().get(request)
        is_known = named["version"] == version()
        response["Cache-Control"] = KEPT if is_known else KEPT_SHORTLY
        return response
