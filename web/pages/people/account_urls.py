"""The addresses of signing in and of one's own account."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.people import (
    passwords,
    profile,
    second_factors,
    sessions,
    sign_in,
    single_sign_on,
)

urlpatterns: list[URLPattern] = [
    path("sign-in", sign_in.sign_in, name="sign-in"),
    # Names with an underscore are those that allauth looks up.
    path("sign-in", sign_in.sign_in, name="account_login"),
    path("sign-in/<str:secret>", sign_in.sign_in_link, name="sign-in-link"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("account/deactivated", sign_in.inactive, name="account_inactive"),
    path("account/", profile.profile, name="account"),
    path("account/email/<str:token>", profile.confirm_email, name="confirm-email"),
    path("account/sessions", sessions.sessions, name="sessions"),
    path(
        "account/sessions/end-others",
        sessions.end_other_sessions,
        name="end-other-sessions",
    ),
    path(
        "account/sessions/<int:session_id>/end",
        sessions.end_session,
        name="end-session",
    ),
    path(
        "account/password/forgotten",
        passwords.forgot_password,
        name="account_reset_password",
    ),
    path(
        "account/password/forgotten/sent",
        passwords.reset_sent,
        name="account_reset_password_done",
    ),
    path(
        "account/password/reset/<slug:uidb36>/<str:key>",
        passwords.reset_password,
        name="account_reset_password_from_key",
    ),
    path("account/password", passwords.change_password, name="account_change_password"),
    path("account/password/new", passwords.set_password, name="account_set_password"),
    path("account/security", second_factors.security, name="security"),
    path("account/security", second_factors.security, name="mfa_index"),
    path(
        "account/second-factor",
        second_factors.ask_second_factor,
        name="mfa_authenticate",
    ),
    path(
        "account/confirm",
        second_factors.confirm_password,
        name="account_reauthenticate",
    ),
    path(
        "account/confirm/code", second_factors.confirm_code, name="mfa_reauthenticate"
    ),
    path(
        "account/confirm/passkey",
        second_factors.confirm_passkey,
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/app", second_factors.add_app, name="mfa_activate_totp"),
    path("account/app/remove", second_factors.remove_app, name="mfa_deactivate_totp"),
    path("account/passkeys/new", second_factors.add_passkey, name="mfa_add_webauthn"),
    path(
        "account/passkeys/<int:pk>/remove",
        second_factors.remove_passkey,
        name="mfa_remove_webauthn",
    ),
    path(
        "account/passkeys/sign-in",
        second_factors.sign_in_with_passkey,
        name="mfa_login_webauthn",
    ),
    path(
        "account/recovery-codes",
        second_factors.recovery_codes,
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/recovery-codes/replace",
        second_factors.replace_codes,
        name="mfa_generate_recovery_codes",
    ),
    path(
        "account/oidc/sign-in",
        single_sign_on.begin,
        {"provider_id": "oidc"},
        name="openid_connect_login",
    ),
    path(
        "account/oidc/callback",
        single_sign_on.complete,
        {"provider_id": "oidc"},
        name="openid_connect_callback",
    ),
]
