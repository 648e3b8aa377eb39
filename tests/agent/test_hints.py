"""Commands in hints work in the shell where they are shown."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from seamark.hints import command_line


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment without installed packages."""
    path = tmp_path / "env" / "bin" / "python3"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return path


def install(folder: Path, mode: int = 0o755) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seamark").write_text("#!/bin/sh\n")
    (folder / "seamark").chmod(mode)


def test_without_an_installed_command_it_is_a_module_of_the_interpreter(interpreter):
    assert command_line("sync --spool /x") == "python3 -m seamark sync --spool /x"


def test_a_command_beside_the_interpreter_is_named(interpreter):
    install(interpreter.parent)

    assert command_line("sync") == "seamark sync"


def test_a_command_on_the_path_is_named(interpreter, tmp_path):
    install(tmp_path / "bin")

    assert command_line("sync") == "seamark sync"


def test_what_cannot_be_run_is_no_command(interpreter, tmp_path):
    install(tmp_path / "bin", mode=0o644)
    (interpreter.parent / "seamark").mkdir()

    assert command_line("sync") == "python3 -m seamark sync"


def test_an_embedded_python_has_no_name(interpreter, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")

    assert command_line("sync") == "python -m seamark sync"


def test_a_path_that_hangs_is_not_waited_for(interpreter, monkeypatch):
    may_go_on = threading.Event()
    monkeypatch.setattr("seamark.hints._is_installed", lambda: may_go_on.wait(60))

    assert command_line("sync") == "python3 -m seamark sync"

    may_go_on.set()
