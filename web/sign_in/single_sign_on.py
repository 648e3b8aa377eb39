"""Sign-in with an OpenID Connect provider, and the claims that are trusted.

django-allauth implements the protocol (discovery, PKCE, state, tokens). Accounts are
matched by the provider's identifier; by email address only if both sides verified it.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import (
    OpenIDConnectProvider,
)
from allauth.socialaccount.providers.openid_connect.views import (
    OpenIDConnectOAuth2Adapter,
)
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from tracker.actions.people.audit import Action, note
from tracker.actions.people.joining import is_invited
from tracker.actions.people.single_sign_on import (
    create_from_claims,
    role_of_groups,
    take_role,
)
from tracker.errors import InvalidInput
from tracker.queries.people.accounts import account_with_email
from tracker.server.client_address import client_address
from web.sign_in.activity import NOT_SIGNED_IN
from web.texts import gettext_lazy

logger = logging.getLogger(__name__)

REASONS = {
    "no-email": gettext_lazy("Your identity provider sent no email address."),
    "domain": gettext_lazy(
        "Your email domain is not allowed to sign in, or your identity provider has"
        " not verified your address."
    ),
    "group": gettext_lazy("None of your groups gives access to this server."),
    "closed": gettext_lazy(
        "No account has your email address. Ask an owner or admin for an invitation."
    ),
    "taken": gettext_lazy(
        "An account with your email address exists, but the address is not verified on"
        " both sides. Sign in another way, then connect your identity provider under"
        " Security."
    ),
    "service": gettext_lazy("Service accounts cannot sign in."),
}
JOINING = re.compile(r"/join/([^/?#]+)")
GROUP_CLAIMS = ("groups", "roles")


class Endpoints(OpenIDConnectOAuth2Adapter):
    def get_callback_url(self, _request: HttpRequest, _app: Any) -> str:
        """Return an address on SEAMARK_URL, the only one registered at the provider."""
        return callback_url()


class Provider(OpenIDConnectProvider):
    oauth2_adapter_class = Endpoints

    def get_scope(self) -> list[str]:
        """Request groups if the provider supports that scope."""
        endpoints = self.get_oauth2_adapter(self.request)
        offered = endpoints.openid_config.get("scopes_supported", [])
        return [*self.get_default_scope(), *({"groups"} & set(offered))]

    def extract_uid(self, data: Mapping[str, Any]) -> str:
        """Return an identifier of the person that no other issuer's user can have."""
        subjects = {claims["sub"] for claims in _both(data) if "sub" in claims}
        if len(subjects) != 1:
            raise OAuth2Error("the ID token and the user info name different subjects")
        known = f"{settings.OIDC_ISSUER}\0{subjects.pop()}"
        return hashlib.sha256(known.encode()).hexdigest()


class SingleSignOnAdapter(DefaultSocialAccountAdapter):
    def is_open_for_signup(self, _request: HttpRequest, _login: Any) -> bool:
        # pre_social_login has decided.
        return True

    def authenticate_by_email(self, login: Any) -> tuple[Any, str] | None:
        """Find an account whose address both sides verified."""
        for address in login.email_addresses:
            known = EmailAddress.objects.filter(email=address.email, verified=True)
            if address.verified and (row := known.select_related("user").first()):
                return row.user, address.email
        return None

    def pre_social_login(self, request: HttpRequest, login: Any) -> None:
        email, is_verified = _address(login)
        if settings.OIDC_DOMAINS and not (
            is_verified and email.rpartition("@")[2] in settings.OIDC_DOMAINS
        ):
            _refuse(request, "domain", email)
        role = role_of_groups(_groups(login))
        if settings.OIDC_GROUPS and role is None:
            if login.is_existing:
                take_role(login.user, None, address=client_address(request))
            _refuse(request, "group", email)
        if login.state.get("process") == "connect":
            return
        if login.is_existing:
            if login.user.is_service:
                _refuse(request, "service", email)
            if role is not None:
                take_role(login.user, role, address=client_address(request))
        else:
            _require_new(request, login)

    def save_user(self, request: HttpRequest, login: Any, form: object = None) -> Any:
        del form
        email, is_verified = _address(login)
        name = str(_claims(login).get("name") or email.partition("@")[0])
        try:
            login.user = create_from_claims(
                email,
                name,
                is_verified=is_verified,
                role=role_of_groups(_groups(login)),
                address=client_address(request),
            )
        except InvalidInput as error:
            _refuse(request, "taken" if error.field == "email" else "no-email", email)
        login.account.user = login.user
        login.account.save()
        return login.user

    def get_connect_redirect_url(self, _request: HttpRequest, _account: object) -> str:
        return reverse("security")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: object,
        error: object = None,
        exception: Exception | None = None,
        extra_context: object = None,
    ) -> None:
        del provider, extra_context
        logger.warning("single sign-on failed: %s %s", error, exception or "")
        raise ImmediateHttpResponse(_problem(request, ""))


def callback_url() -> str:
    path: str = reverse("openid_connect_callback", kwargs={"provider_id": "oidc"})
    return settings.PUBLIC_URL + path


def _require_new(request: HttpRequest, login: Any) -> None:
    """Refuse unless the provider's user may get an account."""
    email, is_verified = _address(login)
    if not email:
        _refuse(request, "no-email", email)
    if account_with_email(email):
        _refuse(request, "taken", email)
    # Public providers give an account to any person.
    is_closed = not (settings.OIDC_DOMAINS or settings.OIDC_GROUPS)
    if is_closed and not is_invited(_invitation(login), email if is_verified else ""):
        _refuse(request, "closed", email)


def _invitation(login: Any) -> str:
    """Return the secret of the invitation that the sign-in comes from."""
    page = JOINING.fullmatch(login.state.get("next") or "")
    return page[1] if page else ""


def _both(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [data[part] for part in ("userinfo", "id_token") if data.get(part)]


# Any: a login of allauth, which has no types.
def _claims(login: Any) -> dict[str, Any]:
    """Return the claims of the ID token, and over them those of the user info."""
    merged: dict[str, Any] = {}
    for claims in reversed(_both(login.account.extra_data)):
        merged |= claims
    return merged


def _address(login: Any) -> tuple[str, bool]:
    for address in login.email_addresses:
        return address.email.lower(), bool(address.verified)
    return "", False


def _groups(login: Any) -> list[str]:
    claims = _claims(login)
    found: object = next(
        (claims[name] for name in GROUP_CLAIMS if claims.get(name)), []
    )
    if isinstance(found, str):
        return [found]
    return [str(group) for group in found] if isinstance(found, list) else []


def _refuse(request: HttpRequest, code: str, email: str) -> NoReturn:
    note(
        Action.SIGN_IN_FAILED,
        email or "no address",
        actor=NOT_SIGNED_IN,
        address=client_address(request),
        method="single sign-on",
        reason=code,
    )
    raise ImmediateHttpResponse(_problem(request, REASONS[code]))


def _problem(request: HttpRequest, reason: str) -> HttpResponse:
    context = {"reason": reason}
    return render(request, "people/sign_in_problem.html", context, status=403)
