"""Keeps errors in our framework callbacks out of the user's training."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec

from seamark.errors import AgentError

logger = logging.getLogger(__name__)

Given = ParamSpec("Given")


def guarded(method: Callable[Given, None]) -> Callable[Given, None]:
    """Log exceptions of a method instead of raising them; AgentError is raised."""

    @functools.wraps(method)
    def call(*given: Given.args, **named: Given.kwargs) -> None:
        try:
            method(*given, **named)
        except AgentError:
            # Invalid settings, or an error of a strict run.
            raise
        except Exception as error:  # noqa: BLE001 - foreign code
            # Frameworks change the arguments of callbacks; training must continue.
            kind = type(error).__name__
            reported: set[str] = call.__dict__.setdefault("reported", set())
            level = logging.DEBUG if kind in reported else logging.WARNING
            reported.add(kind)
            name = f"{method.__module__}.{method.__qualname__}"
            logger.log(level, "%s failed: %r", name, error)

    return call
