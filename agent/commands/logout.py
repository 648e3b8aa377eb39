"""Deletes the stored address and API key.

The API key itself still holds: it is revoked on the server's API keys page. What is not
delivered stays, and waits for the next `seamark login`.
"""

from __future__ import annotations

import argparse
import os

from seamark.commands.login import KEYS_PAGE
from seamark.commands.output import say, say_json
from seamark.servers import agent_file, read_agent_file

HELP = "delete the stored address and API key"
EXAMPLES = ("seamark logout",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing can be chosen."""
    del parser


def perform(chosen: argparse.Namespace) -> int:
    path = agent_file(os.environ)
    url, _ = read_agent_file(os.environ)
    is_there = path.exists()
    path.unlink(missing_ok=True)
    if chosen.json:
        say_json({"url": url, "file": str(path), "was_stored": is_there})
    elif is_there:
        say(f"{path} is deleted.")
        say(f"The API key still holds; {url or 'the server'}{KEYS_PAGE} revokes it.")
    else:
        say(f"Nothing was stored in {path}.")
    return 0
