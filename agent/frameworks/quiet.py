"""Keeps what goes wrong in a callback of ours away from the training that calls it."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec

from seamark.errors import AgentError

logger = logging.getLogger(__name__)

Given = ParamSpec("Given")


def quiet(method: Callable[Given, None]) -> Callable[Given, None]:
    """Make a method that returns nothing never raise, but for a run that is strict."""

    @functools.wraps(method)
    def call(*given: Given.args, **named: Given.kwargs) -> None:
        try:
            method(*given, **named)
        except AgentError:
            # Settings that cannot be meant, or a run whose user wants to be told.
            raise
        except Exception as error:  # noqa: BLE001 - foreign code
            # The rim of a callback: frameworks change what they pass, and training
            # goes on without us.
            kind = type(error).__name__
            told: set[str] = call.__dict__.setdefault("told", set())
            level = logging.DEBUG if kind in told else logging.WARNING
            told.add(kind)
            name = f"{method.__module__}.{method.__qualname__}"
            logger.log(level, "%s failed: %r", name, error)

    return call
