"""Creates the environment in .venv for the commands, and enters it.

Runs before anything is installed, so it may import the standard library only. It
ignores an activated environment and always uses .venv.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tracker.embedded.refusal import Refusal

# Lock files, written by `manage.py lock`. Later ones repeat packages of earlier ones.
SERVER_REQUIREMENTS = ("requirements.txt",)
DEMO_REQUIREMENTS = (*SERVER_REQUIREMENTS, "examples/requirements.txt")
DEVELOPMENT_REQUIREMENTS = (*DEMO_REQUIREMENTS, "requirements-dev.txt")
DOCS_REQUIREMENTS = ("requirements-docs.txt",)
REQUIREMENTS = {
    "demo": DEMO_REQUIREMENTS,
    "docs": DOCS_REQUIREMENTS,
    "lock": DEVELOPMENT_REQUIREMENTS,
    "test": DEVELOPMENT_REQUIREMENTS,
    "screenshots": DEVELOPMENT_REQUIREMENTS,
}
# Fail within seconds without a network, instead of after pip's usual five tries.
PIP = ("-m", "pip", "install", "--no-input", "--retries", "2")


class Environment:
    def __init__(self, root: Path, name: str = ".venv") -> None:
        self.root = root
        self.folder = root / name
        self.python = self.folder / "bin/python"
        # The digests of the installed requirements.
        self.stamp = self.folder / "seamark-installed"
        self.log = self.folder / "install.log"

    def is_ready(self, requirements: Sequence[str]) -> bool:
        required = {digest(self.root / name) for name in requirements}
        return required <= self.installed() and os.access(self.python, os.X_OK)

    def installed(self) -> set[str]:
        try:
            return set(self.stamp.read_text(encoding="ascii").split())
        except OSError:
            return set()

    def make(self, requirements: Sequence[str]) -> None:
        with self.alone():
            if self.is_ready(requirements):
                return
            if not works(self.python):
                step(f"Making an environment in {self.folder.name}", self.create)
            step("Installing packages", lambda: self.install(requirements))
            files = [
                file for name in requirements for file in included(self.root / name)
            ]
            stamps = self.installed() | {digest(file) for file in files}
            # Replaced, not written in place: a hard-linked copy shares the file.
            new = self.stamp.with_suffix(".new")
            new.write_text("\n".join(sorted(stamps)), encoding="ascii")
            new.replace(self.stamp)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Serialize two first starts at once."""
        folder = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def create(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise Refusal(f"Cannot make {self.folder}: {error.strerror}.") from error

        uv = shutil.which("uv")
        if has_ensurepip():
            command = [sys.executable, "-m", "venv", "--clear"]
        elif uv:
            command = [uv, "venv", "--clear", "--python", sys.executable]
        else:
            raise Refusal(
                "This Python cannot make environments; install its venv module "
                "(on Debian and Ubuntu: apt install python3-venv)."
            )
        failure = self.failure_of([*command, str(self.folder)])
        if failure is not None:
            raise Refusal(f"The environment could not be made: {failure}")

    def install(self, requirements: Sequence[str]) -> None:
        """Install each file by itself: pip rejects a mix of hashed and plain lines."""
        for name in requirements:
            self.install_file(name)

    def install_file(self, name: str) -> None:
        files = ["-r", name]
        python = str(self.python)
        uv = shutil.which("uv")
        # uv is several times faster but ignores pip.conf: behind a company mirror it
        # fails where pip succeeds.
        if uv and not self.failure_of(
            [uv, "pip", "install", "--python", python, *files]
        ):
            return
        failure = self.failure_of([python, *PIP, *files])
        if failure is not None:
            raise Refusal(
                f"The packages could not be installed; is there a network? {failure}"
            )

    def failure_of(self, command: Sequence[str]) -> str | None:
        """Run a command silently; return its error and the log path if it fails."""
        result = subprocess.run(
            command,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if result.returncode == 0:
            return None
        lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")]
        reason = (errors or lines or ["no reason given"])[-1].rstrip(".")
        with suppress(OSError):
            self.log.write_text(result.stdout, encoding="utf-8")
        return f"{reason}. See {self.log} for details."


def enter(arguments: Sequence[str]) -> None:
    """Continue in .venv with the same arguments; return if already there and complete."""
    environment = prepare_for(arguments[0])
    if Path(sys.prefix).resolve() != environment.folder.resolve():
        python = str(environment.python)
        manage = str(environment.root / "manage.py")
        os.execv(python, [python, manage, *arguments])


def prepare_for(command: str) -> Environment:
    """Install the requirements of the command in .venv if needed."""
    environment = Environment(Path(__file__).resolve().parents[2])
    requirements = REQUIREMENTS.get(command, SERVER_REQUIREMENTS)
    if not environment.is_ready(requirements):
        environment.make(requirements)
    return environment


def step(what: str, work: Callable[[], None]) -> None:
    """Print a step and, when it is done, its duration."""
    sys.stderr.write(f"{what} … ")
    sys.stderr.flush()
    start = time.monotonic()
    try:
        work()
    except BaseException:
        sys.stderr.write("stopped.\n")
        raise
    sys.stderr.write(f"{time.monotonic() - start:.0f} s\n")


def digest(path: Path) -> str:
    """Return a digest of a requirements file and the files it includes."""
    contents = b"".join(file.read_bytes() for file in included(path))
    return hashlib.sha256(contents).hexdigest()


def included(path: Path) -> list[Path]:
    """Return the file and all files it includes, without duplicates."""
    names = re.findall(r"^-r (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    files = [path, *(file for name in names for file in included(path.parent / name))]
    return list(dict.fromkeys(files))


def works(python: Path) -> bool:
    """Return whether this interpreter runs; that of a removed Python does not."""
    # Without pip, its creation was interrupted; uv creates environments without pip.
    module = "sys" if shutil.which("uv") else "pip"
    question = f"import sys, {module}; sys.exit(sys.version_info < (3, 11))"
    try:
        return not subprocess.call([python, "-c", question], stderr=subprocess.DEVNULL)
    except OSError:
        return False


def has_ensurepip() -> bool:
    """Debian omits it unless python3-venv is installed."""
    return importlib.util.find_spec("ensurepip") is not None
