"""Files of an installation contain no secrets and are readable by the owner only."""

from __future__ import annotations

import http.client
import re
import stat
import subprocess
import sys
import urllib.parse
from contextlib import closing
from uuid import uuid4

import pytest

from tests.slow.end_to_end.installation import ROOT, eventually

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

HOST = "127.0.0.1"
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
LOG_ONE = 'import agent; agent.init("one")["loss"].append(1.0)'


def request(up, method, path, body=None, **headers):
    connection = http.client.HTTPConnection(HOST, up.port, timeout=20)
    with closing(connection):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        response = connection.getresponse()
        return response, response.read().decode(errors="replace")


def sign_in(up, link):
    """Use the link as a browser does; return the cookies it sets."""
    path = urllib.parse.urlsplit(link).path
    asked, page = request(up, "GET", path)
    cookie = asked.getheader("Set-Cookie").split(";")[0]
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": CSRF.search(page)[1]})
    done, _ = request(
        up,
        "POST",
        path,
        form,
        Cookie=cookie,
        Content_Type="application/x-www-form-urlencoded",
    )
    return done.msg.get_all("Set-Cookie", [])


def written(up):
    """Every byte in the data folder, by file."""
    return {path: path.read_bytes() for path in up.data.rglob("*") if path.is_file()}


def link_of(lines):
    return next(line.split()[-1] for line in lines if "/sign-in/" in line)


def test_no_secret_is_written_down(up):
    link = link_of(up.start())
    secret = link.rpartition("/")[2]
    token = up.agent_file()["token"]
    cookies = sign_in(up, link)
    assert [cookie for cookie in cookies if cookie.startswith("seamark-session=")]
    # Addresses of failed and refused requests may be logged.
    request(up, "GET", f"/sign-in/{secret}")
    request(up, "POST", f"/sign-in/{secret}", "x")
    request(up, "GET", f"/sign-in/{secret}/", Host="evil.test")
    for path in (f"/api/v1/me?token={token}", f"/nowhere/{token}"):
        request(up, "GET", path, Authorization=f"Bearer {token}x")
    request(up, "POST", f"/api/v1/ingest/{uuid4()}", b"x", Authorization=token)
    subprocess.run(
        [sys.executable, "-c", LOG_ONE], cwd=ROOT, env=up.environment, check=True
    )
    eventually(lambda: up.count("tracker_serieschunk"))
    assert up.stop() == 0

    files = written(up)
    assert any(
        path.parent.name == "logs" and content for path, content in files.items()
    )
    found = [
        path.name
        for path, content in files.items()
        for one in (secret, token)
        if one.encode() in content
    ]
    assert found == []
    # The token is in one place only: the agents' own file, with the address.
    assert token in (up.home / "config/seamark/agent.json").read_text()
    spool = up.home / "state"
    assert not [
        p for p in spool.rglob("*") if p.is_file() and token.encode() in p.read_bytes()
    ]


def test_only_the_owner_may_read_what_is_written(first_up):
    # A folder that was created world-readable before.
    first_up.data.mkdir(mode=0o755)
    first_up.start()
    first_up.send("first", [1.0])

    agent_file = first_up.home / "config/seamark/agent.json"
    assert stat.S_IMODE(agent_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(agent_file.parent.stat().st_mode) == 0o700
    assert [
        path.name for path in written(first_up) if not is_private(path, first_up.data)
    ] == []


def is_private(path, folder):
    """Return whether other users cannot open or reach the file."""
    inside = [path, *path.parents][: len(path.relative_to(folder).parts)]
    return any(not stat.S_IMODE(one.stat().st_mode) & 0o077 for one in inside)


def test_a_data_folder_that_is_made_is_its_owners(first_up):
    first_up.start()

    assert stat.S_IMODE(first_up.data.stat().st_mode) == 0o700
