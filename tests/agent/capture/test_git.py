"""Git facts of real repositories, friendly and hostile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest

from seamark.capture import git
from seamark.capture.script import Script

NAMES = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+00:00",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+00:00",
}


def run_git(folder, *arguments):
    environment = {**os.environ, **NAMES, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    run_git(folder, "init", "--initial-branch", "trunk")
    (folder / "train.py").write_text("print(1)\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-m", "Say one\n\nBecause of this.")
    return folder


def facts_of(folder, monkeypatch, **environment):
    return git.facts(Script(None, folder), {**os.environ, **environment})


def test_a_clean_repository(repository, monkeypatch):
    facts = facts_of(repository, monkeypatch)

    assert facts == {
        "root": str(repository),
        "branch": "trunk",
        "commit": run_git(repository, "rev-parse", "HEAD"),
        "message": "Say one\n\nBecause of this.",
        "author_time": datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc),
        "is_dirty": False,
    }


def test_changes_of_tracked_files_whole_and_others_by_name(repository, monkeypatch):
    (repository / "train.py").write_text("print(2)\n")
    (repository / "new").mkdir()
    (repository / "new/data.bin").write_bytes(b"secret content")
    (repository / "änder\nung.txt").write_text("x")

    facts = facts_of(repository, monkeypatch)

    assert facts["is_dirty"] is True
    assert "-print(1)\n+print(2)\n" in facts["diff"]
    assert facts["untracked"] == {"new/", "änder\nung.txt"}
    assert "secret content" not in str(facts)


def test_staged_changes_count(repository, monkeypatch):
    (repository / "train.py").write_text("print(3)\n")
    run_git(repository, "add", ".")

    assert "+print(3)" in facts_of(repository, monkeypatch)["diff"]


def test_a_folder_below_sees_the_whole_repository(repository, monkeypatch):
    (repository / "below").mkdir()
    (repository / "train.py").write_text("print(4)\n")
    (repository / "other.txt").write_text("x")

    facts = facts_of(repository / "below", monkeypatch)

    assert facts["root"] == str(repository)
    assert "+print(4)" in facts["diff"]
    assert facts["untracked"] == {"other.txt"}


def test_the_remote_of_the_branch_comes_first(repository, monkeypatch):
    run_git(repository, "remote", "add", "origin", "https://example.org/origin.git")
    run_git(repository, "remote", "add", "mine", "https://example.org/mine.git")

    assert facts_of(repository, monkeypatch)["remote"].endswith("origin.git")

    run_git(repository, "config", "branch.trunk.remote", "mine")
    assert facts_of(repository, monkeypatch)["remote"].endswith("mine.git")


def test_a_detached_head_has_no_branch(repository, monkeypatch):
    run_git(repository, "checkout", "--detach")

    assert "branch" not in facts_of(repository, monkeypatch)


def test_a_repository_without_a_commit(tmp_path, monkeypatch):
    run_git(tmp_path, "init", "--initial-branch", "trunk")

    facts = facts_of(tmp_path, monkeypatch)

    assert facts["absent"] == "The repository has no commit yet."
    assert facts["branch"] == "trunk"


def test_no_repository(tmp_path, monkeypatch):
    facts = facts_of(tmp_path, monkeypatch)

    assert facts == {"absent": f"{tmp_path} is not in a git repository."}


def test_no_git(tmp_path, monkeypatch):
    assert facts_of(tmp_path, monkeypatch, PATH="/nonexistent") == {
        "absent": "git is not installed."
    }


@pytest.fixture
def taken_codes():
    """All children's exit codes are gone, as where the training calls os.wait()."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


def test_without_exit_codes_what_git_answered_is_known(
    repository, monkeypatch, taken_codes
):
    (repository / "train.py").write_text("print(2)\n")
    facts = facts_of(repository, monkeypatch)

    assert (facts["branch"], facts["is_dirty"]) == ("trunk", True)
    assert "+print(2)" in facts["diff"]
    assert facts["message"] == "Say one\n\nBecause of this."


def test_without_exit_codes_no_answer_does_not_mean_no_changes(
    repository, monkeypatch, taken_codes
):
    facts = facts_of(repository, monkeypatch)

    assert facts["branch"] == "trunk"
    assert "is_dirty" not in facts
    assert "waited for all its children" in facts["absent_diff"]


