"""Another machine writes to a script's queue: the script's data is stored once."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.builders import frames, points_message
from tests.slow.end_to_end.installation import ROOT, eventually
from tests.slow.end_to_end.test_kills import Reader

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

POINTS = 400
# Reports when it is half way, and continues on request.
TRAINING = f"""
import time
import agent

run = agent.init("copied", project="kills", stage="train", monitor=False)
for step in range({POINTS}):
    run["count"].append(float(step), step=step)
    time.sleep(0.01)
    if step == {POINTS // 2}:
        print("half", flush=True)
        input()
"""


class Copy:
    """Sends batches like a copy of the machine, with the same spool ID."""

    def __init__(self, up):
        token = up.agent_file()["token"]
        (folder,) = (up.home / "state/seamark/spool").glob("*-*")
        self.url = f"{up.url}/api/v1/ingest/{folder.name}"
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/vnd.seamark.frames",
        }

    def send(self, body):
        """Send a batch; return how far the spool is stored, or None if it was refused."""
        request = urllib.request.Request(self.url, data=body, headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return json.load(response)["stored"]
        except urllib.error.HTTPError as refusal:
            refusal.close()
            return None

    def log(self, count):
        """Log to a separate path; return whether all points were numbered."""
        first = (self.send(b"") or 0) + 1
        messages = ([points_message("other", [1.0])] for _ in range(count))
        return self.send(frames(messages, first=first)) == first + count - 1


@pytest.mark.parametrize("frames_ahead", [2, 100])
def test_everything_a_script_logs_arrives_once_and_one_line_says_why(up, frames_ahead):
    up.start()
    reader = Reader(up)
    training = subprocess.Popen(
        [sys.executable, "-c", TRAINING],
        cwd=ROOT,
        env=up.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert training.stdout.readline() == "half\n"
    eventually(lambda: reader.steps()[-1] >= POINTS // 2)

    assert Copy(up).log(frames_ahead)
    _, output = training.communicate("go on\n", timeout=60)

    assert training.returncode == 0
    assert reader.steps() == list(range(POINTS))
    assert output.count("the server has different data for the offline queue") == 1
    assert "Traceback" not in output
    assert "not completely delivered" not in output
    assert up.count("tracker_spool") == 2
    assert up.stop() == 0
