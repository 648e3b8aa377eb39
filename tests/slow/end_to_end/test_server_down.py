"""A script that logs without a server ends normally and on time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.slow.end_to_end.installation import ROOT, eventually
from tests.slow.end_to_end.test_kills import Reader

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

POINTS = 500
EXIT_SECONDS = 5
# Also prints the time from the script's end to the process's end. Exit handlers
# registered before the agent's run after them.
LOGGING = f"""
import atexit
import sys
import time
ended = []
atexit.register(lambda: print(time.monotonic() - ended[0]))
import agent

run = agent.init(sys.argv[1], project="kills")
for step in range({POINTS}):
    run["count"].append(float(step), step=step)
ended.append(time.monotonic())
"""
ENDINGS = {
    "end": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "exception": ("raise ValueError('its own')", 1),
    "finish": ("run.finish()", 0),
}


def log(up, ending, name="offline"):
    """Run a script that logs and ends in this way; return the finished process."""
    return subprocess.run(
        [sys.executable, "-c", LOGGING + ending, name],
        cwd=ROOT,
        env=up.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def know_a_server(up):
    """Leave an earlier server's address, at which no server listens."""
    up.start()
    assert up.stop() == 0
    assert up.agent_file()["url"] == up.url


@pytest.mark.parametrize(("ending", "code"), ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("knows_a_server", [True, False], ids=["down", "unknown"])
def test_a_script_ends_with_its_own_code_and_on_time(up, ending, code, knows_a_server):
    if knows_a_server:
        # An address of this machine without a server.
        path = up.home / "config/seamark/agent.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"url": up.url, "token": "smk_unknown"}))

    done = log(up, ending)

    assert done.returncode == code
    # Far less than a hang.
    assert float(done.stdout) < 3 * EXIT_SECONDS
    # The script's output is complete, and the agent prints no traceback.
    assert done.stderr.count("Traceback") == (code == 1)
    assert "seamark: run 'offline' is not completely delivered" in done.stderr


def test_the_points_arrive_once_and_by_themselves_when_the_server_is_back(up):
    know_a_server(up)
    done = log(up, "raise ValueError('its own')")
    assert done.returncode == 1

    up.start()

    reader = Reader(up)
    eventually(lambda: delivered(reader) == list(range(POINTS)))
    eventually(lambda: reader.run()["state"] == "failed")
    # No queue is left that could be sent again.
    eventually(lambda: not list((up.home / "state/seamark/spool").iterdir()))
    assert delivered(reader) == list(range(POINTS))
    assert up.stop() == 0


def test_what_was_logged_before_there_ever_was_a_server_arrives_too(up):
    done = log(up, "")
    assert done.returncode == 0

    up.start()

    reader = Reader(up)
    eventually(lambda: delivered(reader) == list(range(POINTS)))
    assert up.stop() == 0


def delivered(reader):
    """Return every stored step, with duplicates."""
    return reader.steps() if reader.get("/projects")["projects"] else []
