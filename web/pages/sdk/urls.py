"""URLs of the SDK."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.sdk import sdk

urlpatterns: list[URLPattern] = [
    path("sdk/", sdk.sdk_page, name="sdk"),
    path("sdk/<str:archive>", sdk.sdk_archive, name="sdk-archive"),
]
