"""Proxies and failures between agent and server: points are queued and delivered."""

from __future__ import annotations

import json
import logging
import socket
import ssl

import pytest

import agent
from seamark.errors import CannotRead
from seamark.reading.client import find_tracker
from seamark.upload import delivery, worker
from tests.agent.conftest import wait_until
from tests.agent.tracker_double import TOKEN, Scripted, TrackerDouble

PORTAL = b"<html>Welcome to the hotel</html>"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(delivery, "HOLD_SECONDS", 0.1)
    monkeypatch.setattr(delivery, "_LONGEST_RETRY_SECONDS", 1.5)
    monkeypatch.setattr(worker, "_UNKNOWN_SERVER_SECONDS", 0.1)


@pytest.fixture
def doubles(monkeypatch):
    """Return a function that starts a tracker, with TLS if it is given a certificate."""
    started = []

    def start(certificate=None, port=0):
        double = TrackerDouble(port)
        started.append(double)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server = double._server
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
            server.handle_error = lambda *_: None
            double.url = f"https://localhost:{double.port}"
        monkeypatch.setenv("SEAMARK_URL", double.url)
        monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
        return double

    yield start
    for double in started:
        double.stop()


def warnings(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


@pytest.mark.parametrize(
    "fault",
    [
        ({"days": -1}, "has expired"),
        ({"names": "DNS:elsewhere.test"}, "is for another host"),
    ],
    ids=["expired", "another host"],
)
def test_points_wait_for_a_certificate_that_holds(
    doubles, authority, monkeypatch, caplog, fault
):
    made, words = fault
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    good = authority.certificate("good")
    double = doubles(authority.certificate("bad", **made))
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: any(words in text for text in warnings(caplog)), seconds=20)

    repaired = doubles(good)

    wait_until(lambda: repaired.values("a") == [1.0], seconds=20)
    run.finish()
    assert double.requests == []
    assert len(warnings(caplog)) == 1


def test_an_own_authority_is_trusted_once_it_is_named(
    doubles, authority, monkeypatch, caplog
):
    double = doubles(authority.certificate("good"))
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: warnings(caplog), seconds=20)
    assert double.requests == []
    assert "SSL_CERT_FILE" in warnings(caplog)[0]

    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    wait_until(lambda: double.values("a") == [1.0], seconds=20)
    run.finish()
    assert len(warnings(caplog)) == 1


def test_a_portal_that_says_200_to_everything_takes_nothing(doubles, caplog):
    double = doubles()
    double.script.extend(3 * [Scripted(200, PORTAL)])
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)

    wait_until(lambda: double.values("a") == [1.0], seconds=20)

    run.finish()
    assert len(warnings(caplog)) == 1
    assert "not from a tracker" in warnings(caplog)[0]


def test_a_redirect_is_not_given_the_token(doubles, caplog):
    elsewhere = doubles()
    double = doubles()
    target = {"Location": f"{elsewhere.url}/api/v1/ingest/x"}
    double.script.extend(2 * [Scripted(302, b"", target)])
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)

    wait_until(lambda: double.values("a") == [1.0], seconds=20)

    run.finish()
    assert elsewhere.requests == []
    assert len(warnings(caplog)) == 1


def test_a_proxy_is_used_and_named_when_it_fails(doubles, monkeypatch, caplog):
    double = doubles()
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@127.0.0.1:9")
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: warnings(caplog), seconds=20)

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    wait_until(lambda: double.values("a") == [1.0], seconds=20)
    run.finish()
    assert "over the proxy" in warnings(caplog)[0]
    assert "secret" not in json.dumps(warnings(caplog))


def test_a_proxy_with_tls_is_spoken_to_with_tls(
    doubles, authority, monkeypatch, caplog
):
    # A request for another host's address, which the proxy answers itself.
    double = doubles(authority.certificate("proxy"))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    monkeypatch.setenv("HTTP_PROXY", f"https://user:secret@localhost:{double.port}")
    monkeypatch.setenv("SEAMARK_URL", "http://tracker.test")
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)

    run.finish(timeout=30)

    assert double.values("a") == [1.0]
    path, headers, _ = double.requests[0]
    assert path.startswith("http://tracker.test/api/v1/ingest/")
    assert headers["Proxy-Authorization"].startswith("Basic ")
    assert not warnings(caplog)


@pytest.mark.parametrize("scheme", ["https", "socks5"])
def test_nothing_is_said_in_clear_to_a_proxy_that_expects_something_else(
    monkeypatch, caplog, scheme
):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", f"{scheme}://user:secret@{place}")
        monkeypatch.setenv("SEAMARK_URL", "https://tracker.test")
        monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
        run = agent.init("r", monitor=False)
        run["a"].append(1.0)
        wait_until(lambda: warnings(caplog))
        run.finish(timeout=0)

        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert "HTTPS_PROXY names a" in warnings(caplog)[0]
    assert "NO_PROXY" in warnings(caplog)[0]
    assert "secret" not in caplog.text
    with pytest.raises(CannotRead, match="HTTPS_PROXY names a"):
        find_tracker("https://tracker.test", seconds=5)
