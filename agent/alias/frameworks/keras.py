"""The same as `seamark.frameworks.keras`."""

from seamark.frameworks.keras import SeamarkCallback

__all__ = ["SeamarkCallback"]
