"""Captures the script's commit and the uncommitted changes.

A repository may belong to another user, and its settings may name programs. So git is
configured to run none of them, take no locks, never prompt, and finish within a
timeout.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.capture.facts import Facts
from seamark.capture.script import Script
from seamark.lifecycle.background import importing
from seamark.recording.values import LARGEST_SET, LONGEST_SET_STRING

if TYPE_CHECKING:
    import subprocess

# Total time of all git commands; later output is ignored.
TIMEOUT_SECONDS = 10.0
# Size of a diff before secrets are removed and it is cut to the stored length.
_LARGEST_OUTPUT = 1024 * 1024  # bytes

# Disables programs named in a repository's settings (file monitors, hooks, pagers, diff
# filters, signature checks) and all fetches.
_SAFE_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.untrackedCache", "false"),
    ("core.preloadIndex", "false"),
    ("core.attributesFile", os.devnull),
    ("core.quotePath", "false"),
    ("diff.external", ""),
    ("diff.trustExitCode", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("credential.helper", ""),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
)
_SAFE_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_NOSYSTEM": "0",
    "LC_ALL": "C",
}
# Suffixes of driver settings that run programs on the content of files.
_PROGRAMS = re.compile(
    r"^(?:filter\.(?s:.*)\.(?:clean|smudge|process)|"
    r"diff\.(?s:.*)\.(?:command|textconv))$",
    re.IGNORECASE,
)
_MAX_DRIVERS = 200
# Length of all names of settings: a name beyond the limit would stay in effect.
_LONGEST_NAMES = _LARGEST_OUTPUT // 4  # characters
# Characters that `git -c` cannot pass in a name; U+FFFD replaces invalid bytes.
_UNSAYABLE = re.compile("[=\ufffd]")
_NONE_FOUND = 1  # git's exit code if nothing matches
_UNSAFE = "The git settings name programs that cannot be disabled."


class NotKnown(Exception):
    """Git has no answer; the message is the reason."""


def facts(script: Script, environment: Mapping[str, str] = os.environ) -> Facts:
    """Return git's facts about the script's folder, or the reason why there are none."""
    try:
        return _facts(Git(_folder(script), environment))
    except NotKnown as reason:
        return {"absent": str(reason)}


def _facts(git: Git) -> Facts:
    root = git.find_root()
    git.forbid_programs()
    found: Facts = {"root": str(root)}
    branch = git.first_line("symbolic-ref", "--quiet", "--short", "HEAD")
    if branch:
        found["branch"] = branch
    remote = _remote(git, branch)
    if remote:
        found["remote"] = remote
    commit = git.first_line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if commit is None:
        return {**found, "absent": "The repository has no commit yet."}
    found["commit"] = commit
    found.update(_commit(git, commit))
    found.update(_changes(git))
    return found


def _commit(git: Git, commit: str) -> Facts:
    shown = git.output("log", "-1", "--no-show-signature", "--format=%at%n%B", commit)
    if shown is None:
        return {}
    seconds, _, message = shown.partition("\n")
    found: Facts = {"message": message.strip()}
    with contextlib.suppress(ValueError, OverflowError, OSError):
        found["author_time"] = datetime.fromtimestamp(int(seconds), timezone.utc)
    return found


def _changes(git: Git) -> Facts:
    """Return the changes since the commit: the diff of tracked files, names of others."""
    found: Facts = {}
    if not git.is_safe:
        return {"absent_diff": _UNSAFE}
    diff = git.output(
        *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"),
        *(
            "--ignore-submodules=all",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "HEAD",
            "--",
        ),
    )
    if diff is None:
        return {"absent_diff": git.why}
    found["is_dirty"] = bool(diff)
    if diff:
        found["diff"] = diff
    names = git.output(
        "ls-files",
        "--others",
        "--exclude-standard",
        "--directory",
        "--no-empty-directory",
        "-z",
    )
    untracked = [name for name in (names or "").split("\0") if name]
    if untracked:
        kept = (name[:LONGEST_SET_STRING] for name in untracked[:LARGEST_SET])
        found["untracked"] = frozenset(kept)
        found["untracked_count"] = len(untracked)
    return found


def _remote(git: Git, branch: str | None) -> str | None:
    """Return the URL of the branch's remote, else of `origin`, else of any."""
    found = git.settings(r"^(branch\..*\.remote|remote\..*\.url)$")
    of_branch = found.get(f"branch.{branch}.remote")
    others = (
        name[len("remote.") : -len(".url")]
        for name in sorted(found)
        if name.startswith("remote.")
    )
    for name in dict.fromkeys([of_branch or "origin", "origin", *others]):
        address = found.get(f"remote.{name}.url")
        if address:
            return address.split("\n", 1)[0]
    return None


def _folder(script: Script) -> Path:
    folder = script.path.parent if script.path else script.folder
    if folder is None:
        raise NotKnown("The working directory is deleted.")
    return folder.resolve()


