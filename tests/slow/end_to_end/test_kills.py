"""kill -9 of the training script, the web server and the worker: no data is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress

import pytest

from tests.slow.end_to_end.installation import ROOT, eventually

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

# Prints a line after each call.
TRAINING = """
import time
import agent

run = agent.init("killed", project="kills", stage="train")
step = 0
while True:
    run["count"].append(float(step), step=step)
    print(step, flush=True)
    step += 1
    time.sleep(0.004)
"""

MAKE_TOKEN = """
import django
django.setup()
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
print(make_token(found_installation(), "test", Scope.MANAGE))
"""


class Training:
    """A script that logs a counter, and the steps that it reported."""

    def __init__(self, up):
        self.process = subprocess.Popen(
            [sys.executable, "-c", TRAINING],
            cwd=ROOT,
            env=up.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.heard = ""

    def log_for(self, seconds, *, steps=150):
        """Read its output for this long, and until this many more steps are logged."""
        until = time.monotonic() + seconds
        while steps > 0 or time.monotonic() < until:
            self.heard += self.process.stdout.readline()
            steps -= 1

    def kill(self):
        """Kill it; return the last step that it reported as logged."""
        self.process.kill()
        rest, _ = self.process.communicate()
        # The last line may have been cut.
        return int((self.heard + rest).splitlines()[-2])


class Reader:
    """Reads the server's data through the API."""

    def __init__(self, up):
        made = subprocess.run(
            [sys.executable, "-c", MAKE_TOKEN],
            cwd=ROOT,
            env={**up.environment, "DJANGO_SETTINGS_MODULE": "tracker.settings"},
            capture_output=True,
            text=True,
            check=True,
        )
        self.url, self.token = up.url, made.stdout.strip()

    def get(self, address, **query):
        request = urllib.request.Request(
            f"{self.url}/api/v1{address}?{urllib.parse.urlencode(query)}",
            headers={"Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def run(self):
        (run,) = self.get("/projects/home/kills/runs")["runs"]
        return run

    def steps(self):
        """Return every stored step of the counter, in order."""
        answer = self.get(
            f"/runs/{self.run()['id']}/series", path="count", buckets=5000
        )
        (line,) = answer["series"]
        assert line["exact"]
        assert line["mean"] == line["x"]
        return line["x"]

    def has_points(self):
        # Without a project, a run or a series, there is none to read.
        with suppress(urllib.error.HTTPError, ValueError):
            return bool(self.steps())
        return False


def test_every_point_logged_before_a_kill_is_there_once(up):
    up.start()
    reader = Reader(up)
    training = Training(up)
    training.log_for(2.5)

    up.child("web").kill()
    training.log_for(2)
    eventually(up.answers)
    up.child("worker").kill()
    training.log_for(2)
    safe = training.kill()

    assert safe > 300
    # The forwarder delivers the data that the dead process had queued.
    eventually(lambda: reader.steps()[-1] >= safe)
    steps = reader.steps()
    assert steps == list(range(len(steps)))
    # The worker is back as well: it compacts, and the sums are those of the points.
    eventually(lambda: counted(reader) == len(reader.steps()), seconds=120)
    assert up.stop() == 0


def test_a_second_start_finds_what_a_killed_server_had_stored(up):
    up.start()
    reader = Reader(up)
    training = Training(up)
    training.log_for(2)
    eventually(reader.has_points)

    up.process.kill()
    up.process.communicate()
    training.log_for(1.5)
    safe = training.kill()
    up.start()

    eventually(lambda: reader.steps()[-1] >= safe)
    steps = reader.steps()
    assert steps == list(range(len(steps)))
    assert up.stop() == 0


def counted(reader):
    attributes = reader.get(f"/runs/{reader.run()['id']}/attributes", prefix="count")
    (row,) = attributes["attributes"]
    return row["count"]
