"""The environment in .venv, created in copies of a very small repository."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tracker.embedded import environment as module
from tracker.embedded.environment import Environment, digest, included
from tracker.embedded.refusal import Refusal

# A `python -m venv` takes seconds; this one creates only the files that are checked.
FAKE_VENV = """#!/bin/sh
for folder; do :; done
mkdir -p "$folder/bin"
ln -sf "{python}" "$folder/bin/python"
"""


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/requirements.txt").write_text("one==1\n")
    (tmp_path / "requirements.txt").write_text("-r agent/requirements.txt\ntwo==2\n")
    return tmp_path


@pytest.fixture
def environment(repository):
    return Environment(repository)


def make_ready(environment):
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(sys.executable)
    stamp = digest(environment.root / "requirements.txt")
    environment.stamp.write_text(stamp)


def test_included_files_count(repository):
    assert included(repository / "requirements.txt") == [
        repository / "requirements.txt",
        repository / "agent/requirements.txt",
    ]


def test_it_is_ready_when_what_is_asked_for_was_installed(environment):
    assert not environment.is_ready(["requirements.txt"])
    make_ready(environment)
    assert environment.is_ready(["requirements.txt"])


@pytest.mark.parametrize("file", ["requirements.txt", "agent/requirements.txt"])
def test_it_is_not_ready_when_any_requirement_has_changed(environment, file):
    make_ready(environment)

    (environment.root / file).write_text("three==3\n")

    assert not environment.is_ready(["requirements.txt"])


def test_it_is_not_ready_when_its_python_is_gone(environment):
    make_ready(environment)

    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python3")

    assert not environment.is_ready(["requirements.txt"])


def test_a_ready_environment_is_not_touched(environment, capsys):
    make_ready(environment)

    environment.make(["requirements.txt"])

    assert capsys.readouterr().err == ""


def test_each_step_is_printed_with_its_duration(environment, monkeypatch, capsys):
    monkeypatch.setattr(environment, "create", lambda: None)
    monkeypatch.setattr(environment, "install", lambda _requirements: None)
    environment.folder.mkdir()

    environment.make(["requirements.txt"])

    output = capsys.readouterr().err
    assert "Making an environment in .venv … 0 s\n" in output
    assert "Installing packages … 0 s\n" in output
    assert digest(environment.root / "requirements.txt") in environment.installed()


def test_a_hard_linked_copy_of_the_environment_keeps_its_own_stamp(
    environment, monkeypatch, tmp_path
):
    make_ready(environment)
    copy = tmp_path / "copied-stamp"
    copy.hardlink_to(environment.stamp)
    before = copy.read_text()
    (environment.root / "requirements.txt").write_text("three==3\n")
    monkeypatch.setattr(environment, "install", lambda _requirements: None)

    environment.make(["requirements.txt"])

    assert environment.is_ready(["requirements.txt"])
    assert copy.read_text() == before


def test_a_failed_installation_is_retried(environment, monkeypatch):
    def refuse(_requirements):
        raise Refusal("no network")

    monkeypatch.setattr(environment, "create", lambda: None)
    monkeypatch.setattr(environment, "install", refuse)

    with pytest.raises(Refusal):
        environment.make(["requirements.txt"])

    assert not environment.is_ready(["requirements.txt"])


def test_packages_that_cannot_be_had_are_refused_in_one_line(environment, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda _name: None)
    environment.folder.mkdir()
    environment.python.parent.mkdir()
    environment.python.write_text(
        "#!/bin/sh\necho Looking\necho 'ERROR: No matching distribution for one==1'\n"
        "echo 'try again'\nexit 1\n"
    )
    environment.python.chmod(0o755)

    with pytest.raises(Refusal, match="is there a network") as refusal:
        environment.install(["requirements.txt"])

    assert "No matching distribution for one==1" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert "Looking" in environment.log.read_text()


def test_pip_is_asked_when_uv_fails(environment, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda _name: "/bin/false")
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text('#!/bin/sh\necho "$@" > asked\n')
    environment.python.chmod(0o755)

    environment.install(["requirements.txt"])

    asked = (environment.root / "asked").read_text()
    assert "-m pip install" in asked
    assert "-r requirements.txt" in asked


def test_each_file_is_installed_by_itself(environment, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda _name: None)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text('#!/bin/sh\necho "$@" >> asked\n')
    environment.python.chmod(0o755)

    environment.install(["hashed.txt", "plain.txt"])

    first, second = (environment.root / "asked").read_text().splitlines()
    assert first.endswith("-r hashed.txt")
    assert second.endswith("-r plain.txt")


def test_a_python_without_ensurepip_is_refused_with_the_package_to_install(
    environment, monkeypatch
):
    monkeypatch.setattr(module, "has_ensurepip", lambda: False)
    monkeypatch.setattr(module.shutil, "which", lambda _name: None)

    with pytest.raises(Refusal, match="apt install python3-venv"):
        environment.create()


def test_uv_makes_the_environment_of_a_python_without_ensurepip(
    environment, monkeypatch, tmp_path
):
    uv = tmp_path / "uv"
    uv.write_text(FAKE_VENV.format(python=sys.executable))
    uv.chmod(0o755)
    monkeypatch.setattr(module, "has_ensurepip", lambda: False)
    monkeypatch.setattr(module.shutil, "which", lambda _name: str(uv))

    environment.create()

    assert module.works(environment.python)


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(
    environment, monkeypatch
):
    # Root can write everywhere, but not in a folder that is a file.
    shutil.rmtree(environment.folder, ignore_errors=True)
    environment.folder.write_text("")

    with pytest.raises(Refusal, match="Cannot make") as refusal:
        environment.create()

    assert "\n" not in str(refusal.value)


def test_an_interpreter_that_is_gone_does_not_work(tmp_path):
    assert not module.works(tmp_path / "python")
    assert module.works(Path(sys.executable))


def test_requirements_files_of_all_commands_exist():
    root = Path(module.__file__).parents[2]
    for names in module.REQUIREMENTS.values():
        assert all((root / name).exists() for name in names)
