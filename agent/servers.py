"""The server's address and token, and the agent's folders, from environment and file.

Address and token are read again whenever they are needed, so that a new token reaches a
running process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from seamark.errors import InvalidSetting

Environment = Mapping[str, str]


class Server(NamedTuple):
    """A server's address and the token for it."""

    url: str
    token: str

    def __repr__(self) -> str:
        # Without the token, because this may be logged.
        return f"Server({self.url!r})"

    @property
    def token_digest(self) -> str:
        """A short hash that identifies the token without revealing it."""
        import hashlib  # noqa: PLC0415 - only once a run begins

        return hashlib.sha256(self.token.encode()).hexdigest()[:16]


def find_server(environment: Environment) -> Server | None:
    """Return the server to send to; None if none is configured."""
    return next(iter(find_servers(environment)), None)


def find_servers(environment: Environment) -> list[Server]:
    """Return the server with each known token, the preferred one first.

    A process's environment is as old as the process, so a token stored in the file
    since then may be the valid one.
    """
    stored_url, stored_token = read_agent_file(environment)
    url = environment.get("SEAMARK_URL") or stored_url
    if not url or not _is_address(url):
        return []
    # A token goes only to the server it was stored with.
    is_its_own = stored_url is not None and origin(url) == origin(stored_url)
    its_own = usable_token(stored_token or "") if is_its_own else None
    found = [named_token(environment), its_own]
    return [Server(url.rstrip("/"), token) for token in found if token]


def token_variable(environment: Environment) -> str | None:
    """Return the environment variable that sets the token or its file; None if unset."""
    names = ("SEAMARK_TOKEN", "SEAMARK_TOKEN_FILE")
    return next((name for name in names if environment.get(name)), None)


def named_token(environment: Environment) -> str | None:
    """Return the token of the environment; None if unset or if its file is unreadable."""
    token = environment.get("SEAMARK_TOKEN")
    file = environment.get("SEAMARK_TOKEN_FILE")
    if token or not file:
        return usable_token(token or "")
    try:
        return usable_token(Path(file).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def usable_token(text: str) -> str | None:
    """Return a stripped token; None if it is not a valid token."""
    token = text.strip()
    return token if token and token.isascii() and token.isprintable() else None


def find_url(environment: Environment) -> str | None:
    """Return the server's address, whether or not there is a token for it."""
    return environment.get("SEAMARK_URL") or read_agent_file(environment)[0]


def agent_file(environment: Environment) -> Path:
    """Return the path of the file with the address and token."""
    chosen = environment.get("SEAMARK_CONFIG")
    folder = _user_folder(environment, "XDG_CONFIG_HOME", ".config")
    return Path(chosen) if chosen else folder / "agent.json"


def read_agent_file(environment: Environment) -> tuple[str | None, str | None]:
    """Return the stored address and token, each None if absent."""
    try:
        stored = json.loads(agent_file(environment).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None, None
    if not isinstance(stored, dict):
        return None, None
    url, token = stored.get("url"), stored.get("token")
    return (
        url if isinstance(url, str) else None,
        token if isinstance(token, str) else None,
    )


def store_server(path: Path, server: Server) -> None:
    """Replace the file atomically; only its owner may read it."""
    import tempfile  # noqa: PLC0415 - `import agent` stays light

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes files of mode 0600.
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps({"url": server.url, "token": server.token}))
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def spool_root(environment: Environment) -> Path:
    """Return the folder that holds this user's spools."""
    chosen = environment.get("SEAMARK_SPOOL")
    if chosen:
        return Path(chosen).absolute()
    return _user_folder(environment, "XDG_STATE_HOME", ".local/state") / "spool"


def origin(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an address; None if it is invalid."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port


def _user_folder(environment: Environment, variable: str, default: str) -> Path:
    chosen = environment.get(variable, "")
    # The XDG specification requires relative paths to be ignored.
    if chosen.startswith("/"):
        return Path(chosen) / "seamark"
    return _home(environment) / default / "seamark"


def _home(environment: Environment) -> Path:
    try:
        return Path(environment.get("HOME") or "~").expanduser()
    except RuntimeError:
        # The user has no home directory, as in some containers. If this is not
        # writable, a fallback folder is used.
        return Path("/")


def check_url(url: str) -> None:
    """Raise InvalidSetting unless the URL is a valid server address."""
    if not _is_address(url):
        raise InvalidSetting("SEAMARK_URL", "must look like http://host:port")


def _is_address(url: str) -> bool:
    return origin(url) is not None and "@" not in urlsplit(url).netloc
