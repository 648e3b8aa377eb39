"""Runs the embedded server until Ctrl-C: folder, port, bind address, public URL.

`manage.py up` replaces itself with this program, which loads nothing of Django.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tracker.embedded.refusal import Refusal
from tracker.embedded.server import EmbeddedServer


def main(folder: str, port: str, bind: str, url: str) -> None:
    # SIGINT too, because background jobs of a shell start with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        with EmbeddedServer(
            Path(folder), int(port), bind=bind, url=url, print_line=_print
        ) as server:
            _print(f"Seamark runs at {server.url}")
            _print(f"Sign in (once, within the hour): {server.sign_in_link}")
            _print(f"Its data is in {folder}; Ctrl-C stops it.")
            while True:
                signal.pause()
    except Refusal as refusal:
        sys.exit(str(refusal))
    except KeyboardInterrupt:
        _print("Stopped.")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
