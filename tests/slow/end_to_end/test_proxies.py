"""Agents and browsers reach the server through nginx and Caddy."""

from __future__ import annotations

import http.client
import os
import re
import ssl
import subprocess
import sys
import urllib.parse
from contextlib import closing

import pytest

from tests.agent.tracker_double import TOKEN, TrackerDouble
from tests.slow.end_to_end.installation import ROOT, eventually
from tests.slow.end_to_end.proxies import Caddy, Nginx

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.timeout(600)]

MIB = 1024 * 1024
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
UPLOAD = """
import os
import agent

with agent.init("run", project="proxies", monitor=False, capture=False) as run:
    run["loss"].append(0.5)
    run["model"].upload(os.urandom(6 * 1024 * 1024), wait=True)
"""
# Random bits do not compress: each batch is as large as it can be.
OFFLINE = """
import random
import agent

run = agent.init("run", mode="offline", monitor=False, capture=False)
for step in range(2_000):
    for name in range(100):
        run[f"value/{name}"].append(random.random(), step=step)
"""
DEFAULTS = """
server {{
    listen {port} {tls};
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    location / {{ proxy_pass http://127.0.0.1:{upstream}; }}
}}
"""


def run_script(tmp_path, script, url, token, *arguments, authority=""):
    """Run a script against a server; return its stderr."""
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "SEAMARK_URL": url,
        "SEAMARK_TOKEN": token,
        "SEAMARK_EXIT_SECONDS": "60",
        "SSL_CERT_FILE": str(authority),
    }
    command = [sys.executable, "-c", script] if script else [sys.executable, "-m"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture
def tracker():
    double = TrackerDouble()
    yield double
    double.stop()


@pytest.fixture(params=["http", "https"])
def narrow(request, tracker):
    """An nginx with its default limit of 1 MiB for a request."""
    nginx = Nginx()
    nginx.url = nginx.url.replace("https", request.param)
    nginx.servers = DEFAULTS.format(
        port=nginx.port,
        tls="ssl" if request.param == "https" else "",
        certificate=nginx.certificate,
        key=nginx.key,
        upstream=tracker.port,
    )
    with nginx:
        yield nginx


def test_a_file_passes_a_default_nginx_after_few_refusals(narrow, tracker, tmp_path):
    run_script(tmp_path, UPLOAD, narrow.url, TOKEN, authority=narrow.authority)

    assert [len(content) for content in tracker.stored.values()] == [6 * MIB]
    assert narrow.statuses().count(413) <= 2


def test_large_batches_pass_a_default_nginx_after_few_refusals(
    narrow, tracker, tmp_path
):
    known = narrow.url, TOKEN
    run_script(tmp_path, OFFLINE, *known)
    run_script(tmp_path, "", *known, "seamark", "sync", authority=narrow.authority)

    assert len(tracker.values("value/99")) == 2_000
    assert 0 < narrow.statuses().count(413) <= 3


def ask(proxy, method, path, body=None, **headers):
    context = ssl.create_default_context(cafile=str(proxy.authority))
    connection = http.client.HTTPSConnection(
        "localhost", proxy.port, context=context, timeout=60
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(connection):
        connection.request(method, path, body, named)
        response = connection.getresponse()
        return response, response.read().decode()


def sign_in(proxy, link):
    """Use a sign-in link as a browser does; return the cookies that it sets."""
    assert link.startswith(proxy.url)
    path = urllib.parse.urlsplit(link).path
    asked, page = ask(proxy, "GET", path)
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": CSRF.search(page)[1]})
    done, _ = ask(
        proxy,
        "POST",
        path,
        form,
        Cookie=asked.getheader("Set-Cookie").split(";")[0],
        Content_Type="application/x-www-form-urlencoded",
        Origin=proxy.url,
        Referer=link,
    )
    assert done.status == 302
    return done.msg.get_all("Set-Cookie")


@pytest.mark.parametrize("kind", [Nginx, Caddy])
def test_the_shipped_configuration_serves_agents_and_browsers(up, kind, tmp_path):
    with kind().forward_to(up.port) as proxy:
        up.environment |= {"SEAMARK_URL": proxy.url, "SEAMARK_BEHIND_PROXY": "yes"}
        lines = up.start()
        token = up.agent_file()["token"]
        link = next(line.split()[-1] for line in lines if "/sign-in/" in line)

        cookies = sign_in(proxy, link)
        run_script(tmp_path, UPLOAD, proxy.url, token, authority=proxy.authority)

        assert any(c.startswith("__Host-session=") and "Secure" in c for c in cookies)
        eventually(lambda: up.count("tracker_run") == 1)
        stored = [p.stat().st_size for p in up.data.rglob("*") if p.is_file()]
        assert 6 * MIB in stored
        up.stop()


@pytest.mark.parametrize("kind", [Nginx, Caddy])
def test_the_shipped_configuration_redirects_http_to_https(kind):
    with kind().forward_to(1) as proxy:
        connection = http.client.HTTPConnection("localhost", proxy.http_port)
        with closing(connection):
            connection.request("GET", "/projects")
            response = connection.getresponse()
            location = response.getheader("Location")

    assert 300 < response.status < 400
    target = urllib.parse.urlsplit(location)
    assert (target.scheme, target.path) == ("https", "/projects")
