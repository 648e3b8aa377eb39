"""Addresses and commands that install the SDK of this server."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse

from web.pages.sdk.source_archive import archive_name


def install_command() -> str:
    return f"pip install {_archive_url()}"


def login_command() -> str:
    return f"seamark login --url {settings.PUBLIC_URL}"


def requirement() -> str:
    """Return the line for requirements.txt."""
    return f"seamark @ {_archive_url()}"


def _archive_url() -> str:
    return settings.PUBLIC_URL + reverse("sdk-archive", args=[archive_name()])
