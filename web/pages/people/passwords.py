"""Resetting and changing passwords: allauth's flows with our templates."""

from __future__ import annotations

from typing import Any

from allauth.account.views import (
    PasswordChangeView,
    PasswordResetDoneView,
    PasswordResetFromKeyView,
    PasswordResetView,
    PasswordSetView,
)
from django.urls import reverse_lazy
from django.views.decorators.http import require_safe

from tracker.actions.people.mail import can_mail
from web.pages.people.sign_in import form_methods


class ForgotPasswordView(PasswordResetView):
    template_name = "people/forgot_password.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "can_mail": can_mail()}


class ResetPasswordView(PasswordResetFromKeyView):
    template_name = "people/reset_password.html"
    success_url = reverse_lazy("sign-in")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "can_mail": can_mail()}


forgot_password = form_methods(ForgotPasswordView.as_view())
reset_sent = require_safe(
    PasswordResetDoneView.as_view(template_name="people/reset_sent.html")
)
reset_password = form_methods(ResetPasswordView.as_view())
change_password = form_methods(
    PasswordChangeView.as_view(
        template_name="people/password.html", extra_context={"tab": "security"}
    )
)
set_password = form_methods(
    PasswordSetView.as_view(
        template_name="people/password.html", extra_context={"tab": "security"}
    )
)
