"""Start the server on this machine, in this terminal, until Ctrl-C.

The server is not part of the agent's package: it runs from a checkout of Seamark. This
starts the checkout that the package itself runs from, or the one that is named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import seamark
from seamark.commands.output import MISUSED, Refusal

HELP = "start the server on this machine, from a checkout"
EXAMPLES = (
    "seamark up --checkout ~/seamark",
    "seamark up --checkout ~/seamark --port 8714 --data ~/other",
)

_OLDEST_PYTHON = (3, 11)
_PYTHONS = ("python3", "python3.14", "python3.13", "python3.12", "python3.11")
_NOT_HERE = """\
The server is not installed here: it runs from a checkout of Seamark, with Python 3.11 \
or later. In the folder of the checkout:

    python3 manage.py up

or, from anywhere:

    seamark up --checkout FOLDER"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkout", type=Path, metavar="FOLDER", help="path of the Seamark checkout"
    )
    parser.add_argument("--data", help="the data folder (SEAMARK_DATA)")
    parser.add_argument("--port", help="port to listen on (SEAMARK_PORT)")
    parser.add_argument("--bind", help="address to listen on (SEAMARK_BIND)")


def perform(chosen: argparse.Namespace) -> int:
    folder = find_checkout(chosen.checkout)
    if folder is None and chosen.checkout is not None:
        raise Refusal(
            "no_checkout", f"{chosen.checkout} is not a Seamark checkout.", MISUSED
        )
    if folder is None:
        raise Refusal("no_checkout", _NOT_HERE)
    python = _python()
    if python is None:
        raise Refusal("no_python", "The server needs Python 3.11 or later.")
    command = [python, str(folder / "manage.py"), "up"]
    for name in ("data", "port", "bind"):
        value = getattr(chosen, name)
        if value is not None:
            command += [f"--{name}", value]
    sys.stdout.flush()
    # Replaces this process, so that the server receives Ctrl-C and signals.
    os.execv(python, command)


def find_checkout(named: Path | None) -> Path | None:
    """Return the named checkout, or the one that this package runs from.

    Never the current folder, which is not trusted.
    """
    folder = named or Path(seamark.__file__).parents[1]
    is_one = (folder / "manage.py").is_file() and (
        folder / "tracker/settings.py"
    ).is_file()
    return folder.absolute() if is_one else None


def _python() -> str | None:
    if sys.version_info[:2] >= _OLDEST_PYTHON and sys.executable:
        return sys.executable
    # python3 reports itself if it is too old.
    return next(filter(None, map(shutil.which, _PYTHONS[1:] + _PYTHONS[:1])), None)
