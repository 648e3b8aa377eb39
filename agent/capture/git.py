"""Which commit the script is from, and what differs from it.

A repository may belong to somebody else, and its settings may name programs. So git is
told to run none of them, to take no locks, to ask nobody, and to be done in time.
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

# All of git's answers together; what has not come by then is not waited for.
TIMEOUT_SECONDS = 10.0
# Of a diff, before secrets are taken out and it is cut to what is stored.
_LARGEST_OUTPUT = 1024 * 1024  # bytes

# No programs that a repository's settings name: monitors of files, hooks, pagers,
# filters of diffs, signatures' checkers; and nothing fetched from anywhere.
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
# Driver settings that run programs on the content of files, by their names' ends.
_PROGRAMS = re.compile(
    r"^(?:filter\.(?s:.*)\.(?:clean|smudge|process)|"
    r"diff\.(?s:.*)\.(?:command|textconv))$",
    re.IGNORECASE,
)
_MAX_DRIVERS = 200
# Of settings' names; what may be cut off would be obeyed.
_LONGEST_NAMES = _LARGEST_OUTPUT // 4  # characters
# In a name to `git -c`; and what stands for bytes that are no text.
_UNSAYABLE = re.compile("[=\ufffd]")
_NONE_FOUND = 1  # the exit code of a search
_UNSAFE = "The settings name programs that git cannot be kept from running."


class NotKnown(Exception):
    """Git has no answer; the message says why."""


def facts(script: Script, environment: Mapping[str, str] = os.environ) -> Facts:
    """Return what git knows of the script's folder, or why it knows nothing."""
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
    """Return how the files differ from the commit: tracked ones whole, others by name."""
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
    """Return the address of the branch's remote, else of `origin`, else of any."""
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
        raise NotKnown("The working directory is gone.")
    return folder.resolve()


class Git:
    """Asks git about one folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.why = ""
        self.code: int | None = 0  # of the last answer; None if it is not known
        # Whether files' contents can be looked at without running foreign programs.
        self.is_safe = True
        self._deadline = time.monotonic() + TIMEOUT_SECONDS
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise NotKnown("git is not installed.")
        self._program = program
        # What is set for git by the caller may point to another repository.
        kept = {k: v for k, v in environment.items() if not k.startswith("GIT_")}
        self._environment = {**kept, **_SAFE_VARIABLES}
        self._settings = [*_SAFE_SETTINGS]

    def find_root(self) -> Path:
        """Return the working tree's folder, and ask about all of it from now on."""
        # Any child can be in the way of a training that waits for all of its own. What
        # we may not look at, git may say.
        with contextlib.suppress(OSError):
            if not any((f / ".git").exists() for f in _upwards(self.folder)):
                raise NotKnown(self._refusal())
        answer = self.output("rev-parse", "--show-toplevel", with_errors=True)
        if answer is None or not answer.strip():
            raise NotKnown(self._refusal())
        root = Path(answer.rstrip("\n"))
        # Settings may place a working tree anywhere, to have other files compared.
        if root not in _upwards(self.folder) or _is_nested(self.folder, root):
            raise NotKnown(f"The working tree of {self.folder} lies elsewhere.")
        self.folder = root
        return root

    def forbid_programs(self) -> None:
        """Empty the settings that name programs to run on files' contents."""
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
        """Return the settings whose names match; of one that is set twice, the last."""
        answer = self.output("config", "-z", "--get-regexp", pattern)
        entries = (entry.partition("\n") for entry in (answer or "").split("\0"))
        return {name: value for name, _, value in entries}

    def first_line(self, *arguments: str) -> str | None:
        """Return one line of an answer; None if there is none."""
        answer = self.output(*arguments)
        return answer.split("\n", 1)[0] if answer else None

    def output(self, *arguments: str, with_errors: bool = False) -> str | None:
        """Return the beginning of an answer; None if git refuses."""
        # Variables that say the same are not known to all versions there are.
        settings = [
            text for name, value in self._settings for text in ("-c", f"{name}={value}")
        ]
        options = ["--no-pager", "-C", str(self.folder), *settings]
        answer, self.code = self._run(
            [self._program, *options, *arguments], with_errors=with_errors
        )
        # Without a code, what was said is the answer, and silence is none.
        is_said = self.code is None and answer and not answer.startswith("fatal:")
        if self.code == 0 or is_said:
            return answer
        ended = _TAKEN if self.code is None else f"with exit code {self.code}"
        self.why = f"git {arguments[0]} ended {ended}. {answer if with_errors else ''}"
        return None

    def _refusal(self) -> str:
        if "dubious ownership" in self.why:
            return (
                f"{self.folder} belongs to another user, so git refuses to read it; "
                "`git config --global --add safe.directory FOLDER` allows it."
            )
        return f"{self.folder} is not in a git repository."

    def _run(
        self, command: Sequence[str], *, with_errors: bool
    ) -> tuple[str, int | None]:
        """Return the beginning of what a command says, and its exit code if known."""
        if time.monotonic() >= self._deadline:
            raise NotKnown(_TOO_LONG)
        with importing():
            import subprocess  # noqa: PLC0415 - none of it when nothing is captured

            # A child forked meanwhile would keep the pipe open for its life.
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
        # Kills rather than waits: git itself may wait, for a disk or for a program.
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
    """Wait for its end; None where the training has taken the code, as os.wait() does.

    Popen takes that for 0, and would so do with a git that failed.
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
    """Whether there is a repository between them, or none in the root."""
    between = [f for f in _upwards(folder) if root in f.parents]
    return any((f / ".git").exists() for f in between) or not (root / ".git").exists()


_TAKEN = "unseen, as the program waited for all of its children"
_TOO_LONG = f"git took longer than {TIMEOUT_SECONDS:.0f} s."
