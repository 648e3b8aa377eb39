from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

from tests.tracker.alerts.receivers import web_server
from tests.tracker.alerts.test_message import MESSAGE
from tracker.alerts import webhook
from tracker.alerts.message import signature_of
from tracker.alerts.webhook import NotDelivered, post

HOME = ["127.0.0.1", "localhost"]


def test_a_receiver_gets_the_message_signed_and_numbered():
    with web_server() as receiver:
        post(receiver.url, "secret", MESSAGE, HOME)

    ((headers, body),) = receiver.got
    assert headers["Seamark-Signature"] == f"sha256={signature_of(body, 'secret')}"
    assert headers["Idempotency-Key"] == str(MESSAGE.id)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "0x7f.1", "localhost", "[::ffff:127.0.0.1]"]
)
def test_nothing_is_posted_into_an_own_network(host):
    with web_server() as receiver:
        url = receiver.url.replace("127.0.0.1", host)
        with pytest.raises(NotDelivered):
            post(url, "secret", MESSAGE, [])

    assert receiver.got == []


def test_an_open_and_a_closed_port_of_an_own_network_look_the_same():
    """No connection is made, so neither text nor time depends on open ports."""
    refusals = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        for port in (server.getsockname()[1], 1):
            with pytest.raises(NotDelivered) as refusal:
                post(f"http://127.0.0.1:{port}/", "secret", MESSAGE, [])
            refusals.append(str(refusal.value))
        with pytest.raises(BlockingIOError):
            server.accept()

    assert refusals[0] == refusals[1]


def test_an_unknown_and_an_internal_name_look_the_same(monkeypatch):
    def resolve(host: str, *_, **__):
        if host == "internal":
            return [(2, 1, 6, "", ("10.0.0.1", 80))]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    refusals = []
    for host in ("internal", "unknown"):
        with pytest.raises(NotDelivered) as refusal:
            post(f"http://{host}/", "secret", MESSAGE, [])
        refusals.append(str(refusal.value).replace(host, "HOST"))

    assert refusals[0] == refusals[1]


def test_one_internal_address_among_public_ones_is_enough_to_refuse(monkeypatch):
    with web_server() as receiver:
        port = int(receiver.url.rsplit(":", 1)[1].split("/")[0])
        addresses = [(2, 1, 6, "", (ip, port)) for ip in ("192.0.9.9", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        with pytest.raises(NotDelivered, match="public addresses only"):
            post(f"http://two.example:{port}/hook", "secret", MESSAGE, [])

    assert receiver.got == []


def test_the_name_is_resolved_once(monkeypatch):
    """A second response could point to an address that was not checked."""
    with web_server() as receiver:
        port = int(receiver.url.rsplit(":", 1)[1].split("/")[0])
        resolved: list[str] = []

        def resolve(host: str, *_, **__):
            resolved.append(host)
            return [(2, 1, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        monkeypatch.setattr(webhook, "is_public", lambda address: True)
        post(f"http://rebound.example:{port}/hook", "secret", MESSAGE, [])

    assert len(receiver.got) == 1
    assert resolved.count("rebound.example") == 1


def test_proxies_are_not_asked(monkeypatch):
    with web_server() as receiver, web_server() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        post(receiver.url, "secret", MESSAGE, HOME)

    assert len(receiver.got) == 1
    assert proxy.got == []


def test_redirects_are_not_followed():
    with web_server() as receiver, web_server() as other:
        receiver.status, receiver.headers = 302, {"Location": other.url}
        with pytest.raises(NotDelivered, match="302"):
            post(receiver.url, "secret", MESSAGE, HOME)

    assert other.got == []


def test_a_refusal_says_its_number_and_nothing_of_its_text():
    with web_server() as receiver:
        receiver.status, receiver.body = 500, b"<script>" * 1_000_000
        with pytest.raises(NotDelivered) as refusal:
            post(receiver.url, "secret", MESSAGE, HOME)

    assert str(refusal.value) == "It answered 500."


def test_a_receiver_that_hangs_is_left(monkeypatch):
    monkeypatch.setattr(webhook, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(NotDelivered, match="did not answer"):
            post(f"http://127.0.0.1:{port}/", "secret", MESSAGE, HOME)


@pytest.mark.parametrize("hosts", [HOME, ["127.0.0.2"]])
def test_a_receiver_that_trickles_is_left_in_time(monkeypatch, hosts):
    """Each byte arrives in time, but the last one never arrives."""
    monkeypatch.setattr(webhook, "SECONDS", 0.3)
    monkeypatch.setattr(webhook, "is_public", lambda address: True)
    has_left = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def trickle() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not has_left.wait(0.02):
                    connection.sendall(b"x")

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        with pytest.raises(NotDelivered, match="did not answer"):
            post(f"http://127.0.0.1:{port}/", "secret", MESSAGE, hosts)
        has_left.set()
        thread.join()


def test_a_host_of_which_one_address_is_dead_is_reached(monkeypatch):
    with web_server() as receiver:
        port = int(receiver.url.rsplit(":", 1)[1].split("/")[0])
        addresses = [(2, 1, 6, "", (ip, port)) for ip in ("127.0.0.9", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        post(f"http://two.example:{port}/hook", "secret", MESSAGE, ["two.example"])

    assert len(receiver.got) == 1


def test_a_name_that_no_host_can_have_is_a_clear_refusal():
    host = "a" * 70 + ".example"
    with pytest.raises(NotDelivered, match="public addresses only"):
        post(f"http://{host}/", "secret", MESSAGE, [])
    with pytest.raises(NotDelivered, match="cannot be reached"):
        post(f"http://{host}/", "secret", MESSAGE, [host])


def test_one_that_answers_nonsense_is_no_receiver():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            connection, _ = server.accept()
            connection.recv(65536)
            connection.sendall(b"nonsense\r\n\r\n")
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(NotDelivered):
            post(f"http://127.0.0.1:{port}/", "secret", MESSAGE, HOME)


def test_one_that_is_not_there_is_named():
    with pytest.raises(NotDelivered, match="cannot be reached"):
        post("http://127.0.0.1:1/", "secret", MESSAGE, HOME)
