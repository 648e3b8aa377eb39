"""The installed agent: a small wheel, for each supported Python."""

from __future__ import annotations

import ast
import email
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from seamark.version import VERSION
from tests import pythons
from tests.agent.conftest import REPOSITORY
from tests.pythons import VERSIONS, find_python, missing_pythons

MAX_BYTES = 620_000
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"

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

OWN_MODULE = "raise SystemExit('a module of the user was run')"
# Processes of a job in a folder with its own agent.py, which import seamark.
BESIDE_AN_OWN_MODULE = """
import multiprocessing, pickle
import seamark as agent

def work(run):
    run["child"].append(2.0)

if __name__ == "__main__":
    run = agent.init("r", project="p", stage="train", capture=True)
    run["loss"].append(1.0)
    assert pickle.loads(pickle.dumps(agent.init)) is agent.init
    spawned = multiprocessing.get_context("spawn").Process(target=work, args=(run,))
    spawned.start()
    spawned.join()
    run.finish()
"""
BOTH_NAMES = """
import agent, seamark
from pathlib import Path

assert agent.__all__ == seamark.__all__
assert all(getattr(agent, name) is getattr(seamark, name) for name in seamark.__all__)
run = agent.init("r", mode="offline", monitor=False)
assert seamark.init("r", mode="offline") is run
run.finish()
folder = Path(seamark.__file__).parents[1] / "agent/frameworks"
print(*sorted(p.stem for p in folder.glob("[a-z]*.py")))
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

    assert wheel.stat().st_size < MAX_BYTES
    assert {"agent/py.typed", "seamark/py.typed"} <= set(names)
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

    names = [re.split(r"[<>=]", line)[0] for line in metadata.get_all("Requires-Dist")]
    assert sorted(names) == ["msgspec", "nvidia-ml-py", "psutil", "zstandard"]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Unpack the wheel into a separate folder, as pip does."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def run_installed(installed, tmp_path):
    def run(*arguments, **variables):
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(installed), **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture(params=["agent.py", "agent/__init__.py"])
def own_module(request, tmp_path):
    path = tmp_path / request.param
    path.parent.mkdir(exist_ok=True)
    path.write_text(OWN_MODULE)
    return path


def test_seamark_works_in_a_folder_with_a_module_agent(
    own_module, run_installed, tracker, tmp_path
):
    (tmp_path / "train.py").write_text(BESIDE_AN_OWN_MODULE)

    done = run_installed("train.py")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert tracker.values("loss") == [1.0]
    assert tracker.values("child") == [2.0]


def test_commands_work_in_a_folder_with_a_module_agent(
    own_module, run_installed, tracker, tmp_path
):
    (tmp_path / "train.py").write_text("print('trained')")

    version = run_installed("-m", "seamark", "--version")
    watched = run_installed("-m", "seamark", "run", "--", sys.executable, "train.py")

    assert (version.returncode, version.stderr) == (0, "")
    assert (watched.returncode, watched.stdout) == (0, "trained\n")


def test_both_names_give_the_same_objects_and_runs(run_installed, tmp_path):
    done = run_installed("-c", BOTH_NAMES, SEAMARK_SPOOL=str(tmp_path / "spool"))

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted(
        path.stem for path in (REPOSITORY / "agent/alias/frameworks").glob("[a-z]*.py")
    )


def test_documented_framework_imports_exist_under_both_names():
    pages = [*(REPOSITORY / "docs").rglob("*.md"), *REPOSITORY.glob("*.md")]
    imports = {
        found
        for page in pages
        for found in re.findall(
            r"from agent\.frameworks\.(\w+) import (.+)", page.read_text()
        )
    }

    assert imports
    for module, names in imports:
        alias = REPOSITORY / f"agent/alias/frameworks/{module}.py"
        public = ast.literal_eval(alias.read_text().partition("__all__ = ")[2])
        assert set(names.split(", ")) <= set(public)


@pytest.mark.parametrize(
    "version",
    [
        version if version == THIS else pytest.param(version, marks=pytest.mark.slow)
        for version in VERSIONS
    ],
)
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
    result = subprocess.run(
        [folder / "bin/seamark", "--version"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert tracker.values("loss") == [1 / (step + 1) for step in range(100)]
    assert result.returncode == 0, result.stderr


def test_pythons_that_are_promised_and_not_here_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(pythons, "PYENV", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert missing_pythons() == [v for v in VERSIONS if v != THIS]
