"""Without a valid certificate, data stays in the queue and answers are ignored."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import pytest

import agent
from seamark.commands import main
from tests.agent.conftest import wait_until
from tests.agent.tracker_double import TOKEN, TrackerDouble

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl")

OURS, ANOTHERS = "IP:127.0.0.1", "DNS:tracker.example"


@pytest.fixture
def certificate(tmp_path):
    def make(name, host):
        files = tmp_path / f"{name}.key", tmp_path / f"{name}.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes"]
        command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=seamark"]
        command += ["-addext", f"subjectAltName={host}"]
        command += ["-keyout", str(files[0]), "-out", str(files[1])]
        subprocess.run(command, capture_output=True, check=True, timeout=60)
        return files

    return make


def start(port, files):
    key, chain = files
    double = TrackerDouble(port)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    double._server.socket = context.wrap_socket(double._server.socket, server_side=True)
    return double


def told(caplog):
    warnings = [record.getMessage().lower() for record in caplog.records]
    return sum("certificate" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("host", "is_known"),
    [(OURS, False), (ANOTHERS, True)],
    ids=["of an unknown authority", "of another host"],
)
def test_nothing_is_sent_and_nothing_lost_until_the_certificate_is_right(
    monkeypatch, caplog, certificate, host, is_known
):
    wrong = certificate("wrong", host)
    right = certificate("right", OURS)
    server = start(0, wrong)
    monkeypatch.setenv("SEAMARK_URL", f"https://127.0.0.1:{server.port}")
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
    monkeypatch.setenv("SSL_CERT_FILE", str((wrong if is_known else right)[1]))

    run = agent.init("r", monitor=False)
    run["a"].extend([1.0, 2.0])
    wait_until(lambda: told(caplog))
    run.finish(timeout=0.5)
    server.stop()

    assert server.requests == []
    assert told(caplog) == 1
    again = start(server.port, right)
    monkeypatch.setenv("SSL_CERT_FILE", str(right[1]))
    try:
        assert main(["sync"]) == 0
        assert again.values("a") == [1.0, 2.0]
    finally:
        again.stop()
