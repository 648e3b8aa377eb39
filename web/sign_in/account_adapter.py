"""Seamark's rules for django-allauth: texts, mail, addresses, sign-in permission."""

from __future__ import annotations

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from tracker.actions.people.audit import Action, note
from tracker.actions.people.mail import queue_mail
from tracker.queries.people.accounts import is_service_account, known_login
from tracker.queries.people.sessions import device_of
from tracker.server.client_address import NO_ADDRESS, client_address
from web.sign_in.activity import NOT_SIGNED_IN, note_sign_in
from web.texts import gettext_lazy
from web.toasts import tell

TOO_MANY = gettext_lazy("Too many attempts. Wait five minutes and try again.")
# By the name of allauth's template: the mail and the change that it reports.
MAILS = {
    "account/email/password_reset_key": ("password_reset", ""),
    "account/email/password_changed": ("account_changed", "password-changed"),
    "account/email/password_reset": ("account_changed", "password-changed"),
    "account/email/password_set": ("account_changed", "password-set"),
    "mfa/email/totp_activated": ("account_changed", "app-added"),
    "mfa/email/totp_deactivated": ("account_changed", "app-removed"),
    "mfa/email/webauthn_added": ("account_changed", "passkey-added"),
    "mfa/email/webauthn_removed": ("account_changed", "passkey-removed"),
    "mfa/email/recovery_codes_generated": ("account_changed", "codes-replaced"),
    "socialaccount/email/account_connected": ("account_changed", "provider-added"),
}
TOASTS = {
    "account/messages/password_changed.txt": gettext_lazy("Password changed."),
    "account/messages/password_set.txt": gettext_lazy("Password set."),
    "socialaccount/messages/account_connected.txt": gettext_lazy(
        "Identity provider connected."
    ),
    "socialaccount/messages/account_connected_other.txt": gettext_lazy(
        "This identity is already connected to another account."
    ),
    "mfa/messages/totp_activated.txt": gettext_lazy("Authenticator app added."),
    "mfa/messages/totp_deactivated.txt": gettext_lazy("Authenticator app removed."),
    "mfa/messages/webauthn_added.txt": gettext_lazy("Passkey added."),
    "mfa/messages/webauthn_removed.txt": gettext_lazy("Passkey removed."),
}


class AccountAdapter(DefaultAccountAdapter):
    error_messages: ClassVar = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": gettext_lazy("Wrong email address or password."),
        "username_password_mismatch": gettext_lazy("Wrong email address or password."),
        "invalid_login": gettext_lazy("Wrong email address or password."),
        "enter_current_password": gettext_lazy("Wrong password."),
        "incorrect_password": gettext_lazy("Wrong password."),
        "incorrect_code": gettext_lazy("Wrong or expired code."),
        "too_many_login_attempts": TOO_MANY,
        "rate_limited": TOO_MANY,
    }

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or NO_ADDRESS

    def pre_login(
        self, request: HttpRequest, user: Any, **kwargs: Any
    ) -> HttpResponse | None:
        refusal: HttpResponse | None = super().pre_login(request, user, **kwargs)
        if refusal is None and is_service_account(user.id):
            refusal = self.respond_user_inactive(request, user)
        return refusal

    def post_login(
        self, request: HttpRequest, user: Any, **kwargs: Any
    ) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        records = get_authentication_records(request, user)
        methods = dict.fromkeys(record["method"] for record in records)
        note_sign_in(request, " + ".join(methods))
        return response

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        login = str(credentials.get("email") or credentials.get("username") or "")
        note(
            Action.SIGN_IN_FAILED,
            # People type passwords into the wrong field, so unknown names are not kept.
            known_login(login) or "unknown account",
            actor=NOT_SIGNED_IN,
            address=client_address(request),
        )

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Require reauthentication only from users who have a method for it."""
        return bool(
            super().is_reauthentication_required(app=app, **kwargs)
            and self.get_reauthentication_methods(self.request.user)
        )

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return an address on SEAMARK_URL: the Host header is the client's choice."""
        uid, _, token = key.partition("-")
        return settings.PUBLIC_URL + reverse(
            "account_reset_password_from_key", kwargs={"uidb36": uid, "key": token}
        )

    def get_password_change_redirect_url(self, _request: HttpRequest) -> str:
        return reverse("mfa_index")

    def send_mail(self, template_prefix: str, email: str, context: Any) -> None:
        template, change = MAILS[template_prefix]
        known = ("password_reset_url", "timestamp", "ip")
        shown = {name: context[name] for name in known if name in context}
        if user := context.get("user") or self.request.user:
            shown["name"] = getattr(user, "display_name", "")
        device = device_of(context.get("user_agent", ""))
        queue_mail(email, template, {**shown, "change": change, "device": device})

    def add_message(  # noqa: PLR0917 - allauth's
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        del level, message_context, extra_tags
        if text := message or TOASTS.get(message_template or ""):
            tell(request, str(text))
