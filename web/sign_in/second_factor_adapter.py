"""Seamark's rules for second factors: encrypted secrets, our own texts."""

from __future__ import annotations

import base64
import secrets
from typing import Any, ClassVar

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from web.texts import gettext_lazy

SALT = "seamark.second-factor"


class SecondFactorAdapter(DefaultMFAAdapter):
    error_messages: ClassVar = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy("Wrong or expired code."),
    }

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return the secret; after a change of SEAMARK_SECRET_KEY no code matches."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            # Random, because codes of a constant secret can be computed.
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002 - allauth's
        del user, type
        return gettext("Passkey")


def _cipher() -> Fernet:
    key = salted_hmac(SALT, "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
