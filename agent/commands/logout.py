"""Delete the stored URL and API key.

The API key stays valid until it is revoked on the server's API keys page. Undelivered
data stays and waits for the next `seamark login`.
"""

from __future__ import annotations

import argparse
import os

from seamark.commands.login import KEYS_PAGE
from seamark.commands.output import print_json_rows, say
from seamark.servers import agent_file, read_agent_file

HELP = "delete the stored URL and API key"
EXAMPLES = ("seamark logout",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: there are no options."""
    del parser


def perform(chosen: argparse.Namespace) -> int:
    path = agent_file(os.environ)
    url, _ = read_agent_file(os.environ)
    is_there = path.exists()
    path.unlink(missing_ok=True)
    if chosen.json:
        print_json_rows({"url": url, "file": str(path), "was_stored": is_there})
    elif is_there:
        say(f"Deleted {path}.")
        say(
            f"The API key is still valid; revoke it on {url or 'the server'}{KEYS_PAGE}."
        )
    else:
        say(f"Nothing was stored in {path}.")
    return 0
