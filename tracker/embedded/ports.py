"""Checks that a port is free; the web server would share it silently."""

from __future__ import annotations

import socket

from tracker.embedded.refusal import Refusal


def refuse_used_port(bind: str, port: int) -> None:
    """Raise Refusal if the port is in use or not permitted."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    with socket.socket(family) as probe:
        # As servers do: closing connections do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
        except OSError as error:
            raise Refusal(
                f"Port {port} of {bind} cannot be used ({error.strerror}); "
                "choose another with --port."
            ) from error
