"""Signs the links that reset passwords."""

from __future__ import annotations

from django.contrib.auth.tokens import PasswordResetTokenGenerator

from tracker.models import User


class ResetTokens(PasswordResetTokenGenerator):
    """Tokens that work once: the signature covers the password and the last sign-in."""

    def check_token(self, user: User | None, token: str | None) -> bool:
        may_sign_in = user is not None and user.is_active and not user.is_service
        return bool(may_sign_in and super().check_token(user, token))
