"""A complete installation, started as users start it, in a temporary home."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import psutil

from tests.builders import frames, open_message, points_message

ROOT = Path(__file__).resolve().parents[3]
DATABASE = "seamark.sqlite3"
CHILDREN = {
    "web": "tracker.embedded.web:application",
    "worker": "worker",
    "forwarder": "sync",
}


def eventually(is_so, seconds=90.0):
    """Return the first true result; the timeout is a watchdog, not a specification."""
    deadline = time.monotonic() + seconds
    while not (value := is_so()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)
    return value


class Up:
    """`manage.py up` in a temporary home.

    Uses a migrated, empty database, so that the first start need not create it.
    """

    def __init__(self, home, port, database=None):
        self.home = home
        self.database = database
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.data = home / "data"
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "SEAMARK_DATA": str(self.data),
            "SEAMARK_PORT": str(port),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
        }
        # The server's own database, also while the tests use PostgreSQL.
        self.environment.pop("SEAMARK_DATABASE_URL", None)
        self.process = None

    def bring_database(self):
        if self.database is not None and not self.data.exists():
            self.data.mkdir(mode=0o700)
            shutil.copy(self.database, self.data / DATABASE)

    def start(self):
        self.bring_database()
        self.process = subprocess.Popen(
            [sys.executable, "-u", "manage.py", "up"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                return lines
        raise AssertionError(f"it did not start: {lines}")

    def manage(self, *arguments, seconds=300, **environment):
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def family(self):
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, name):
        """Return the supervisor's child of this name, if it is running its program."""
        for process in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                if CHILDREN[name] in process.cmdline():
                    return process
        return None

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/livez", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def agent_file(self):
        return json.loads((self.home / "config/seamark/agent.json").read_text())

    def send(self, run, values):
        """Log a series as an agent would; return how many frames are stored."""
        batch = [[open_message(run)], [points_message("loss", values)]]
        request = urllib.request.Request(
            f"{self.url}/api/v1/ingest/{uuid4()}",
            data=frames(batch),
            headers={
                "Authorization": f"Bearer {self.agent_file()['token']}",
                "Content-Type": "application/vnd.seamark.frames",
            },
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)["stored"]

    def count(self, table):
        path = f"file:{self.data / DATABASE}?mode=ro"
        with closing(sqlite3.connect(path, uri=True)) as database:
            return database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.process.communicate(timeout=90)
        return self.process.returncode
