"""The result of a source: values by their path relative to the source."""

from __future__ import annotations

from seamark.recording.values import Value

Facts = dict[str, Value]
