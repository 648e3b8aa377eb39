"""The list of all pages, which browser tests visit, follows the routes."""

from __future__ import annotations

import pytest

from tests.web.every_page import make_full, pages

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_page_is_found(member, client_of, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path

    found = pages(make_full(member), client_of(member))

    assert {"run", "runs", "dashboard", "report", "shared-report"} <= set(found)
