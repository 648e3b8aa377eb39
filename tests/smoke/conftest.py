"""Fixtures of the slow browser tests, for the smoke test."""

from tests.slow.browser.conftest import (  # noqa: F401
    ada,
    anchor,
    browser_context_args,
    browser_type_launch_args,
    context,
    visit,
    watch,
)
