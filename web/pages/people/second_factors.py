"""Authenticator apps, passkeys and recovery codes: allauth's flows, our templates."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.base.views import ReauthenticateView as CodeReauthenticateView
from allauth.mfa.recovery_codes.views import (
    GenerateRecoveryCodesView,
    ViewRecoveryCodesView,
)
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse_lazy
from django.views.decorators.http import require_safe

from tracker.queries.people.accounts import is_connected
from web.pages.people.sign_in import form_methods
from web.texts import gettext_lazy

SECURITY = {"tab": "security"}


def passkeys_work(request: HttpRequest) -> bool:
    """Return whether browsers allow passkeys here: they belong to a host name."""
    host = urlsplit(f"//{request.get_host()}").hostname or ""
    if host == "localhost":
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return request.is_secure()
    return False


class SecurityView(IndexView):
    template_name = "people/security.html"
    extra_context = SECURITY

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {
            **context,
            "passkeys_work": passkeys_work(self.request),
            "provider_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
            "is_connected": is_connected(self.request.user.pk),
        }


class CodesView(ViewRecoveryCodesView):
    template_name = "people/recovery_codes.html"
    extra_context = SECURITY

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "codes": "\n".join(context["unused_codes"])}


security = require_safe(SecurityView.as_view())
ask_second_factor = form_methods(
    AuthenticateView.as_view(template_name="people/second_factor.html")
)
confirm_password = form_methods(
    ReauthenticateView.as_view(template_name="people/confirm.html")
)
confirm_code = form_methods(
    CodeReauthenticateView.as_view(template_name="people/confirm.html")
)
confirm_passkey = form_methods(
    ReauthenticateWebAuthnView.as_view(template_name="people/confirm.html")
)
add_app = form_methods(
    ActivateTOTPView.as_view(
        template_name="people/add_app.html", extra_context=SECURITY
    )
)
remove_app = form_methods(
    DeactivateTOTPView.as_view(
        template_name="people/confirm_change.html",
        extra_context={
            **SECURITY,
            "question": gettext_lazy("Remove the authenticator app?"),
            "consequence": gettext_lazy("Sign-in no longer asks for a code."),
            "button": gettext_lazy("Remove app"),
        },
    )
)
add_passkey = form_methods(
    AddWebAuthnView.as_view(
        template_name="people/add_passkey.html", extra_context=SECURITY
    )
)
remove_passkey = form_methods(
    RemoveWebAuthnView.as_view(
        template_name="people/confirm_change.html",
        success_url=reverse_lazy("mfa_index"),
        extra_context={
            **SECURITY,
            "question": gettext_lazy("Remove this passkey?"),
            "consequence": gettext_lazy("You can no longer sign in with it."),
            "button": gettext_lazy("Remove passkey"),
        },
    )
)
sign_in_with_passkey = form_methods(LoginWebAuthnView.as_view())
recovery_codes = require_safe(CodesView.as_view())
replace_codes = form_methods(
    GenerateRecoveryCodesView.as_view(
        template_name="people/confirm_change.html",
        extra_context={
            **SECURITY,
            "question": gettext_lazy("Replace the recovery codes?"),
            "consequence": gettext_lazy("Your current codes stop working."),
            "button": gettext_lazy("Replace codes"),
        },
    )
)