def test_without_exit_codes_no_repository_is_known(tmp_path, monkeypatch, taken_codes):
    facts = facts_of(tmp_path, monkeypatch)

    assert facts == {"absent": f"{tmp_path} is not in a git repository."}


@pytest.mark.parametrize(("folder", "most"), [("elsewhere", 0), ("repository", 8)])
def test_git_is_asked_seldom(repository, tmp_path, monkeypatch, folder, most):
    asked = tmp_path / "asked"
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho >> {asked}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    asked.touch()
    path = f"{program.parent}:{os.environ['PATH']}"

    facts = facts_of(tmp_path / folder, monkeypatch, PATH=path)

    assert ("commit" in facts) == bool(most)
    assert len(asked.read_text()) <= most


def test_a_git_that_hangs_is_not_waited_for(repository, tmp_path, monkeypatch):
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(git, "TIMEOUT_SECONDS", 0.3)

    facts = facts_of(repository, monkeypatch, PATH=f"{slow.parent}:/usr/bin:/bin")

    assert facts["absent"].startswith("git took longer than")


def test_a_huge_diff_is_cut(repository, monkeypatch):
    (repository / "train.py").write_text("line of text\n" * 1_000_000)

    facts = facts_of(repository, monkeypatch)

    assert len(facts["diff"]) == 1024 * 1024
    assert facts["is_dirty"] is True


def test_variables_of_git_that_point_elsewhere_are_not_obeyed(
    repository, tmp_path, monkeypatch
):
    other = tmp_path / "other"
    other.mkdir()
    run_git(other, "init")

    facts = facts_of(repository, monkeypatch, GIT_DIR=str(other / ".git"))

    assert facts["root"] == str(repository)


# Each runs the program `trap` if git obeys it.
HOSTILE = {
    "fsmonitor": ("core.fsmonitor", "{trap}"),
    "pager": ("core.pager", "{trap}"),
    "diff": ("diff.external", "{trap}"),
    "pager of diff": ("pager.diff", "{trap}"),
    "hooks": ("core.hooksPath", "{folder}"),
    "ssh": ("core.sshCommand", "{trap}"),
    "signature": ("gpg.program", "{trap}"),
    "alias": ("alias.diff", "!{trap}"),
    "textconv": ("diff.evil.textconv", "{trap}"),
    "command": ("diff.evil.command", "{trap}"),
    "filter": ("filter.evil.clean", "{trap}"),
    "process": ("filter.evil.process", "{trap}"),
    "odd name": ("filter.evil.x y.clean", "{trap}"),
    "editor": ("core.editor", "{trap}"),
}


