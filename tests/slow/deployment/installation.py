"""An installation like the image's: its files and packages only."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# The stage that builds the documentation, and that of the server.
HELP, SERVER = (ROOT / "Dockerfile").read_text().split("\nFROM ")
STEP = re.compile(r"^(COPY|RUN) (?!--from)(.+)$", re.MULTILINE)
WATCHDOG_SECONDS = 240


def install(folder):
    """Repeat the Dockerfile's steps in a folder: copy files, install packages."""
    _, _, steps = SERVER.partition("WORKDIR")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for step, words in STEP.findall(steps):
        if step == "RUN":
            environment = {**os.environ, "PATH": path}
            subprocess.run(words, shell=True, cwd=folder, env=environment, check=True)
            continue
        *sources, target = words.split()
        for source in sources:
            copy(ROOT / source, folder / target / (source if target == "./" else ""))


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def eventually(find):
    """Return the first result that is true."""
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while not (found := find()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.2)
    return found


class Team:
    """The processes of one installation, with a separate home and data folder."""

    def __init__(self, code, home, *, database, redis, port):
        self.code, self.home = code, home
        self.python = code / ".venv/bin/python"
        self.url = f"http://127.0.0.1:{port}"
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "SEAMARK_DATA": str(home / "data"),
            "SEAMARK_PORT": str(port),
            "SEAMARK_SECRET_KEY": "0123456789abcdef" * 4,
            "SEAMARK_DATABASE_URL": database,
            "SEAMARK_REDIS_URL": redis,
        }
        self.processes = {}

    def run(self, *arguments, codes=(0,), **environment):
        result = subprocess.run(
            [self.python, *arguments],
            cwd=self.code,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode in codes, result.stderr
        return result.stdout

    def manage(self, *arguments, codes=(0,)):
        return self.run("manage.py", *arguments, codes=codes)

    def start(self, *commands):
        for command in commands:
            with self.log(command).open("wb") as log:
                self.processes[command] = subprocess.Popen(
                    [self.python, "manage.py", command],
                    cwd=self.code,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                )

    def log(self, command):
        return self.home / f"{command}.log"

    def stop(self):
        """Stop all processes as Docker does; return the nonzero exit codes."""
        for process in self.processes.values():
            process.terminate()
        codes = {
            command: process.wait(WATCHDOG_SECONDS)
            for command, process in self.processes.items()
        }
        self.processes.clear()
        return {command: code for command, code in codes.items() if code}

    def kill(self):
        for process in self.processes.values():
            process.kill()
            process.wait()

    def get(self, path):
        """Return the JSON of an answer, or None without one."""
        token = json.loads((self.home / ".config/seamark/agent.json").read_text())
        request = urllib.request.Request(
            f"{self.url}{path}", headers={"Authorization": f"Bearer {token['token']}"}
        )
        with suppress(OSError), urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)
        self.expect_all_running()
        return None

    def expect_all_running(self):
        for command, process in self.processes.items():
            assert process.poll() is None, self.log(command).read_text()
