"""What a source of facts returns: values by the part of their path below its name."""

from __future__ import annotations

from seamark.recording.values import Value

Facts = dict[str, Value]