@pytest.fixture
def sprung(tmp_path):
    """The file that the program `trap` leaves."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\ncat\n")
    trap.chmod(0o755)
    return tmp_path / "sprung"


@pytest.fixture
def old_git(tmp_path):
    """Variables with a git that takes no settings from others, as before 2.31."""
    program = tmp_path / "old" / "git"
    program.parent.mkdir()
    real = shutil.which("git")
    program.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {real} "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_program_that_a_repository_names_is_run(
    repository, tmp_path, old_git, name, sprung
):
    trap = tmp_path / "trap"
    setting, value = HOSTILE[name]
    (repository / ".gitattributes").write_text(
        '*.py diff=evil filter=evil\n*.txt filter="evil.x y"\n'
    )
    for hook in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        (tmp_path / hook).symlink_to(trap)
    run_git(repository, "add", ".gitattributes")
    run_git(repository, "commit", "-m", "Attributes")
    run_git(repository, "config", "log.showSignature", "true")
    run_git(repository, "config", setting, value.format(trap=trap, folder=tmp_path))
    (repository / "train.py").write_text("print(5)\n")

    for environment in (os.environ, os.environ | old_git):
        facts = git.facts(Script(None, repository), environment)

        assert not sprung.exists()
        assert "+print(5)" in facts["diff"]


@pytest.mark.parametrize("driver", [b"evil=x", b"evil.x y=z", b"evil\xff"])
def test_there_is_no_diff_where_a_program_has_a_name_that_cannot_be_said(
    repository, tmp_path, monkeypatch, driver, sprung
):
    (repository / ".gitattributes").write_bytes(b"*.py filter=%s\n" % driver)
    run_git(repository, "config", b"filter.%s.clean" % driver, str(tmp_path / "trap"))
    (repository / "train.py").write_text("print(5)\n")

    facts = facts_of(repository, monkeypatch)

    assert not sprung.exists()
    assert facts["commit"]
    assert "diff" not in facts
    assert "programs that cannot be disabled" in facts["absent_diff"]


def test_there_is_no_diff_where_settings_name_very_many_programs(
    repository, tmp_path, monkeypatch, sprung
):
    drivers = "".join(f'[filter "f{n}"]\n\tclean = cat\n' for n in range(300))
    evil = f'[filter "evil"]\n\tclean = {tmp_path / "trap"}\n'
    with (repository / ".git/config").open("a") as file:
        file.write(drivers + evil)
    (repository / ".gitattributes").write_text("*.py filter=evil\n")
    (repository / "train.py").write_text("print(5)\n")

    facts = facts_of(repository, monkeypatch)

    assert not sprung.exists()
    assert "programs that cannot be disabled" in facts["absent_diff"]


def test_there_is_no_diff_where_git_does_not_say_what_the_settings_name(
    repository, tmp_path, monkeypatch, sprung
):
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    real = shutil.which("git")
    refuse = 'case "$*" in *--name-only*) exit 129;; esac'
    program.write_text(f'#!/bin/sh\n{refuse}\nexec {real} "$@"\n')
    program.chmod(0o755)
    run_git(repository, "config", "filter.evil.clean", str(tmp_path / "trap"))
    (repository / ".gitattributes").write_text("*.py filter=evil\n")
    (repository / "train.py").write_text("print(5)\n")

    facts = facts_of(repository, monkeypatch, PATH=f"{program.parent}:/usr/bin:/bin")

    assert facts["branch"] == "trunk"
    assert not sprung.exists()
    assert "diff" not in facts


def test_a_required_filter_is_not_run_either(repository, tmp_path, monkeypatch):
    run_git(repository, "config", "filter.lfs.required", "true")
    run_git(repository, "config", "filter.lfs.clean", "false")
    (repository / ".gitattributes").write_text("*.py filter=lfs\n")
    (repository / "train.py").write_text("print(6)\n")

    assert "+print(6)" in facts_of(repository, monkeypatch)["diff"]


def test_files_outside_of_the_repository_are_not_compared(
    repository, tmp_path, monkeypatch
):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "train.py").write_text("private words\n")
    run_git(repository, "config", "core.worktree", str(outside))

    assert "private words" not in str(facts_of(repository, monkeypatch))


def test_links_are_not_followed(repository, tmp_path, monkeypatch):
    private = tmp_path / "private"
    private.write_text("private words\n")
    (repository / "train.py").unlink()
    (repository / "train.py").symlink_to(private)

    facts = facts_of(repository, monkeypatch)

    assert facts["is_dirty"] is True
    assert "private words" not in str(facts)


def test_a_repository_of_somebody_else_is_left_alone_and_says_so(
    repository, monkeypatch
):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in (repository, *repository.rglob("*")):
        os.chown(path, 12345, 12345)

    absent = facts_of(repository, monkeypatch)["absent"]

    assert "belongs to another user" in absent
    assert "safe.directory" in absent


def test_nothing_in_the_repository_is_changed(repository, monkeypatch):
    def seen():
        return {
            str(p): (p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"")
            for p in sorted((repository / ".git").rglob("*"))
        }

    os.utime(repository / "train.py")
    before = seen()
    facts_of(repository, monkeypatch)

    assert seen() == before


def test_a_script_is_looked_up_by_its_own_folder(repository, tracker, run_script):
    script = repository / "train.py"
    script.write_text("import agent\nrun = agent.init('r', capture={'git'})\n")

    subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        cwd="/",
        check=True,
        timeout=60,
    )

    attributes = tracker.attributes()
    assert attributes["monitoring/main/git/root"] == str(repository)
    assert "+import agent" in attributes["monitoring/main/git/diff"]
