"""`seamark login`: stored credentials, and problems of connection and proxy."""

from __future__ import annotations

import json
import os
import pty
import socket
import stat
import subprocess
import sys

import pytest

from seamark.commands import main
from tests.agent.commands.site import ME, TOKEN, as_json
from tests.agent.conftest import REPOSITORY, wait_until

HTML = (200, {"Content-Type": "text/html"}, b"<html>Welcome to the hotel</html>")


@pytest.fixture
def login(perform):
    """Sign in with a token over standard input."""
    return lambda url, *more, said=f"{TOKEN}\n": perform(
        "login", "--url", url, "--token-stdin", *more, said=said
    )


def test_the_address_and_the_token_are_stored_for_their_owner_alone(
    login, site, agent_file
):
    code, output, errors = login(f"{site.url}/")

    assert (code, errors) == (0, "")
    assert "ada, workspace Home (owner); the API key can write and read" in output
    assert json.loads(agent_file.read_text()) == {"url": site.url, "token": TOKEN}
    assert stat.S_IMODE(agent_file.stat().st_mode) == 0o600
    assert TOKEN not in output
    assert [path.name for path in agent_file.parent.iterdir()] == [agent_file.name]


def test_programs_are_told_the_same_as_json(login, site, agent_file):
    _, output, _ = login(site.url, "--json")

    printed = json.loads(output)
    assert (printed["url"], printed["file"]) == (site.url, str(agent_file))
    assert {name: printed[name] for name in ME} == ME
    assert TOKEN not in output


def test_a_token_that_is_not_known_is_not_stored(login, site, agent_file):
    code, _, errors = login(site.url, said="smk_wrong\n")

    assert code == 1
    assert "rejected this API key" in errors
    assert "/account/keys" in errors
    assert not agent_file.exists()


def test_what_was_stored_stays_when_another_token_is_refused(login, site, agent_file):
    login(site.url)

    login(site.url, said="smk_wrong\n")

    assert json.loads(agent_file.read_text())["token"] == TOKEN


def test_a_token_is_sent_to_nobody_who_has_not_shown_to_be_a_tracker(login, site):
    site.answers["*"] = HTML

    code, _, errors = login(site.url)

    assert code == 1
    assert "is not Seamark" in errors
    assert "sign-in with a browser" in errors
    assert site.asked == ["/livez"]
    assert not [headers for headers in site.headers if "Authorization" in headers]


def test_a_redirect_is_told_and_not_followed(login, site, sites):
    other = sites()
    site.answers["*"] = (302, {"Location": f"{other.url}/livez"}, b"")

    code, _, errors = login(site.url)

    assert code == 1
    assert f"redirects to '{other.url}'" in errors
    assert other.asked == []


@pytest.mark.parametrize(
    "fault",
    [
        ({"days": -1}, ("has expired", "clock")),
        ({"names": "DNS:elsewhere.test"}, ("is for another host",)),
    ],
    ids=["expired", "another host"],
)
def test_a_certificate_that_does_not_hold_is_refused_with_the_reason(
    login, sites, authority, monkeypatch, fault
):
    made, words = fault
    site = sites(authority.certificate("bad", **made))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    code, _, errors = login(site.url)

    assert code == 1
    assert all(word in errors for word in words)
    assert "Traceback" not in errors
    assert site.asked == []


def test_an_own_authority_is_trusted_where_it_is_named(
    login, sites, authority, monkeypatch
):
    site = sites(authority.certificate("good"))

    code, _, errors = login(site.url)
    assert code == 1
    assert "SSL_CERT_FILE" in errors
    assert site.asked == []

    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert login(site.url)[0] == 0


def test_http_at_an_https_port_is_told_and_the_reverse(login, sites, site, authority):
    site_with_tls = sites(authority.certificate("good"))

    _, _, errors = login(site.url.replace("http:", "https:"))
    assert "http:// instead of https://" in errors
    _, _, errors = login(site_with_tls.url.replace("https:", "http:"))
    assert "https://?" in errors


