"""The client cannot choose its own address."""

import pytest
from django.test import RequestFactory

from tracker.server.client_address import client_address


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "expected"),
    [
        (False, "198.51.100.7", "192.0.2.1"),
        (True, "198.51.100.7", "198.51.100.7"),
        (True, "10.0.0.1, 198.51.100.7", "198.51.100.7"),
        (True, "", "192.0.2.1"),
        # Some proxies add the port; other values are not addresses, which PostgreSQL rejects.
        (True, "198.51.100.7:5678", "198.51.100.7"),
        (True, "[2001:db8::1]:5678", "2001:db8::1"),
        (True, "unknown", "192.0.2.1"),
        (True, "198.51.100.7\0", "192.0.2.1"),
    ],
)
def test_only_the_entry_of_our_own_proxy_counts(
    settings, behind_proxy, forwarded, expected
):
    settings.BEHIND_PROXY = behind_proxy
    request = RequestFactory().get(
        "/", REMOTE_ADDR="192.0.2.1", headers={"x-forwarded-for": forwarded}
    )

    assert client_address(request) == expected
