"""The command line with a real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.slow.end_to_end.installation import ROOT, eventually
from tests.slow.end_to_end.test_kills import Reader

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

# Runs until it receives a signal.
LOGGING = """
import sys
import time
from pathlib import Path
import agent

run = agent.init("rotated", project="kills", monitor=False)
step = 0
while not Path(sys.argv[1]).exists():
    run["count"].append(float(step), step=step)
    step += 1
    time.sleep(0.01)
run.finish()
print(step)
"""
REVOKE = """
import sys
import django
django.setup()
from tracker.actions.access import digest
from django.utils.timezone import now
from tracker.models import Token
assert Token.objects.filter(digest=digest(sys.argv[1])).update(revoked_at=now()) == 1
"""


def seamark(up, *words, said="", **variables):
    return subprocess.run(
        [sys.executable, "-m", "seamark", *words],
        cwd=ROOT,
        env={**up.environment, **variables},
        input=said,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def revoke(up, token):
    subprocess.run(
        [sys.executable, "-c", REVOKE, token],
        cwd=ROOT,
        env={**up.environment, "DJANGO_SETTINGS_MODULE": "tracker.settings"},
        check=True,
    )


@pytest.mark.parametrize("source", ["file", "environment"])
def test_a_script_whose_token_is_revoked_goes_on_after_a_login(up, tmp_path, source):
    up.start()
    reader, other = Reader(up), Reader(up)
    told = tmp_path / "errors"
    end, environment = tmp_path / "end", dict(up.environment)
    if source == "environment":
        environment |= {"SEAMARK_URL": up.url, "SEAMARK_TOKEN": other.token}
    else:
        seamark(up, "login", "--url", up.url, "--token-stdin", said=other.token)
        assert up.agent_file()["token"] == other.token
    with told.open("w") as errors:
        script = subprocess.Popen(
            [sys.executable, "-c", LOGGING, str(end)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        eventually(lambda: reader.get("/projects")["projects"] and reader.steps())
        revoke(up, other.token)
        eventually(lambda: "does not accept data" in told.read_text(), seconds=90)
        before = reader.steps()[-1]

        done = seamark(up, "login", "--url", up.url, "--token-stdin", said=reader.token)

        assert done.returncode == 0, done.stderr
        # While it runs, and long before its next regular check.
        eventually(lambda: reader.steps()[-1] > before, seconds=20)
        assert script.poll() is None
    finally:
        end.touch()
        output, _ = script.communicate(timeout=60)
    count = int(output)
    eventually(lambda: reader.steps() == list(range(count)))
    # The address of the run, and one warning.
    assert told.read_text().count("\n") == 2


def test_the_server_is_started_from_a_named_checkout(tmp_path, up):
    up.bring_database()
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "seamark", "up", "--checkout", str(ROOT)],
        cwd=tmp_path,
        env={**up.environment, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        lines = []
        for line in server.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        assert any("/sign-in/" in line for line in lines), lines
        assert eventually(up.answers)
        done = seamark(up, "doctor", "--json")
        assert json.loads(done.stdout)["ok"], done.stdout
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=90)
    assert server.returncode == 0


def test_without_a_checkout_it_says_how_and_runs_nothing_it_finds(tmp_path):
    # The package alone, as installed; next to it, unrelated files.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "seamark").symlink_to(ROOT / "agent")
    (tmp_path / "tracker").mkdir()
    (tmp_path / "tracker" / "settings.py").touch()
    (tmp_path / "manage.py").write_text("print('owned')")

    done = subprocess.run(
        [sys.executable, "-P", "-m", "seamark", "up"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "python3 manage.py up" in done.stderr
    assert done.stdout == ""
