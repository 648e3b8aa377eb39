"""The agent as people install it: a small wheel, on every Python that it promises."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agent.version import VERSION
from tests import pythons
from tests.agent.conftest import REPOSITORY
from tests.pythons import VERSIONS, find_python, missing_pythons

MOST_BYTES = 500_000

SCRIPT = """
import logging, sys, warnings
warnings.simplefilter("error")

import agent
assert "site-packages" in agent.__file__, agent.__file__

run = agent.init("r", project="p", stage="train")
for step in range(100):
    with run.phase("forward"):
        run.log({"loss": 1 / (step + 1), "note": f"step {step}"}, step=step)
run["seen"] = ".".join(map(str, sys.version_info[:2]))
run.finish()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", str(REPOSITORY)]
    subprocess.run([*command, "-w", str(folder)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_wheel_is_small_typed_and_holds_the_agent_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert wheel.stat().st_size < MOST_BYTES
    assert "agent/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"agent", "seamark"}


def test_its_metadata_say_what_it_is_and_on_which_python_it_runs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
        readmes = [n for n in archive.namelist() if n.endswith("README.md")]

    classifiers = metadata.get_all("Classifier") or []
    pythons = [c.rpartition(" ")[2] for c in classifiers if ":: Python :: 3." in c]
    assert tuple(pythons) == VERSIONS
    assert "Typing :: Typed" in classifiers
    assert metadata["Requires-Python"] == f">={VERSIONS[0]}"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Version"] == VERSION
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "agent.init(" in metadata.get_payload()
    # Links that lead nowhere outside the repository.
    assert not re.search(r"\]\((?!https://)", metadata.get_payload())
    assert readmes == []


def test_what_is_installed_with_it_is_what_its_requirements_name(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))

    wanted = [re.split(r"[<>=]", line)[0] for line in metadata.get_all("Requires-Dist")]
    assert sorted(wanted) == ["msgspec", "nvidia-ml-py", "psutil", "zstandard"]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_installs_and_logs(version, wheel, tracker, tmp_path):
    python = find_python(version)
    if python is None:
        pytest.skip(f"NOT TRIED: Python {version}, which is promised and not installed")

    folder = tmp_path / "environment"
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install"]
    subprocess.run([*pip, "-q", "--only-binary", ":all:", wheel], check=True)
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }
    ran = subprocess.run(
        [folder / "bin/python", "-c", SCRIPT],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = subprocess.run(
        [folder / "bin/seamark", "--version"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert tracker.values("loss") == [1 / (step + 1) for step in range(100)]
    assert said.returncode == 0, said.stderr


def test_pythons_that_are_promised_and_not_here_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(pythons, "PYENV", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    this = f"{sys.version_info.major}.{sys.version_info.minor}"

    assert missing_pythons() == [v for v in VERSIONS if v != this]