class Git:
    """Runs git commands in one folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.why = ""
        self.code: int | None = 0  # exit code of the last command; None if unknown
        # Whether files can be read without running foreign programs.
        self.is_safe = True
        self._deadline = time.monotonic() + TIMEOUT_SECONDS
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise NotKnown("git is not installed.")
        self._program = program
        # The caller's git variables may point to another repository.
        kept = {k: v for k, v in environment.items() if not k.startswith("GIT_")}
        self._environment = {**kept, **_SAFE_VARIABLES}
        self._settings = [*_SAFE_SETTINGS]

    def find_root(self) -> Path:
        """Return the working tree's root, and use it for the following commands."""
        # Avoids a child process where possible: it could disturb a training that waits
        # for all its children. Git may be able to read folders that we cannot.
        with contextlib.suppress(OSError):
            if not any((f / ".git").exists() for f in _upwards(self.folder)):
                raise NotKnown(self._refusal())
        answer = self.output("rev-parse", "--show-toplevel", with_errors=True)
        if answer is None or not answer.strip():
            raise NotKnown(self._refusal())
        root = Path(answer.rstrip("\n"))
        # Settings may place the working tree elsewhere, to have other files compared.
        if root not in _upwards(self.folder) or _is_nested(self.folder, root):
            raise NotKnown(f"The working tree of {self.folder} is in another folder.")
        self.folder = root
        return root

    def forbid_programs(self) -> None:
        """Clear the settings that name programs to run on files' contents."""
        names = self.output(
            "config", "--name-only", "-z", "--get-regexp", r"^(filter|diff)\."
        )
        is_known = names is not None or self.code == _NONE_FOUND
        names = names or ""
        programs = [name for name in names.split("\0") if _PROGRAMS.match(name)]
        sayable = [x for x in programs if not _UNSAYABLE.search(x)][:_MAX_DRIVERS]
        for name in sayable:
            self._settings.append((name, ""))
            if name.lower().startswith("filter."):
                driver = name.rpartition(".")[0]
                self._settings.append((f"{driver}.required", "false"))
        is_whole = len(names) < _LONGEST_NAMES
        self.is_safe = is_known and is_whole and sayable == programs

    def settings(self, pattern: str) -> dict[str, str]:
        """Return the settings whose names match; the last value of each counts."""
        answer = self.output("config", "-z", "--get-regexp", pattern)
        entries = (entry.partition("\n") for entry in (answer or "").split("\0"))
        return {name: value for name, _, value in entries}

    def first_line(self, *arguments: str) -> str | None:
        """Return the first line of a command's output; None if there is none."""
        answer = self.output(*arguments)
        return answer.split("\n", 1)[0] if answer else None

    def output(self, *arguments: str, with_errors: bool = False) -> str | None:
        """Return the beginning of a command's output; None if it fails."""
        # Passed as options, because older git versions do not support the variables.
        settings = [
            text for name, value in self._settings for text in ("-c", f"{name}={value}")
        ]
        options = ["--no-pager", "-C", str(self.folder), *settings]
        answer, self.code = self._run(
            [self._program, *options, *arguments], with_errors=with_errors
        )
        # If the exit code is unknown, any output counts as success.
        is_reported = self.code is None and answer and not answer.startswith("fatal:")
        if self.code == 0 or is_reported:
            return answer
        ended = _TAKEN if self.code is None else f"with exit code {self.code}"
        self.why = f"git {arguments[0]} ended {ended}. {answer if with_errors else ''}"
        return None

    def _refusal(self) -> str:
        if "dubious ownership" in self.why:
            return (
                f"{self.folder} belongs to another user, so git does not read it; "
                "`git config --global --add safe.directory FOLDER` allows it."
            )
        return f"{self.folder} is not in a git repository."

    def _run(
        self, command: Sequence[str], *, with_errors: bool
    ) -> tuple[str, int | None]:
        """Return the beginning of a command's output, and its exit code if known."""
        if time.monotonic() >= self._deadline:
            raise NotKnown(_TOO_LONG)
        with importing():
            import subprocess  # noqa: PLC0415 - not loaded when nothing is captured

            # A child forked in between would keep the pipe open.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if with_errors else subprocess.DEVNULL,
                env=self._environment,
                # Ctrl-C is for the training.
                start_new_session=True,
            )
        assert process.stdout is not None
        # Kills git after the timeout: it may block on a disk or a program.
        timer = threading.Timer(self._deadline - time.monotonic(), process.kill)
        timer.daemon = True
        timer.start()
        try:
            with process.stdout:
                answer = process.stdout.read(_LARGEST_OUTPUT)
                is_cut = len(answer) == _LARGEST_OUTPUT
            if is_cut:
                process.kill()
            code = _exit_code(process)
        finally:
            timer.cancel()
        if is_cut:
            code = 0
        if code != 0 and time.monotonic() >= self._deadline:
            raise NotKnown(_TOO_LONG)
        return answer.decode("utf-8", "replace"), code


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for the end; None if the training took the code, for example by os.wait().

    Popen would report 0 in that case, even if git failed.
    """
    try:
        _, status = os.waitpid(process.pid, 0)
    except ChildProcessError:
        process.returncode = 0
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


def _upwards(folder: Path) -> tuple[Path, ...]:
    return folder, *folder.parents


def _is_nested(folder: Path, root: Path) -> bool:
    """Return whether another repository lies between them, or the root has none."""
    between = [f for f in _upwards(folder) if root in f.parents]
    return any((f / ".git").exists() for f in between) or not (root / ".git").exists()


_TAKEN = "with an unknown exit code, because the program waited for all its children"
_TOO_LONG = f"git took longer than {TIMEOUT_SECONDS:.0f} s."
