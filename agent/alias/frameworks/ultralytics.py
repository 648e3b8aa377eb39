"""The same as `seamark.frameworks.ultralytics`."""

from seamark.frameworks.ultralytics import attach

__all__ = ["attach"]
