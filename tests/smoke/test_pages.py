"""Every page opens in a real browser, without an error or a request to another host."""

from __future__ import annotations

import pytest

from tests.web.every_page import NOTHING, make_full, pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]

# Addresses that visitors open without an account.
PUBLIC = ("sign-in", "join", "shared-")


def test_every_page_opens(  # noqa: PLR0917 - fixtures
    visit, client_of, ada, watch, settings, tmp_path, page
):
    settings.DATA_FOLDER = tmp_path
    things = make_full(ada)
    for name, address in pages(things, client_of(ada)).items():
        # A page that is left must not poll without its session.
        page.goto("about:blank")
        watch.context.clear_cookies()
        visit(address, None if name.startswith(PUBLIC) else ada)
        if name in NOTHING:
            watch.allow("status of 40")

        assert page.locator("h1, #swagger-ui").count(), name
        assert not watch.faults, (name, watch.faults)
