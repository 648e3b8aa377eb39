"""The SDK for pip: public, because training machines have no session."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from web.pages.sdk.addresses import install_command, login_command, requirement
from web.pages.sdk.source_archive import source_archive

# Unreleased code can change without a new version, so clients compare ETags.
REVALIDATED = "public, no-cache"


@require_safe
def sdk_page(request: HttpRequest) -> HttpResponse:
    """Show the commands that install the SDK and connect it to this server."""
    context = {
        "archive": source_archive(),
        "install": install_command(),
        "login": login_command(),
        "requirement": requirement(),
    }
    return render(request, "sdk/sdk.html", context)


@require_safe
def sdk_archive(request: HttpRequest, archive: str) -> HttpResponse:
    """Return the source distribution; for another version, 404 with this one's address."""
    ours = source_archive()
    if archive != ours.name:
        sentence = gettext(
            "This server has %(name)s only. Install it with: %(command)s"
        ) % {"name": ours.name, "command": install_command()}
        return HttpResponse(
            f"{sentence}\n",
            status=HTTPStatus.NOT_FOUND,
            content_type="text/plain; charset=utf-8",
        )
    etag = f'"{ours.sha256[:32]}"'
    response = get_conditional_response(request, etag=etag)
    if not isinstance(response, HttpResponse):
        response = HttpResponse(ours.content, content_type="application/gzip")
        response["Content-Disposition"] = f'attachment; filename="{ours.name}"'
    response["ETag"] = etag
    response["Cache-Control"] = REVALIDATED
    return response
