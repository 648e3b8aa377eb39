"""What the first start does, and every later one finds done."""

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
    """Bring the database up to date, make the owner, and give local agents an API key.

    Return what people should know, as lines; most starts have nothing to say.
    """
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    owner = found_installation()
    return give_agent_a_token(owner, public_url, agent_file)


def give_agent_a_token(owner: Member, url: str, path: Path) -> list[str]:
    """Write where this user's agents log, unless the file says so already.

    A file that somebody pointed to another server is theirs, and stays.
    """
    try:
        known = read_agent_file(path)
    except ValueError:
        return [f"{path} cannot be read and was left alone; agents may not find us."]

    token = known.get("token", "")
    is_ours = authenticate(token) is not None
    if is_ours and known.get("url") == url:
        return []
    if known and not is_ours and known.get("url") != url:
        return [
            f"{path} points to {known.get('url')} and was left alone: scripts log there."
            f" `seamark login --url {url}`, with an API key of the API keys page, brings them here."
        ]
    if not is_ours:
        # Who can read the file can read the database beside it, so that an API key which
        # may only log protects nothing, and `seamark ls` would be refused.
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
    """Replace the file as a whole; only its owner may read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes files of mode 0600.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)  # noqa: PTH105 - one of two names is already text
