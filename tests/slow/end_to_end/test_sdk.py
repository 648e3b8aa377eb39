"""A new member installs the SDK from the server, without a checkout, and logs a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.builders import make_member
from tests.pythons import VERSIONS, find_python
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.models import Run
from tracker.queries.series.series import read_points

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.database,
    pytest.mark.timeout(900),
]

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import agent
assert "site-packages" in agent.__file__, agent.__file__
run = agent.init("first", project="demo", stage="train")
for step in range(100):
    run["train/loss"].append(1 / (step + 1), step=step)
run.finish()
"""


@pytest.fixture
def environment(tmp_path):
    """Variables of a person with a home of their own, and nothing of this test run."""
    ours = ("SEAMARK_", "XDG_", "PYTHON", "DJANGO_")
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(ours)
    }
    return {**kept, "HOME": str(tmp_path)}


@pytest.fixture
def address(live_server, settings, member, client_of):
    """Return the address in the command on a new member's first page."""
    settings.PUBLIC_URL = live_server.url
    bob = make_member("bob", "member", workspace=member.workspace)
    page = client_of(bob).get("/").content.decode()
    (address,) = set(re.findall(r"pip install (http\S+\.tar\.gz)", page))
    assert address.startswith(f"{live_server.url}/sdk/")
    return address


@pytest.fixture(params=[VERSIONS[0], "3.13"])
def python(request, tmp_path):
    """The interpreter of an empty virtual environment."""
    found = find_python(request.param)
    if found is None:
        pytest.skip(f"NOT TRIED: Python {request.param} is not installed")
    subprocess.run([found, "-m", "venv", tmp_path / "venv"], check=True)
    return tmp_path / "venv/bin/python"


def test_pip_installs_it_and_it_logs(python, address, environment, live_server, member):
    install = [python, "-m", "pip", "install", "-q", "--no-cache-dir", address]
    subprocess.run(install, env=environment, cwd=environment["HOME"], check=True)
    token = make_token(member, "bob", Scope.LOG)

    server = {"SEAMARK_URL": live_server.url, "SEAMARK_TOKEN": token}
    subprocess.run(
        [python, "-c", SCRIPT],
        env={**environment, **server},
        cwd=environment["HOME"],
        check=True,
    )

    run = Run.objects.get()
    assert read_points(run, "train/loss").values.tolist() == [
        1 / (step + 1) for step in range(100)
    ]


def test_its_wheel_has_the_files_of_one_from_the_checkout(
    address, environment, tmp_path
):
    wheels = [
        wheel_of(source, tmp_path / name, environment)
        for name, source in {"server": address, "checkout": str(ROOT)}.items()
    ]

    from_server, from_checkout = wheels
    assert from_server == from_checkout


def wheel_of(source, folder, environment):
    """Return the files of the wheel that pip builds, by name."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
    arguments = ["--no-cache-dir", "-w", folder, source]
    subprocess.run([*command, *arguments], env=environment, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.endswith(("/RECORD", "/requirements.txt"))
        }