def test_nobody_there_and_no_such_name_are_told_apart(login):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
    _, _, errors = login(f"http://127.0.0.1:{port}")
    assert "connection refused by" in errors.lower()
    _, _, errors = login("https://no-such-host.invalid")
    assert "host name no-such-host.invalid cannot be resolved" in errors.lower()


def test_a_proxy_that_refuses_is_named_without_its_password(login, site, monkeypatch):
    # The server does not support CONNECT, so as a proxy it fails.
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:secret@127.0.0.1:{site.port}")

    code, _, errors = login("https://seamark.example.org")

    assert code == 1
    assert "proxy" in errors
    assert "NO_PROXY" in errors
    assert "secret" not in errors


def test_a_server_that_is_excepted_is_asked_without_the_proxy(login, site, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")

    assert login(site.url)[0] == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host", TOKEN),
        ("http://user:secret@host", TOKEN),
        ("http://host/?token=x", TOKEN),
        ("[::1", TOKEN),
        ("http://[::1", TOKEN),
        ("http://host", ""),
        ("http://host", "two words"),
        ("http://host", "smk_\x00"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(login, url, said):
    code, _, errors = login(url, said=said)

    assert code == 2
    assert "must" in errors
    assert "secret" not in errors


def test_a_token_on_the_command_line_is_taken_with_a_warning(perform, site):
    code, _, errors = perform("login", "--url", site.url, "--token", TOKEN)

    assert code == 0
    assert "is visible to other users" in errors
    assert TOKEN not in errors


def test_without_a_terminal_or_a_pipe_it_says_how(perform, site):
    code, _, errors = perform("login", "--url", site.url)

    assert code == 2
    assert "--token-stdin" in errors


def test_a_token_that_may_only_write_or_read_is_stored_with_a_word(login, site):
    for scope, words in (("log", "is write-only"), ("read", "is read-only")):
        site.answers["/api/v1/me"] = as_json({**ME, "scope": scope})

        code, _, errors = login(site.url)

        assert code == 0
        assert words in errors


def test_variables_that_come_first_are_named(login, site, monkeypatch):
    monkeypatch.setenv("SEAMARK_TOKEN", "smk_other")

    _, _, errors = login(site.url)

    assert "SEAMARK_TOKEN is set to another value" in errors


def test_a_file_that_comes_first_is_named(login, site, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("smk_other\n")
    monkeypatch.setenv("SEAMARK_TOKEN_FILE", str(tmp_path / "token"))
    _, _, errors = login(site.url)
    assert "SEAMARK_TOKEN_FILE is set to another value" in errors

    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert login(site.url)[2] == ""


def test_on_a_terminal_it_asks_and_does_not_show_the_token(site, agent_file, tmp_path):
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "seamark", "login"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    ) as process:
        os.close(follower)
        seen = b""

        def shows(word):
            nonlocal seen
            seen += os.read(leader, 1000)
            return word in seen

        wait_until(lambda: shows(b"Address"))
        os.write(leader, f"{site.url}\n".encode())
        wait_until(lambda: shows(b"API key"))
        os.write(leader, f"{TOKEN}\n".encode())
        wait_until(lambda: shows(b" as ada"))
        assert process.wait(60) == 0
    os.close(leader)
    assert TOKEN.encode() not in seen
    assert json.loads(agent_file.read_text())["token"] == TOKEN


def test_who_types_no_token_stores_none(site, agent_file, monkeypatch, capsys):
    def ended(_):
        raise EOFError

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("getpass.getpass", ended)

    assert main(["login", "--url", site.url, "--json"]) == 1

    assert json.loads(capsys.readouterr().out)["error"]["code"] == "no_token"
    assert not agent_file.exists()


def test_signing_out_forgets_both(perform, login, site, agent_file):
    login(site.url)

    code, output, _ = perform("logout")

    assert code == 0
    assert "still valid" in output
    assert not agent_file.exists()
    assert json.loads(perform("logout", "--json")[1])["was_stored"] is False
