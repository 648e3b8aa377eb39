from __future__ import annotations

import pytest

from tracker.alerts.peers import check_url, is_public
from tracker.errors import InvalidInput


@pytest.mark.parametrize(
    "peer",
    [
        "127.0.0.1",
        "0.0.0.0",
        "::",
        "::1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:100.64.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::169.254.169.254",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "224.0.0.1",
        "ff02::1",
        "ff0e::1",
        "198.18.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "192.88.99.1",
        "64:ff9b:1::a00:1",
        "64:ff9b:1:7f00:0:100::",
        "::ffff:0:10.0.0.1",
        "::10.0.0.1",
        "::93.184.216.34",
        "fec0::1",
        "2001:0:5db8:d822:0:0:f5ff:fffe",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "100::1",
        "no address",
    ],
)
def test_networks_of_ones_own_are_not_public(peer):
    assert not is_public(peer)


@pytest.mark.parametrize(
    "peer",
    [
        "93.184.216.34",
        "2606:4700::6810:1",
        "::ffff:93.184.216.34",
        "64:ff9b::93.184.216.34",
        "2002:5db8:d822::1",
    ],
)
def test_the_world_is_public(peer):
    assert is_public(peer)


@pytest.mark.parametrize(
    "url",
    [
        "https://chat.example.com/hooks/abc",
        "http://chat.example.com:80/hooks",
        "http://chat.internal:8065/hooks",
    ],
)
def test_addresses_of_web_servers_are_taken(url):
    check_url(url, ["chat.internal"])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "chat.example.com/hooks",
        "ftp://chat.example.com/",
        "file:///etc/passwd",
        "gopher://chat.example.com",
        "https://user@chat.example.com/",
        "https://user:secret@chat.example.com/",
        "https://chat.example.com:6379/",
        "http://chat.example.com:99999/",
        "http://[::1",
        "http://",
        "https://chat.example.com/a b",
        "https://chat.example.com/\r\nHost: other",
        "https://chat.exämple.com/",
        "https://chat.example.com/" + "a" * 500,
    ],
)
def test_anything_else_is_refused(url):
    with pytest.raises(InvalidInput):
        check_url(url, ["chat.internal"])
