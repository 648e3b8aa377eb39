"""The steps of the first start; later starts repeat them without effect."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from django.core.management import call_command

from tracker.actions.access import authenticate, found_installation, make_token
from tracker.actor import Scope
from tracker.models import Member


def prepare(public_url: str, agent_file: Path) -> list[str]:
    """Migrate the database, create the owner, and give local agents an API key.

    Return messages for the user, as lines; usually none.
    """
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    owner = found_installation()
    return give_agent_a_token(owner, public_url, agent_file)


def give_agent_a_token(owner: Member, url: str, path: Path) -> list[str]:
    """Write the URL and key for this user's agents, unless the file already has them.

    A file that points to another server is left unchanged.
    """
    try:
        known = read_agent_file(path)
    except ValueError:
        return [
            f"{path} cannot be read and was not changed; agents may not find this server."
        ]

    token = known.get("token", "")
    is_ours = authenticate(token) is not None
    if is_ours and known.get("url") == url:
        return []
    if known and not is_ours and known.get("url") != url:
        return [
            f"{path} points to {known.get('url')} and was not changed: scripts log there."
            f" `seamark login --url {url}`, with an API key of the API keys page, brings them here."
        ]
    if not is_ours:
        # A reader of this file can also read the database next to it, so a key that may
        # only log would protect nothing, and `seamark ls` would be rejected.
        token = make_token(owner, "agents on this machine", Scope.MANAGE)
    write_privately(path, json.dumps({"url": url, "token": token}))
    return []


def read_agent_file(path: Path) -> dict[str, str]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    if not isinstance(known, dict) or not all(
        isinstance(known.get(name), str) for name in ("url", "token")
    ):
        raise ValueError("not the agent's file")
    return known


def write_privately(path: Path, text: str) -> None:
    """Replace the file atomically; only its owner may read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp creates files of mode 0600.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)  # noqa: PTH105 - one of two names is already text
