"""The way to the OpenID Connect provider and back."""

from __future__ import annotations

from urllib.parse import urlsplit

from allauth.socialaccount.providers.oauth2.views import (
    OAuth2CallbackView,
    OAuth2LoginView,
)
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET

from web.sign_in.single_sign_on import Endpoints


@require_GET
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send the browser to the provider."""
    _require_provider()
    if _host(f"//{request.get_host()}") != _host(settings.PUBLIC_URL):
        # The provider sends browsers back there, so the session must start there.
        return HttpResponseRedirect(settings.PUBLIC_URL + request.get_full_path())
    view = OAuth2LoginView.adapter_view(Endpoints(request, provider_id))
    response: HttpResponse = view(request)
    return response


@require_GET
def complete(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in the user returned by the provider."""
    _require_provider()
    view = OAuth2CallbackView.adapter_view(Endpoints(request, provider_id))
    response: HttpResponse = view(request)
    return response


def _host(url: str) -> str | None:
    # Without the port, which some proxies leave out.
    return urlsplit(url).hostname


def _require_provider() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404
