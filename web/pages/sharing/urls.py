"""URLs of the pages about sharing."""

from __future__ import annotations

from django.urls import URLPattern, path

from web.pages.sharing import shared, shares

urlpatterns: list[URLPattern] = [
    path("w/<slug:workspace>/<slug:project>/shares", shares.shares, name="shares"),
    path("w/<slug:workspace>/<slug:project>/shares/new", shares.share, name="share"),
    path(
        "w/<slug:workspace>/<slug:project>/shares/<int:share_id>/revoke",
        shares.revoke,
        name="share-revoke",
    ),
    path("s/<str:secret>/", shared.shared, name="shared"),
    path("s/<str:secret>/<path:rest>", shared.shared_page, name="shared-page"),
]
